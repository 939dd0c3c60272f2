package verifier_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// Ready returns as soon as the issuer has answered; its error has the last failure.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mintmark := verifiertest.NewInMemoryIssuer()
		mintmark.Fail(500)
		v, err := verifier.New(mintmark.Config())
		require.NoError(t, err)
		defer v.Close()

		began := time.Now()
		err = v.Ready(within(t, 10*time.Second))
		assert.Equal(t, 10*time.Second, time.Since(began))
		assert.ErrorIs(t, err, verifier.ErrKeysUnavailable)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "status 500")

		time.AfterFunc(time.Minute, mintmark.Up)
		began = time.Now()
		require.NoError(t, v.Ready(t.Context()))
		assert.InDelta(t, 61, time.Since(began).Seconds(), 1.3, "the next attempt after the issuer's return")

		ended, cancel := context.WithCancel(t.Context())
		cancel()
		assert.NoError(t, v.Ready(ended), "there are keys")
	})
}

// Ready waits again when keys are too old to serve.
func TestReadyWithStaleKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mintmark := verifiertest.NewInMemoryIssuer()
		v, err := verifier.New(mintmark.Config())
		require.NoError(t, err)
		defer v.Close()
		require.NoError(t, v.Ready(t.Context()))

		mintmark.Hang()
		time.Sleep(verifier.DefaultStale + time.Hour)
		err = v.Ready(within(t, time.Second))
		assert.ErrorIs(t, err, verifier.ErrKeysUnavailable)
		mintmark.Up()
		assert.NoError(t, v.Ready(within(t, time.Minute)))
	})
}

func TestReadyWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mintmark := verifiertest.NewInMemoryIssuer()
		mintmark.Hang()
		v, err := verifier.New(mintmark.Config())
		require.NoError(t, err)
		err = v.Ready(within(t, time.Second))
		assert.ErrorContains(t, err, "the issuer has not answered yet")

		time.AfterFunc(time.Second, v.Close)
		err = v.Ready(t.Context())
		assert.ErrorIs(t, err, verifier.ErrKeysUnavailable)
		assert.ErrorContains(t, err, "the key source is closed")
	})
}

// notReady is a key source with a state of its own.
type notReady struct{ verifier.KeySource }

func (notReady) State() verifier.State { return verifier.State{} }

func TestReadyOfOtherSources(t *testing.T) {
	keys, err := verifier.StaticKeys(published())
	require.NoError(t, err)
	assert.NoError(t, withKeys(t, keys).Ready(t.Context()))
	assert.ErrorIs(t, withKeys(t, notReady{keys}).Ready(t.Context()), verifier.ErrKeysUnavailable)
}
