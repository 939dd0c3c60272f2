package web

import (
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// An attempting is one attempt to sign in with a password, which was counted.
type attempting struct {
	wait    time.Duration // before the next; 0 where this one may go on
	device  device        // for the browser to keep
	forgive func()        // the password was right; see attempts.take
	leave   func()        // the password was checked
}

// attempt counts one, and waits for its turn to be hashed. A browser that the
// person has signed in with before does not wait in line with strangers.
func (w *Web) attempt(c *call, view ledger.View, username string) (attempting, error) {
	now := w.config.Ledger.Now().Std()
	d, known := w.device(c, deviceOf(username), devicePasswordOf(view.UserByName(username)))
	if known {
		if forgive, ok := w.attempts.takeDevice(d.id, now); ok {
			return attempting{device: d, forgive: forgive, leave: func() {}}, nil
		}
		w.dropDevice(c, d)
		d = w.newDevice(d.whose, d.password)
	}
	wait, forgive, undo := w.attempts.take(username, w.config.ClientIP(c.r), now)
	if wait > 0 {
		return attempting{wait: wait, leave: func() {}}, nil
	}
	leave, err := w.line.enter(c.r.Context(), w.config.ClientIP(c.r))
	if err != nil {
		undo()
		return attempting{}, err
	}
	return attempting{device: d, forgive: forgive, leave: leave}, nil
}
