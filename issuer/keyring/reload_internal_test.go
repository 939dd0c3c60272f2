package keyring

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestReloadSharesItsResult: callers that wait get the result of the next reload, also a
// failure. Otherwise each would run its own, one after the other, or would conclude that the
// key it looks for does not exist.
func TestReloadSharesItsResult(t *testing.T) {
	for _, want := range []error{nil, errors.New("no leader answers")} {
		synctest.Test(t, func(t *testing.T) {
			r, began := newReloads(), time.Now()
			count := 0
			var callers sync.WaitGroup
			for range 100 {
				callers.Go(func() {
					assert.Equal(t, want, r.share(t.Context(), func(context.Context) error {
						count++
						time.Sleep(time.Second)
						return want
					}))
				})
			}
			callers.Wait()
			// One for the first caller, and one that began after the calls of all others.
			require.Equal(t, 2, count)
			require.Equal(t, 2*time.Second, time.Since(began))

			require.NoError(t, r.share(t.Context(), func(context.Context) error { return nil }), "a failure is not the result of a later call")
		})
	}
}

// TestReloadOfACallerThatGaveUp: the other callers don't get the error of one whose client
// hung up, and one whose turn comes after its end runs none.
func TestReloadOfACallerThatGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReloads()
		gone, hangUp := context.WithCancel(t.Context())
		var callers sync.WaitGroup
		share := func(ctx context.Context, want error, reload func(context.Context) error) {
			callers.Go(func() { assert.ErrorIs(t, r.share(ctx, reload), want) })
			synctest.Wait() // they take their turns in the order of their calls
		}
		none := func(context.Context) error { return nil }
		share(t.Context(), nil, func(context.Context) error { time.Sleep(time.Second); return nil })
		share(gone, context.Canceled, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		share(t.Context(), nil, none)
		time.Sleep(2 * time.Second)
		hangUp()
		callers.Wait()

		for range 20 { // select chooses at random
			time.Sleep(time.Second)
			require.ErrorIs(t, r.share(gone, func(context.Context) error {
				t.Error("a reload for a caller that is gone")
				return nil
			}), oauth.ErrUnavailable)
		}
	})
}
