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

// ReplaceResult says what became of a key that leaked.
type ReplaceResult struct {
	Leaked  string
	Purpose ledger.Purpose
	// Steps are the steps that this call took, in words for people; none where
	// the key had gone before.
	Steps []string
	// Active is the key that is minted with now.
	Active string
	// WaitingFor are the names of voters that have not opened Active.
	WaitingFor []string
	// LockedOut are the clients that can't authenticate any more: they need
	// another secret.
	LockedOut []string
	// DroppedSecrets are the secrets that went with the key. A client that has another one
	// can authenticate by that alone.
	DroppedSecrets []ledger.DroppedSecret
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
func (i *Issuer) Replace(ctx context.Context, leaked string) (ReplaceResult, error) {
	ctx, cancel := context.WithTimeout(ctx, replaceTimeout)
	defer cancel()
	r := ReplaceResult{Leaked: leaked}
	for range replaceSteps {
		v, err := i.ViewFresh(ctx)
		if err != nil {
			return r, i.unfinished(r, err)
		}
		k := v.Key(leaked)
		if k == nil {
			err := i.finishReplace(v, &r)
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

// finishReplace completes r when the key is gone.
func (i *Issuer) finishReplace(v ledger.View, r *ReplaceResult) error {
	if len(r.Steps) == 0 {
		if !wasDropped(v, r.Leaked) {
			return NoKeyError{r.Leaked}
		}
		r.Purpose = purposeOf(r.Leaked)
	}
	if k := v.ActiveKey(r.Purpose); k != nil {
		r.Active = k.ID
		_, without := i.openedBy(k.ID)
		r.WaitingFor = i.nodeNames(without)
	}
	if r.Purpose == ledger.ForCredentials {
		r.LockedOut, r.DroppedSecrets = v.LockedOutClients(), v.DroppedSecrets(credentialKeyNumber(r.Leaked))
	}
	return i.reopen()
}

// wasDropped reports whether the audit trail has the end of a key.
func wasDropped(v ledger.View, id string) bool {
	for e := range v.EventsBackwards() {
		if e.Detail == id && (e.Kind == ledger.EventKeyEmergency || e.Kind == ledger.EventKeyDropped) {
			return true
		}
	}
	return false
}

// supersede puts another key in the place of the one that leaked: the one that
// waits, or a new one.
func (i *Issuer) supersede(ctx context.Context, v ledger.View, r *ReplaceResult) error {
	next := announcedKey(v, r.Purpose)
	if next == nil {
		id, err := i.AddKey(ctx, r.Purpose)
		var refused Refused
		switch {
		case errors.As(err, &refused):
			return nil // somebody was faster: look again
		case err != nil:
			return err
		}
		r.addStep("key %s was made", id)
		return nil
	}
	if err := i.reopen(); err != nil {
		return err
	}
	if err := i.acknowledgeKeys(ctx); err != nil {
		return fmt.Errorf("acknowledge key %s: %w", next.ID, err)
	}
	seen, err := i.waitOpened(ctx, next.ID)
	if err != nil {
		return err
	}
	outcome, _, err := i.Propose(ctx, &ledger.ActivateKey{ID: next.ID, Voters: seen, Emergency: true})
	switch {
	case err != nil:
		return fmt.Errorf("activate key %s: %w", next.ID, err)
	case outcome.Refusal == nil:
		r.addStep("key %s is active in the place of %s", next.ID, r.Leaked)
	}
	return nil // where it was refused the state has moved on
}

func (i *Issuer) drop(ctx context.Context, r *ReplaceResult) error {
	outcome, _, err := i.Propose(ctx, &ledger.DropKey{ID: r.Leaked, Emergency: true})
	switch {
	case err != nil:
		return fmt.Errorf("drop key %s: %w", r.Leaked, err)
	case outcome.Refusal == nil:
		r.addStep("key %s is dropped", r.Leaked)
	}
	return nil // as above
}

// An UnfinishedError change leaves the leaked key accepted. It says how far it came.
type UnfinishedError struct {
	ReplaceResult
	cause error
}

func (i *Issuer) unfinished(r ReplaceResult, cause error) error {
	u := &UnfinishedError{r, cause}
	if !errors.Is(cause, oauth.ErrUnavailable) && !errors.Is(cause, context.DeadlineExceeded) {
		i.Log.Error("replace a key", "key", r.Leaked, "error", cause)
	}
	return u
}

func (u *UnfinishedError) Error() string { return u.Later() + ": " + u.cause.Error() }

func (u *UnfinishedError) Unwrap() error { return u.cause }

// Later tells operators what happened and what remains.
func (u *UnfinishedError) Later() string {
	text := "it could not be made sure that key " + u.Leaked + " is dropped"
	if len(u.Steps) > 0 {
		text += "; so far: " + strings.Join(u.Steps, ", ")
	}
	return text + "; the same command again goes on where this one ended"
}

func (r *ReplaceResult) addStep(format string, args ...any) {
	r.Steps = append(r.Steps, fmt.Sprintf(format, args...))
}

// A NoKeyError says that the keyring has no key of an id, and had none of late.
type NoKeyError struct{ ID string }

func (e NoKeyError) Error() string {
	return "there is no key " + e.ID + ", and none was dropped of late; see mintmark keys list"
}
