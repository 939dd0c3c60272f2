package authn

import (
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// AlertTooMany is the alert of a form after too many attempts, with the time to wait.
func AlertTooMany(wait time.Duration) string {
	return "Too many attempts. Try again in " + site.WaitText(wait) + "."
}

// A passwordAttempt is one counted attempt to sign in with a password.
type passwordAttempt struct {
	Wait    time.Duration // before the next attempt; 0 if this one may continue
	Device  device        // to store in the browser
	Reset   func()        // must be called after a correct password; see attempts.try
	release func()        // must be called after the password was verified
}

// AttemptPassword counts an attempt and waits in the hash queue. A browser in which the
// user has signed in before does not wait.
func (w *Prover) AttemptPassword(c *site.Request, view ledger.View, username string) (passwordAttempt, error) {
	now := w.Ledger.Now().Std()
	d, known := w.device(c, DeviceOwnerOf(username), DevicePasswordOf(view.UserByName(username)))
	if known {
		if forgive, ok := w.attempts.tryDevice(d.id, now); ok {
			return passwordAttempt{Device: d, Reset: forgive, release: func() {}}, nil
		}
		w.dropDevice(c, d)
		d = w.NewDevice(d.owner, d.Password)
	}
	wait, forgive, undo := w.attempts.try(username, w.ClientIP(c.R), now)
	if wait > 0 {
		return passwordAttempt{Wait: wait, release: func() {}}, nil
	}
	leave, err := w.hashQueue.acquire(c.R.Context(), w.ClientIP(c.R))
	if err != nil {
		undo()
		return passwordAttempt{}, err
	}
	return passwordAttempt{Device: d, Reset: forgive, release: leave}, nil
}

// AttemptUpstream counts a response of the provider, like AttemptPassword.
func (w *Prover) AttemptUpstream(c *site.Request) (time.Duration, device, func()) {
	now := w.Ledger.Now().Std()
	d, known := w.device(c, upstreamDeviceOwner, devicePassword{})
	if known {
		if forgive, ok := w.attempts.tryUpstreamDevice(d.id, now); ok {
			return 0, d, forgive
		}
		w.dropDevice(c, d)
		d = w.NewDevice(d.owner, d.Password)
	}
	wait, forgive := w.attempts.tryUpstream(w.ClientIP(c.R), now)
	return wait, d, forgive
}
