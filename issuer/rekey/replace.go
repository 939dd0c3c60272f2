package rekey

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/keyring"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/replica"
)

// A ReplaceResult reports how a leaked key was replaced.
type ReplaceResult struct {
	Leaked  string
	Purpose ledger.Purpose
	// Steps are the steps that this call took, in words for operators; none if the key had
	// been dropped before.
	Steps []string
	// Active is the id of the active key.
	Active string
	// WaitingFor are the names of voters that have not opened Active.
	WaitingFor []string
	// LockedOut are the clients and resource servers that can't authenticate any more and
	// need another secret.
	LockedOut []ledger.SecretHolder
	// DroppedSecrets are the secrets that were recorded under the key. A holder of another
	// secret can authenticate with that one only.
	DroppedSecrets []ledger.DroppedSecret
}

const (
	// replaceSteps bounds how often Replace determines its next step. There are three
	// steps, and the leader's duties may take some of them concurrently.
	replaceSteps = 10
	// replaceTimeout is shorter than the timeout of an operator's command.
	replaceTimeout = 45 * time.Second
	// openedTimeout is how long Replace waits for nodes that may be down.
	openedTimeout = 5 * time.Second
)

// Replace drops a leaked key at once. If the key is in use, another one is activated
// first. Each step depends only on the state of the named key, so repeating the call
// finishes what an earlier one began, and never affects another key.
//
// Access tokens that the key signed are refused. Verifiers refuse the tokens of the new
// key until they have fetched it. Grants whose due credential was made with the key can't
// be redeemed any more, and secrets that are recorded under it must be replaced.
//
// The error is a NoKeyError for an unknown key, and an *UnfinishedError if the key may
// still be accepted.
func (r *Rekeyer) Replace(ctx context.Context, leaked string) (ReplaceResult, error) {
	ctx, cancel := context.WithTimeout(ctx, replaceTimeout)
	defer cancel()
	done := ReplaceResult{Leaked: leaked}
	for range replaceSteps {
		v, err := r.Ledger.ViewFresh(ctx)
		if err != nil {
			return done, r.unfinished(done, err)
		}
		k := v.Key(leaked)
		if k == nil {
			err := r.finishReplace(v, &done)
			return done, err
		}
		done.Purpose = k.Purpose
		if k.State == ledger.KeyActive {
			err = r.supersede(ctx, v, &done)
		} else {
			err = r.drop(ctx, &done)
		}
		if err != nil {
			return done, r.unfinished(done, err)
		}
	}
	return done, r.unfinished(done, errors.New("the keyring kept changing"))
}

// finishReplace completes the result once the key is dropped.
func (r *Rekeyer) finishReplace(v ledger.View, done *ReplaceResult) error {
	if len(done.Steps) == 0 {
		if !wasDropped(v, done.Leaked) {
			return NoKeyError{done.Leaked}
		}
		done.Purpose = ledger.ForSigning
		if keyring.CredentialNumber(done.Leaked) > 0 {
			done.Purpose = ledger.ForCredentials
		}
	}
	if k := v.ActiveKey(done.Purpose); k != nil {
		done.Active = k.ID
		_, without := r.openedBy(k.ID)
		done.WaitingFor = r.nodeNames(without)
	}
	if done.Purpose == ledger.ForCredentials {
		done.LockedOut, done.DroppedSecrets = v.LockedOut(), v.DroppedSecrets(keyring.CredentialNumber(done.Leaked))
	}
	return r.Keyring.Reopen()
}

// wasDropped reports whether the audit trail has an event of the drop of a key.
func wasDropped(v ledger.View, id string) bool {
	for e := range v.EventsBackwards() {
		if e.Detail == id && (e.Kind == ledger.EventKeyEmergency || e.Kind == ledger.EventKeyDropped) {
			return true
		}
	}
	return false
}

