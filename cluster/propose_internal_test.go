package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProposeReuseOnlyWhileConnected: before reuse is reported, a client gets a moment in
// which its node finds that it has hung up. No other command waits.
func TestProposeReuseOnlyWhileConnected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		require.NoError(t, checkStillConnected(t.Context(), false))
		require.Zero(t, time.Since(began))
		require.NoError(t, checkStillConnected(t.Context(), true))
		require.Equal(t, reuseConfirmDelay, time.Since(began))
		for _, reuse := range []bool{true, false} {
			hungUp, cancel := context.WithTimeout(t.Context(), reuseConfirmDelay/2)
			defer cancel()
			if !reuse {
				cancel()
			}
			err := checkStillConnected(hungUp, reuse)
			require.ErrorIs(t, err, ErrUnavailable)
			require.ErrorIs(t, err, hungUp.Err())
		}
	})
}
