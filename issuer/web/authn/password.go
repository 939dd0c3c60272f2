package authn

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// HasLocalPassword reports whether the user has a password to sign in with.
func (w *Prover) HasLocalPassword(u *ledger.User) bool { return u.Password != "" && !w.NoPasswords }

// WaitPassword is how long a sign-in waits in the hash queue.
const WaitPassword = 5 * time.Second

// CheckQueued leaves the hash queue before anything is written, so that a slow reader of
// the response doesn't occupy a place.
func (w *Prover) CheckQueued(c *site.Request, view ledger.View, name, password string, a passwordAttempt) (*ledger.User, error) {
	defer a.release()
	u, err := w.Authenticate(c, view, name, password)
	if err != nil || u == nil || u.PasswordCost.Kind == "" {
		return u, err
	}
	return w.upgradePassword(c, u, password)
}

// upgradePassword replaces a hash that another system made, of a user who has just entered
// the password, and returns the user with the new hash, or nil if the password changed.
func (w *Prover) upgradePassword(c *site.Request, u *ledger.User, password string) (*ledger.User, error) {
	ctx, cancel := context.WithTimeout(c.R.Context(), WaitPassword)
	defer cancel()
	hash, err := w.Passwords.Hash(ctx, password)
	if err != nil {
		return nil, err
	}
	out, _, err := w.Ledger.Propose(ctx, &ledger.UpgradePassword{
		User: u.ID, VerifiedHash: sha256.Sum256([]byte(u.Password)), Password: hash,
	})
	switch {
	case err != nil:
		return nil, err
	case out.Unknown:
		return nil, oauth.ErrUnavailable
	case out.Refusal == nil:
		next := *u
		next.Password, next.PasswordCost = hash, ledger.HashCost{}
		return &next, nil
	}
	// Another sign-in may have done it, or the password has changed.
	fresh, err := w.Ledger.ViewFresh(ctx)
	if err != nil {
		return nil, err
	}
	return w.Authenticate(c, fresh, u.Username, password)
}

// Authenticate returns the user with a name and password, or nil. Before it returns nil,
// it tries again on a fresh view, since this node may not know a new user or password
// yet.
func (w *Prover) Authenticate(c *site.Request, view ledger.View, name, password string) (*ledger.User, error) {
	ctx, cancel := context.WithTimeout(c.R.Context(), WaitPassword)
	defer cancel()
	u, hash := account(view, name)
	right, err := w.Matches(ctx, c, view, hash, password)
	if err != nil || right {
		return u, err
	}
	fresh, err := w.FreshFor(ctx, c)
	if err != nil {
		return nil, err
	}
	u, newer := account(fresh, name)
	if newer == hash {
		return nil, nil
	}
	right, err = w.Matches(ctx, c, fresh, newer, password)
	if err != nil || !right {
		return nil, err
	}
	return u, nil
}

// account returns a user and the hash to verify against. The hash is "" for a user who
// may not sign in: verifying then costs the same and fails. A deleted user has no name.
func account(view ledger.View, name string) (*ledger.User, string) {
	u := view.UserByName(name)
	if u == nil || u.Disabled {
		return nil, ""
	}
	return u, u.Password
}

// Matches reports whether the password is correct. It logs a damaged hash and returns
// false, since an error page would reveal that the account exists.
func (w *Prover) Matches(ctx context.Context, c *site.Request, view ledger.View, hash, password string) (bool, error) {
	right, err := w.Passwords.Check(ctx, hash, password, view.DearestHashes())
	if errors.Is(err, credential.ErrHash) {
		c.Err = err
		return false, nil
	}
	return right, err
}
