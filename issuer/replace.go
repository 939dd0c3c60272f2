package issuer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// Replaced says what became of a key that leaked.
type Replaced struct {
	Leaked  string
	Purpose ledger.Purpose
	// Did are the steps that this call took, in words for people; none where
	// the key had gone before.
	Did []string
	// Active is the key that is minted with now.
	Active string
	// Waits are the names of voters that have not opened Active.
	Waits []string
	// Stranded are the clients that can't authenticate any more: they need
	// another secret.
	Stranded []string
	// Lost are the secrets that went with the key. A client that has another one
	// can authenticate by that alone.
	Lost []ledger.LostSecret
}

const (
	// replaceSteps bounds how often Replace looks what its next step is. It has
	// three, and the leader's duties may take one of them meanwhile.
	replaceSteps = 10
	// replaceTimeout is less than what an operator's command waits for.
	replaceTimeout = 45 * time.Second
)

// Replace drops a key that leaked, at once. One that is in use makes room for
// another first. It goes by the state that the named key is in, so that to
// repeat it finishes what was begun, and never touches another key.
//
// That breaks what hangs on the key: access tokens that it signed are refused,
// verifiers refuse the new key's tokens until they have fetched it, grants that
// are due under it have ended, and secrets that are recorded under it must be
// made again.
func (i *Issuer) Replace(ctx context.Context, leaked string) (Replaced, error) {
	ctx, cancel := context.WithTimeout(ctx, replaceTimeout)
	defer cancel()
	r := Replaced{Leaked: leaked}
	for range replaceSteps {
		v, err := i.ViewFresh(ctx)
		if err != nil {
			return r, i.unfinished(r, err)
		}
		k := v.Key(leaked)
		if k == nil {
			err := i.replaced(v, &r)
			return r, err
		}
		r.Purpose = k.Purpose
		if k.State == ledger.KeyActive {
			err = i.supersede(ctx, v, &r)
		} else {
			err = i.drop(ctx, &r)
		}
		if err != nil {
			return r, i.unfinished(r, err)
		}
	}
	return r, i.unfinished(r, errors.New("the keys change all the time"))
}

// replaced completes r when the key is gone.
func (i *Issuer) replaced(v ledger.View, r *Replaced) error {
	if len(r.Did) == 0 {
		if !dropped(v, r.Leaked) {
			return NoKeyError{r.Leaked}
		}
		r.Purpose = purposeOf(r.Leaked)
	}
	if k := v.ActiveKey(r.Purpose); k != nil {
		r.Active = k.ID
		_, without := i.openedBy(k.ID)
		r.Waits = i.nodeNames(without)
	}
	if r.Purpose == ledger.ForCredentials {
		r.Stranded, r.Lost = v.Stranded(), v.Lost(credentialKeyNumber(r.Leaked))
	}
	return i.reopen()
}

// dropped reports whether the audit trail has the end of a key.
func dropped(v ledger.View, id string) bool {
	for e := range v.EventsBackwards() {
		if e.Detail == id && (e.Kind == ledger.EventKeyEmergency || e.Kind == ledger.EventKeyDropped) {
			return true
		}
	}
	return false
}

// supersede puts another key in the place of the one that leaked: the one that
// waits, or a new one.
func (i *Issuer) supersede(ctx context.Context, v ledger.View, r *Replaced) error {
	next := waiting(v, r.Purpose)
	if next == nil {
		id, err := i.AddKey(ctx, r.Purpose)
		var refused Refused
		switch {
		case errors.As(err, &refused):
			return nil // somebody was faster: look again
		case err != nil:
			return err
		}
		r.did("key %s was made", id)
		return nil
	}
	if err := i.reopen(); err != nil {
		return err
	}
	if err := i.acknowledge(ctx); err != nil {
		return fmt.Errorf("acknowledge key %s: %w", next.ID, err)
	}
	seen, err := i.seenBy(ctx, next.ID)
	if err != nil {
		return err
	}
	outcome, _, err := i.Propose(ctx, &ledger.ActivateKey{ID: next.ID, Voters: seen, Emergency: true})
	switch {
	case err != nil:
		return fmt.Errorf("activate key %s: %w", next.ID, err)
	case outcome.Refusal == nil:
		r.did("key %s is active in the place of %s", next.ID, r.Leaked)
	}
	return nil // where it was refused the state has moved on
}

func (i *Issuer) drop(ctx context.Context, r *Replaced) error {
	outcome, _, err := i.Propose(ctx, &ledger.DropKey{ID: r.Leaked, Emergency: true})
	switch {
	case err != nil:
		return fmt.Errorf("drop key %s: %w", r.Leaked, err)
	case outcome.Refusal == nil:
		r.did("key %s is dropped", r.Leaked)
	}
	return nil // as above
}

// An Unfinished change leaves the leaked key accepted. It says how far it came.
type Unfinished struct {
	Replaced
	cause error
}

func (i *Issuer) unfinished(r Replaced, cause error) error {
	u := &Unfinished{r, cause}
	if !errors.Is(cause, oauth.ErrUnavailable) && !errors.Is(cause, context.DeadlineExceeded) {
		i.Log.Error("replace a key", "key", r.Leaked, "error", cause)
	}
	return u
}

func (u *Unfinished) Error() string { return u.Later() + ": " + u.cause.Error() }

func (u *Unfinished) Unwrap() error { return u.cause }

// Later tells operators what happened and what remains.
func (u *Unfinished) Later() string {
	text := "it could not be made sure that key " + u.Leaked + " is dropped"
	if len(u.Did) > 0 {
		text += "; so far: " + strings.Join(u.Did, ", ")
	}
	return text + "; the same command again goes on where this one ended"
}

func (r *Replaced) did(format string, args ...any) {
	r.Did = append(r.Did, fmt.Sprintf(format, args...))
}

// A NoKeyError says that the ring has no key of an id, and had none of late.
type NoKeyError struct{ ID string }

func (e NoKeyError) Error() string {
	return "there is no key " + e.ID + ", and none was dropped of late; see mintmark keys list"
}
