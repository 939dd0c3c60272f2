package web

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
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
func (w *Web) attempt(c *call, username string) (attempting, error) {
	now := w.config.Ledger.Now().Std()
	d, known := w.device(c, deviceOf(username))
	if known {
		if forgive, ok := w.attempts.takeDevice(d.id, now); ok {
			return attempting{device: d, forgive: forgive, leave: func() {}}, nil
		}
		w.dropDevice(c, d)
		d = w.newDevice(d.whose)
	}
	wait, forgive, undo := w.attempts.take(username, w.config.ClientIP(c.r), now)
	if wait > 0 {
		return attempting{wait: wait, leave: func() {}}, nil
	}
	leave, err := w.line.enter(c.r.Context())
	if err != nil {
		undo()
		return attempting{}, err
	}
	return attempting{device: d, forgive: forgive, leave: leave}, nil
}

// placesPerCPU is how long the line is: what is done in some two seconds. More
// would not be served in time.
const placesPerCPU = 100

// A line is where strangers wait to have a password hashed. As many as there are
// CPUs have their turn at once, so that whom this service knows waits for one
// hash at most, however many strangers come.
type line struct{ places, turns chan struct{} } // an element for each who has one

func newLine() line {
	n := max(1, runtime.NumCPU())
	return line{places: make(chan struct{}, n*placesPerCPU), turns: make(chan struct{}, n)}
}

// enter waits for a turn. The error is oauth.ErrUnavailable where the line is
// full, or too slow.
func (l line) enter(ctx context.Context) (leave func(), err error) {
	select {
	case l.places <- struct{}{}:
	default:
		return nil, oauth.ErrUnavailable
	}
	defer func() { <-l.places }()
	ctx, cancel := context.WithTimeout(ctx, waitPassword)
	defer cancel()
	select {
	case l.turns <- struct{}{}:
		return func() { <-l.turns }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", oauth.ErrUnavailable, ctx.Err())
	}
}
