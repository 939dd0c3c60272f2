package verifiertest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// Package verifier accepts no token of the corpus, and refuses each for its Reason, also
// at a second try with a warm cache.
func TestCorpus(t *testing.T) {
	issuer := verifiertest.NewInMemoryIssuer()
	at := verifiertest.NewClock(time.Now())
	issuer.Now = at.Now
	issuer.RotateTo(verifier.RS256)
	issuer.Rotate()
	c := issuer.Config()
	var err error
	c.Keys, err = verifier.StaticKeys(issuer.KeySet())
	require.NoError(t, err)
	v, err := verifier.New(c)
	require.NoError(t, err)

	corpus := verifiertest.Corpus(issuer)
	require.Greater(t, len(corpus), 150)
	names := map[string]bool{}
	for _, odd := range corpus {
		require.False(t, names[odd.Name], odd.Name)
		names[odd.Name] = true
		require.NotEmpty(t, odd.Why, odd.Name)
		t.Run(odd.Name, func(t *testing.T) {
			for range 2 {
				_, err := v.Verify(context.Background(), issuer.Token())
				require.NoError(t, err)
				claims, err := v.Verify(context.Background(), odd.Token)
				assert.Nil(t, claims)
				var refused *verifier.Error
				require.True(t, errors.As(err, &refused), "accepted: %s", odd.Why)
				assert.Equal(t, odd.Reason, refused.Reason)
			}
		})
	}
	issuer.RotateTo(verifier.EdDSA)
	assert.Panics(t, func() { verifiertest.Corpus(issuer) })
}
