package issuer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// firstKeysPause is between two tries to make the first keys.
const firstKeysPause = 50 * time.Millisecond

// ensureKeys returns when the cluster has a key of each purpose, which the leader
// makes. Where several nodes of a new cluster made them, all but one of their
// signing keys would be announced, and take its place in a while.
func (i *Issuer) ensureKeys(ctx context.Context) error {
	leading, cancel := context.WithCancel(ctx)
	var maker sync.WaitGroup
	defer maker.Wait()
	defer cancel()
	failed := make(chan error, 1)
	maker.Go(func() {
		i.Node.WhileLeading(leading, func(ctx context.Context) {
			if err := i.makeFirstKeys(ctx); err != nil && ctx.Err() == nil {
				failed <- err
				<-ctx.Done()
			}
		})
	})
	for {
		changed := i.Node.Changed(ledger.TableKeys)
		if i.hasKeys() {
			return i.catchUp(ctx, i.reopen())
		}
		select {
		case <-changed:
		case err := <-failed:
			return err
		case <-ctx.Done():
			return fmt.Errorf("wait for the first keys: %w", ctx.Err())
		}
	}
}

func (i *Issuer) makeFirstKeys(ctx context.Context) error {
	for {
		v, err := i.ViewFresh(ctx)
		missing := err != nil
		if err != nil && !errors.Is(err, oauth.ErrUnavailable) {
			return fmt.Errorf("look for keys: %w", err)
		}
		for _, p := range []ledger.Purpose{ledger.ForCredentials, ledger.ForSigning} {
			if err != nil || v.ActiveKey(p) != nil {
				continue
			}
			missing = true
			var refused Refused
			if _, err := i.AddKey(ctx, p); err != nil && !errors.As(err, &refused) && !errors.Is(err, oauth.ErrUnavailable) {
				return err
			}
		}
		if !missing {
			return nil
		}
		select {
		case <-time.After(firstKeysPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
