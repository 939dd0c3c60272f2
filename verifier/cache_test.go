package verifier_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// rig is a verifier with a clock, keys and revocations that the test controls, and with
// counters.
type rig struct {
	*verifier.Verifier
	clock   *verifiertest.Clock
	keys    atomic.Pointer[verifier.KeySource]
	revoked atomic.Bool
	cached  atomic.Int64
	checked atomic.Int64
	refused atomic.Int64
}

func (r *rig) Key(ctx context.Context, kid string) (verifier.Key, error) {
	return (*r.keys.Load()).Key(ctx, kid)
}

func (r *rig) publish(document []byte) {
	source := must(verifier.StaticKeys(document))
	r.keys.Store(&source)
}

func newRig(t testing.TB, change ...func(*verifier.Config)) *rig {
	t.Helper()
	r := &rig{clock: verifiertest.NewClock(clock)}
	r.publish(published())
	c := verifier.Config{
		Issuer: issuer, Audience: audience, Keys: r, Now: r.clock.Now,
		Revoked: func(*verifier.Claims) bool { return r.revoked.Load() },
		Observer: verifier.Observer{
			Accepted: func(_ context.Context, cached bool) {
				if cached {
					r.cached.Add(1)
				} else {
					r.checked.Add(1)
				}
			},
			Refused: func(_ context.Context, err *verifier.Error) { r.refused.Add(1) },
		},
	}
	for _, change := range change {
		change(&c)
	}
	v, err := verifier.New(c)
	require.NoError(t, err)
	r.Verifier = v
	return r
}

// counts returns the tokens accepted from the cache, accepted after a check, and refused.
func (r *rig) counts() [3]int64 {
	return [3]int64{r.cached.Load(), r.checked.Load(), r.refused.Load()}
}

func TestCacheRemembersTheExactToken(t *testing.T) {
	r := newRig(t)
	good, other := token(nil, nil), token(nil, object{"sub": "user-2"})
	for range 3 {
		accepted(t, r.Verifier, good)
	}
	assert.Equal(t, [3]int64{2, 1, 0}, r.counts())
	claims, err := r.Verify(context.Background(), other)
	require.NoError(t, err)
	assert.Equal(t, "user-2", claims.Subject())
	assert.Equal(t, [3]int64{2, 2, 0}, r.counts())

	// No changed, added or removed character is accepted, even where the end of the
	// signature is the same.
	for i := range len(good) {
		bad := []byte(good)
		bad[i] ^= 1
		_, err := r.Verify(context.Background(), string(bad))
		require.Error(t, err, "character %d", i)
	}
	for _, bad := range []string{good[1:], good[:len(good)-1], good + "=", " " + good, loosen(good)} {
		reason(t, r.Verifier, bad)
	}
	assert.Equal(t, int64(2), r.cached.Load())
}

func TestCacheKeepsSuccessesOnly(t *testing.T) {
	r := newRig(t)
	early := token(nil, object{"nbf": clock.Unix() + 60})
	for range 2 {
		assert.Equal(t, verifier.ReasonNotYetValid, reason(t, r.Verifier, early))
	}
	r.clock.Advance(time.Minute)
	accepted(t, r.Verifier, early)
	r.revoked.Store(true)
	late := token(nil, nil)
	assert.Equal(t, verifier.ReasonRevoked, reason(t, r.Verifier, late))
	r.revoked.Store(false)
	accepted(t, r.Verifier, late)
	assert.Equal(t, [3]int64{0, 2, 3}, r.counts())
}

// The error of an expired token has its claims, whether the token was cached or not. That of any
// other token has none.
func TestClaimsOfAnExpiredToken(t *testing.T) {
	r := newRig(t)
	cached, fresh := token(nil, object{"jti": "cached"}), token(nil, object{"jti": "fresh"})
	accepted(t, r.Verifier, cached)
	refused := func(text string) *verifier.Error {
		_, err := r.Verify(t.Context(), text)
		var e *verifier.Error
		require.ErrorAs(t, err, &e)
		return e
	}
	r.clock.Advance(1800*time.Second + verifier.DefaultSkew)
	for id, text := range map[string]string{"cached": cached, "fresh": fresh} {
		e := refused(text)
		require.Equal(t, verifier.ReasonExpired, e.Reason)
		require.Equal(t, id, e.Claims.ID())
	}
	other := forged(one, one)
	require.Nil(t, refused(other).Claims, "its signature is wrong")
	require.Nil(t, refused(token(nil, object{"iss": "https://other.example"})).Claims, "of another issuer")
}

