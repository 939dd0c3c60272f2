package issuer_test

import (
	"crypto/rand"
	"crypto/sha256"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/keys"
)

const redirect = issuertest.RedirectURI

func digestOf(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// TestRestart verifies that the issuer's state survives a restart, down to the same
// refresh token.
func TestRestart(t *testing.T) {
	b := issuertest.New(t)
	token := b.Exchange().RefreshToken
	once, err := b.Refresh(token)
	require.NoError(t, err)
	b.Stop()
	b.Start()
	again, err := b.Refresh(token)
	require.NoError(t, err)
	require.Equal(t, once.RefreshToken, again.RefreshToken, "the same successor must be computed again")
	require.NotEqual(t, once.AccessToken, again.AccessToken)
}

// TestLateRefreshAtANodeWithAWrongClock verifies that a refresh request that its client
// has given up ends no grant if it is decided after its repetition and the next refresh,
// even if the clock of the node that received it is wrong by more than the retry window.
func TestLateRefreshAtANodeWithAWrongClock(t *testing.T) {
	for _, skew := range []time.Duration{0, 9 * time.Minute, -9 * time.Minute} {
		b := issuertest.New(t)
		first := b.Exchange().RefreshToken
		second, err := b.Refresh(first)
		require.NoError(t, err)
		b.Skew.Store(int64(skew))
		late, err := b.Command(oauth.TokenRequest{
			GrantType: oauth.RefreshToken, Client: oauth.ClientCredentials{ID: "app", Secret: "a-secret"}, RefreshToken: first,
		})
		require.NoError(t, err)
		third, err := b.Refresh(second.RefreshToken)
		require.NoError(t, err)
		_, _, err = b.Propose(t.Context(), late)
		require.ErrorIs(t, err, oauth.ErrUnavailable, skew)
		_, err = b.Refresh(third.RefreshToken)
		require.NoError(t, err, skew)
	}
}

// TestExplain verifies that the error_id has the cause, and the grant only for a client
// that has proven that it owns the grant.
func TestExplain(t *testing.T) {
	b := issuertest.New(t)
	first := b.Exchange()
	second, err := b.Refresh(first.RefreshToken)
	require.NoError(t, err)
	_, err = b.Refresh(second.RefreshToken)
	require.NoError(t, err)
	_, err = b.Refresh(first.RefreshToken)
	var refused *oauth.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, oauth.InvalidGrant, refused.Code)
	e, err := b.Explain(refused.ID)
	require.NoError(t, err)
	require.Equal(t, ledger.RefreshReused, e.Cause)
	require.True(t, e.Named)
	require.EqualValues(t, 1, e.Presented)
	require.EqualValues(t, 3, e.Due)

	_, err = b.Token(t.Context(), oauth.TokenRequest{
		GrantType: oauth.RefreshToken, Client: oauth.ClientCredentials{ID: "app", Secret: "wrong"}, RefreshToken: second.RefreshToken,
	})
	require.ErrorAs(t, err, &refused)
	e, err = b.Explain(refused.ID)
	require.NoError(t, err)
	require.Equal(t, ledger.SecretWrong, e.Cause)
	require.False(t, e.Named)
	require.Zero(t, e.Grant)

	_, err = b.Explain("mme_nonsense")
	require.ErrorIs(t, err, issuer.ErrNotAnErrorID)
}

// TestWrongClusterKey verifies that a node with another cluster key doesn't start.
func TestWrongClusterKey(t *testing.T) {
	b := issuertest.New(t)
	other, err := keys.NewClusterKey(rand.Reader)
	require.NoError(t, err)
	_, err = issuer.New(t.Context(), issuer.Config{
		Node: b.Node, ClusterKeys: keys.FixedClusterKey(other, "a test"), Log: slog.New(slog.DiscardHandler), Now: time.Now, Rand: rand.Reader,
	})
	require.ErrorIs(t, err, keys.ErrUnsealable)
	require.ErrorContains(t, err, "put the right one back")
	require.ErrorContains(t, err, other.ID())
}

// TestSweep verifies that the leader removes rows that have no effect any more.
func TestSweep(t *testing.T) {
	b := issuertest.New(t)
	live := b.Exchange()
	b.NewCode() // is never redeemed
	count := func() (n int) {
		for range b.View().Grants() {
			n++
		}
		return n
	}
	require.Equal(t, 2, count())
	b.Offset.Store(int64(25 * time.Hour))
	require.NoError(t, b.SweepOnce(t.Context()))
	require.Equal(t, 1, count())
	_, err := b.Refresh(live.RefreshToken)
	require.NoError(t, err)
}
