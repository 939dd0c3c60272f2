package web

import (
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// An attempting is one attempt to sign in with a password, which was counted.
type passwordAttempt struct {
	wait    time.Duration // before the next; 0 where this one may go on
	device  device        // for the browser to keep
	reset   func()        // the password was right; see attempts.take
	release func()        // the password was checked
}

// attemptPassword counts one, and waits for its turn to be hashed. A browser that the
// person has signed in with before does not wait in the hash queue.
func (w *Web) attemptPassword(c *request, view ledger.View, username string) (passwordAttempt, error) {
	now := w.config.Ledger.Now().Std()
	d, known := w.device(c, deviceOwnerOf(username), devicePasswordOf(view.UserByName(username)))
	if known {
		if forgive, ok := w.attempts.tryDevice(d.id, now); ok {
			return passwordAttempt{device: d, reset: forgive, release: func() {}}, nil
		}
		w.dropDevice(c, d)
		d = w.newDevice(d.owner, d.password)
	}
	wait, forgive, undo := w.attempts.try(username, w.config.ClientIP(c.r), now)
	if wait > 0 {
		return passwordAttempt{wait: wait, release: func() {}}, nil
	}
	leave, err := w.hashQueue.acquire(c.r.Context(), w.config.ClientIP(c.r))
	if err != nil {
		undo()
		return passwordAttempt{}, err
	}
	return passwordAttempt{device: d, reset: forgive, release: leave}, nil
}