// Everything that can change about a token is checked at each hit.
func TestCacheHitChecks(t *testing.T) {
	tests := []struct {
		name   string
		change func(*rig)
		want   verifier.Reason // empty: accepted, after a check
	}{
		{"exp", func(r *rig) { r.clock.Advance(1800*time.Second + verifier.DefaultSkew) }, verifier.ReasonExpired},
		{"nbf", func(r *rig) { r.clock.Advance(-11*time.Second - verifier.DefaultSkew) }, verifier.ReasonNotYetValid},
		{"key gone", func(r *rig) { r.publish(jwks(rsaJWK("rsa", &rsaKey().PublicKey))) }, verifier.ReasonUnknownKey},
		{"another key under its kid", func(r *rig) { r.publish(jwks(rsaJWK("ec", &rsaKey().PublicKey))) }, verifier.ReasonAlgorithm},
		{"keys unavailable", func(r *rig) {
			var away verifier.KeySource = failing{verifier.ErrKeysUnavailable}
			r.keys.Store(&away)
		}, verifier.ReasonKeysUnavailable},
		{"revoked", func(r *rig) { r.revoked.Store(true) }, verifier.ReasonRevoked},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			good := token(nil, object{"nbf": clock.Unix() - 10, "iat": clock.Unix() - 20})
			accepted(t, r.Verifier, good)
			accepted(t, r.Verifier, good)
			tt.change(r)
			assert.Equal(t, tt.want, reason(t, r.Verifier, good))
			assert.Equal(t, [3]int64{1, 1, 1}, r.counts())
		})
	}
	// Until the last instant, and with the same key published again, both are hits.
	r := newRig(t)
	good := token(nil, object{"exp": clock.Unix() + 1800})
	accepted(t, r.Verifier, good)
	r.publish(published())
	r.clock.Advance(1810*time.Second - time.Nanosecond)
	accepted(t, r.Verifier, good)
	assert.Equal(t, [3]int64{1, 1, 0}, r.counts())
}

// Two verifiers don't share a cache.
func TestCacheIsPerVerifier(t *testing.T) {
	r, other := newRig(t), newRig(t, func(c *verifier.Config) { c.Audience = "https://other.example.com" })
	good := token(nil, nil)
	accepted(t, r.Verifier, good)
	assert.Equal(t, verifier.ReasonAudience, reason(t, other.Verifier, good))
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	for _, size := range []int{-1, 1, 8, 64} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			r := newRig(t, func(c *verifier.Config) { c.CacheSize = size })
			var tokens []string
			for i := range 300 {
				tokens = append(tokens, token(nil, object{"jti": fmt.Sprint(i)}))
				accepted(t, r.Verifier, tokens[i])
			}
			require.Zero(t, r.cached.Load())
			kept := 0
			for _, tok := range tokens {
				before := r.cached.Load()
				accepted(t, r.Verifier, tok)
				kept += int(r.cached.Load() - before)
			}
			if size < 0 {
				assert.Zero(t, kept)
				return
			}
			assert.LessOrEqual(t, kept, max(4*size, 8))
			accepted(t, r.Verifier, tokens[299])
		})
	}
}

// As many tokens as the size stay in the cache, although they don't spread evenly.
func TestCacheHasRoomForItsSize(t *testing.T) {
	for _, hot := range []int{3000, verifier.DefaultCacheSize} {
		tokens := make([]string, hot)
		for i := range tokens {
			tokens[i] = fmt.Sprint("token-", i)
		}
		misses := verifier.CacheMisses(verifier.DefaultCacheSize, tokens)
		assert.Less(t, 100*misses/hot, 4, "percent of %d tokens: %d", hot, misses)
	}
}

// A token in use stays while other tokens, used once, pass through its bucket.
func TestCacheKeepsWhatIsUsed(t *testing.T) {
	r := newRig(t, func(c *verifier.Config) { c.CacheSize = 8 })
	busy := token(nil, nil)
	accepted(t, r.Verifier, busy)
	for i := range 100 {
		accepted(t, r.Verifier, token(nil, object{"jti": fmt.Sprint(i)}))
		accepted(t, r.Verifier, busy)
	}
	assert.Equal(t, int64(100), r.cached.Load())
}

// Concurrent use while the keys change: for the race detector, and the claims always
// belong to the token.
func TestCacheConcurrently(t *testing.T) {
	r := newRig(t, func(c *verifier.Config) { c.CacheSize = 16 })
	var tokens []string
	for i := range 40 {
		tokens = append(tokens, token(nil, object{"sub": fmt.Sprint(i)}))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for n := range 400 {
				claims, err := r.Verify(context.Background(), tokens[n*7%40])
				if assert.NoError(t, err) {
					assert.Equal(t, fmt.Sprint(n*7%40), claims.Subject())
				}
			}
		})
	}
	for range 50 {
		r.publish(published())
	}
	wg.Wait()
}

func TestCacheHitAllocatesNothing(t *testing.T) {
	iss := verifiertest.NewIssuer()
	defer iss.Close()
	j, err := verifier.NewJWKS(iss.JWKSConfig())
	require.NoError(t, err)
	defer j.Close()
	c := iss.Config()
	c.Keys = j
	overHTTP, err := verifier.New(c)
	require.NoError(t, err)
	for name, v := range map[string]struct {
		v     *verifier.Verifier
		token string
	}{
		"JWKS":      {overHTTP, iss.Token()},
		"any other": {newRig(t).Verifier, token(nil, nil)},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			accepted(t, v.v, v.token)
			assert.Zero(t, testing.AllocsPerRun(1000, func() { _, err = v.v.Verify(context.Background(), v.token) }))
			assert.NoError(t, err)
		})
	}
}
