package keyring

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// firstPause is the time between two attempts to add the first keys.
const firstPause = 50 * time.Millisecond

// EnsureFirst returns once the state has a key of each purpose. Only the leader adds them:
// if several nodes of a new cluster did, all but one of their signing keys would be
// announced and later replace the first.
func (k *Keyring) EnsureFirst(ctx context.Context) error {
	leading, cancel := context.WithCancel(ctx)
	var maker sync.WaitGroup
	defer maker.Wait()
	defer cancel()
	failed := make(chan error, 1)
	maker.Go(func() {
		k.Ledger.Node.WhileLeading(leading, func(ctx context.Context) {
			if err := k.makeFirst(ctx); err != nil && ctx.Err() == nil {
				failed <- err
				<-ctx.Done()
			}
		})
	})
	for {
		changed := k.Ledger.Node.Changed(ledger.TableKeys)
		if k.Complete() {
			return nil
		}
		select {
		case <-changed:
		case err := <-failed:
			return err
		case <-ctx.Done():
			return fmt.Errorf("wait for first keys: %w", ctx.Err())
		}
	}
}

func (k *Keyring) makeFirst(ctx context.Context) error {
	for {
		v, err := k.Ledger.ViewFresh(ctx)
		missing := err != nil
		if err != nil && !errors.Is(err, oauth.ErrUnavailable) {
			return fmt.Errorf("find keys: %w", err)
		}
		for _, p := range []ledger.Purpose{ledger.ForCredentials, ledger.ForSigning} {
			if err != nil || v.ActiveKey(p) != nil {
				continue
			}
			missing = true
			var refused Refused
			if _, err := k.Add(ctx, p); err != nil && !errors.As(err, &refused) && !errors.Is(err, oauth.ErrUnavailable) {
				return err
			}
		}
		if !missing {
			return nil
		}
		select {
		case <-time.After(firstPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
