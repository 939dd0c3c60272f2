package web

import (
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A passwordAttempt is one counted attempt to sign in with a password.
type passwordAttempt struct {
	wait    time.Duration // before the next attempt; 0 if this one may continue
	device  device        // to store in the browser
	reset   func()        // must be called after a correct password; see attempts.try
	release func()        // must be called after the password was verified
}

// attemptPassword counts an attempt and waits in the hash queue. A browser in which the
// user has signed in before does not wait.
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
