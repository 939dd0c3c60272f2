package web

import (
	"runtime"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// strangersPerCPU is how many strangers wait for a hash at once, in some two
// seconds. More than these are answered at once that they come too many: behind
// a longer line nobody would be served in time, those included whom this service
// knows and who don't stand in it.
const strangersPerCPU = 100

func newStrangers() chan struct{} {
	return make(chan struct{}, strangersPerCPU*max(1, runtime.NumCPU()))
}

// An attempting is one attempt to sign in with a password, which was counted.
type attempting struct {
	wait    time.Duration // before the next; 0 where this one may go on
	device  device        // for the browser to keep
	forgive func() bool   // the password was right; see attempts.take
	leave   func()        // the password was checked
}

// attempt counts one, and finds it a place to wait for its hash. A browser that
// the person has signed in with before needs none.
func (w *Web) attempt(c *call, username string) (attempting, error) {
	now := w.config.Ledger.Now().Std()
	d, known := w.device(c, deviceOf(username))
	if known {
		if forgive, ok := w.attempts.takeDevice(d.id, username, now); ok {
			return attempting{device: d, forgive: forgive, leave: func() {}}, nil
		}
		w.dropDevice(c, d)
		d = w.newDevice(d.whose)
	}
	select {
	case w.strangers <- struct{}{}:
	default:
		return attempting{}, oauth.ErrUnavailable
	}
	wait, forgive := w.attempts.take(username, w.config.ClientIP(c.r), now)
	return attempting{wait: wait, device: d, forgive: forgive, leave: func() { <-w.strangers }}, nil
}