// supersede activates the announced key in place of the leaked one, or announces a new key.
func (r *Rekeyer) supersede(ctx context.Context, v ledger.View, done *ReplaceResult) error {
	next := keyring.Announced(v, done.Purpose)
	if next == nil {
		id, err := r.Keyring.Add(ctx, done.Purpose)
		var refused keyring.Refused
		switch {
		case errors.As(err, &refused):
			return nil // another node announced one, which the next step finds
		case err != nil:
			return err
		}
		done.addStep("key %s was made", id)
		return nil
	}
	if err := r.Keyring.Reopen(); err != nil {
		return err
	}
	if err := r.acknowledge(ctx); err != nil {
		return fmt.Errorf("acknowledge key %s: %w", next.ID, err)
	}
	seen, err := r.waitOpened(ctx, next.ID)
	if err != nil {
		return err
	}
	outcome, _, err := r.Ledger.Propose(ctx, &ledger.ActivateKey{ID: next.ID, Voters: seen, Emergency: true})
	switch {
	case err != nil:
		return fmt.Errorf("activate key %s: %w", next.ID, err)
	case outcome.Refusal == nil:
		done.addStep("key %s is active in the place of %s", next.ID, done.Leaked)
	}
	return nil // a refusal means that the state has changed: the next step is determined anew
}

func (r *Rekeyer) drop(ctx context.Context, done *ReplaceResult) error {
	outcome, _, err := r.Ledger.Propose(ctx, &ledger.DropKey{ID: done.Leaked, Emergency: true})
	switch {
	case err != nil:
		return fmt.Errorf("drop key %s: %w", done.Leaked, err)
	case outcome.Refusal == nil:
		done.addStep("key %s is dropped", done.Leaked)
	}
	return nil // as in supersede
}

// waitOpened waits until every voter has opened a key, and returns the voters. A leaked
// key must be dropped even while a node is down, so after openedTimeout the voters that
// have opened it are enough: the others open the key from the state when they are back.
func (r *Rekeyer) waitOpened(ctx context.Context, key string) ([]string, error) {
	late, cancel := context.WithTimeout(ctx, openedTimeout)
	defer cancel()
	for {
		changed := r.Ledger.Node.Changed(ledger.TableNodes)
		seen, without := r.openedBy(key)
		if len(without) == 0 {
			return seen, nil
		}
		select {
		case <-changed:
			continue
		case <-late.Done():
		}
		if ctx.Err() != nil {
			return nil, replica.Unavailable(ctx.Err())
		}
		r.Log.Warn("key activated before every node has opened it", "key", key, "without", r.nodeNames(without))
		return seen, nil
	}
}

// openedBy returns the voters that have acknowledged opening a key, and the others.
func (r *Rekeyer) openedBy(key string) (seen, without []string) {
	v := r.Ledger.View()
	for _, id := range r.Ledger.Node.Voters() {
		if n := v.Node(id); n != nil && n.HasOpened(key) {
			seen = append(seen, id)
		} else {
			without = append(without, id)
		}
	}
	return seen, without
}

// An UnfinishedError reports a replacement that was interrupted: the leaked key may still
// be accepted. It has the steps that were taken.
type UnfinishedError struct {
	ReplaceResult
	cause error
}

func (r *Rekeyer) unfinished(done ReplaceResult, cause error) error {
	if !errors.Is(cause, oauth.ErrUnavailable) && !errors.Is(cause, context.DeadlineExceeded) {
		r.Log.Error("key not replaced", "key", done.Leaked, "error", cause)
	}
	return &UnfinishedError{done, cause}
}

func (u *UnfinishedError) Error() string { return u.Later() + ": " + u.cause.Error() }

// Unwrap returns ErrNotReplaced and the cause.
func (u *UnfinishedError) Unwrap() []error { return []error{ErrNotReplaced, u.cause} }

// Later describes, for operators, what was done and what is left.
func (u *UnfinishedError) Later() string {
	text := "it could not be made sure that key " + u.Leaked + " is dropped"
	if len(u.Steps) > 0 {
		text += "; so far: " + strings.Join(u.Steps, ", ")
	}
	return text
}

func (r *ReplaceResult) addStep(format string, args ...any) {
	r.Steps = append(r.Steps, fmt.Sprintf(format, args...))
}

// A NoKeyError reports that the keyring has no key with an id, and that none was dropped
// recently.
type NoKeyError struct{ ID string }

func (e NoKeyError) Error() string {
	return "there is no key " + e.ID + ", and none was dropped of late"
}

// Unwrap makes it an ErrNoKey.
func (NoKeyError) Unwrap() error { return ErrNoKey }
