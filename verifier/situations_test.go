package verifier_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// The situations of a resource server over the life of its issuer's keys, one test each.
// Those about time use the clock of synctest, where times are exact; those about the
// network also run over HTTP.

// warm returns a verifier that has the issuer's keys; it is called in a bubble.
func warm(t *testing.T, issuer *verifiertest.Issuer) *verifier.Verifier {
	t.Helper()
	v := cold(t, issuer)
	accepted(t, v, issuer.Token())
	synctest.Wait()
	require.Equal(t, 1, issuer.Fetches())
	return v
}

func cold(t *testing.T, issuer *verifiertest.Issuer) *verifier.Verifier {
	t.Helper()
	j, err := verifier.NewJWKS(issuer.JWKSConfig())
	require.NoError(t, err)
	t.Cleanup(j.Close)
	c := issuer.Config()
	c.Keys = j
	v, err := verifier.New(c)
	require.NoError(t, err)
	return v
}

func accepted(t testing.TB, v *verifier.Verifier, token string) {
	t.Helper()
	_, err := v.Verify(context.Background(), token)
	require.NoError(t, err)
}

func unknownKid(issuer *verifiertest.Issuer, kid string) string {
	return issuer.Token(verifiertest.Header("kid", kid))
}

func TestSituation01_flood_of_unknown_kids(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		v := warm(t, issuer)
		issuer.Slow(50 * time.Millisecond)
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := range 50 {
					// The fetch answers for the kid that caused it; the other kids may
					// have been published since it began.
					assert.Contains(t, []verifier.Reason{verifier.ReasonUnknownKey, verifier.ReasonKeysUnavailable}, reason(t, v, unknownKid(issuer, string(rune('a'+g))+string(rune('a'+i)))))
				}
			})
		}
		wg.Wait()
		assert.Equal(t, 2, issuer.Fetches(), "the first fetch, and one for all unknown kids")
		time.Sleep(9900 * time.Millisecond)
		assert.Equal(t, 2, issuer.Fetches())
		time.Sleep(time.Minute)
		assert.LessOrEqual(t, issuer.Fetches(), 3, "one more for the kids that came after the fetch began")
	})
}

func TestSituation02_bad_signatures_of_a_known_kid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer, other := verifiertest.NewInMemoryIssuer(), verifiertest.NewInMemoryIssuer()
		v := warm(t, issuer)
		kid := v.State().Keys[0]
		for range 50 {
			assert.Equal(t, verifier.ReasonSignature, reason(t, v, unknownKid(other, kid)))
		}
		synctest.Wait()
		assert.Equal(t, 1, issuer.Fetches())
	})
}

func TestSituation03_first_token_of_a_new_key(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		v := warm(t, issuer)
		issuer.Slow(900 * time.Millisecond)
		issuer.Rotate()
		began := time.Now()
		accepted(t, v, issuer.Token())
		assert.Equal(t, 900*time.Millisecond, time.Since(began))
	})
}

func TestSituation04_a_new_key_just_after_a_stranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		v := warm(t, issuer)
		assert.Equal(t, verifier.ReasonUnknownKey, reason(t, v, unknownKid(issuer, "stranger")))
		issuer.Rotate()
		token := issuer.Token()
		began := time.Now()
		assert.Equal(t, verifier.ReasonKeysUnavailable, reason(t, v, token), "the kid is not known to be absent")
		// Unknown kids keep coming, and the new token is not presented again.
		for time.Since(began) < 10*time.Second {
			assert.Equal(t, verifier.ReasonUnknownKey, reason(t, v, unknownKid(issuer, "stranger")))
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		asked := issuer.Fetches()
		assert.LessOrEqual(t, asked, 3)
		accepted(t, v, token)
		assert.Equal(t, asked, issuer.Fetches(), "the key was fetched already")
		assert.Equal(t, 10*time.Second, time.Since(began))
	})
}

func TestSituation05_a_key_is_removed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		v := warm(t, issuer)
		cached, fresh := issuer.Token(), issuer.Token()
		accepted(t, v, cached)
		issuer.Rotate()
		issuer.RemoveOldKeys()
		time.Sleep(269 * time.Second)
		accepted(t, v, cached)
		time.Sleep(31 * time.Second) // max-age is five minutes
		synctest.Wait()
		require.Equal(t, 2, issuer.Fetches(), "fetched without a request for the key")
		assert.Equal(t, verifier.ReasonUnknownKey, reason(t, v, cached), "a cached token")
		assert.Equal(t, verifier.ReasonUnknownKey, reason(t, v, fresh))
		accepted(t, v, issuer.Token())
	})
}

func TestSituation06_issuer_answers_500(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		v := warm(t, issuer)
		issuer.Fail(http.StatusInternalServerError)
		for range 23 {
			time.Sleep(time.Hour)
			accepted(t, v, issuer.Token())
		}
		assert.Error(t, v.State().Err)
		assert.True(t, v.State().Ready)
		issuer.Up()
		time.Sleep(12 * time.Second)
		synctest.Wait()
		assert.NoError(t, v.State().Err)
	})
}

func TestSituation07_issuer_takes_six_seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		v := warm(t, issuer)
		issuer.Slow(6 * time.Second)
		began := time.Now()
		for range 600 {
			time.Sleep(time.Second)
			before := time.Now()
			accepted(t, v, issuer.Token())
			require.Zero(t, time.Since(before), "after %s", time.Since(began))
		}
		assert.Greater(t, issuer.Fetches(), 2)
		assert.ErrorIs(t, v.State().Err, context.DeadlineExceeded)
	})
}

// The same over HTTP, without timing: while the issuer delays its key set, a verification
// whose context has ended succeeds. If it waited for the issuer, the ended context would
// fail it. BenchmarkWhileTheIssuerHangs measures the times.
func TestSituation07_over_HTTP(t *testing.T) {
	issuer, v, held := holding(t)
	var tokens []string
	for range 200 {
		tokens = append(tokens, issuer.Token())
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	meanwhile := 0
	for _, token := range tokens {
		_, err := v.Verify(ended, token)
		require.NoError(t, err)
		if !held() {
			break // five seconds have passed on a loaded machine
		}
		meanwhile++
	}
	assert.Positive(t, meanwhile)
	_, err := v.Verify(ended, unknownKid(issuer, "waits"))
	assert.Error(t, err, "an ended context ends a wait")
}

// holding returns an issuer over HTTP that delays its answer to a verifier that already
// has its keys and fetches them again. held reports whether that request is still under
// way, on both sides.
func holding(t testing.TB) (_ *verifiertest.Issuer, _ *verifier.Verifier, held func() bool) {
	issuer := verifiertest.NewInMemoryIssuer()
	var begun, ended, refreshed atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun.Add(1)
		defer ended.Add(1)
		issuer.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	issuer.URL = server.URL
	c := issuer.Config()
	c.Client = nil
	c.Observer.Refreshed = func(verifier.Refresh) { refreshed.Add(1) }
	v, err := verifier.New(c)
	require.NoError(t, err)
	t.Cleanup(v.Close)
	accepted(t, v, issuer.Token())
	held = func() bool { return begun.Load() == 2 && ended.Load() == 1 && refreshed.Load() == 1 }
	issuer.Slow(6 * time.Second)
	go v.Verify(context.Background(), unknownKid(issuer, "starts a refresh"))
	require.Eventually(t, held, 5*time.Second, time.Millisecond)
	return issuer, v, held
}

func TestSituation08_start_while_the_issuer_is_down(t *testing.T) {
	issuer := verifiertest.NewIssuer()
	defer issuer.Close()
	issuer.Down()
	c := issuer.Config()
	c.Client = nil // a client of the verifier's own
	v, err := verifier.New(c)
	require.NoError(t, err)
	defer v.Close()
	token := issuer.Token()
	for range 10 {
		assert.Equal(t, verifier.ReasonKeysUnavailable, reason(t, v, token))
	}

	issuer.Up()
	// Attempts are at most 1.2 seconds apart: TestJWKSRetries checks the times, with
	// synctest's clock.
	require.Eventually(t, func() bool { return v.State().Ready }, 30*time.Second, time.Millisecond)
	accepted(t, v, token)
}

func TestSituation09_ML_DSA_key_in_the_set(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		issuer.AddEntry(`{"kty":"AKP","kid":"later","use":"sig","alg":"ML-DSA-65","pub":"` + b64(make([]byte, 1952)) + `"}`)
		issuer.AddEntry(`{"kty":"AKP","kid":"odd","x":` + "[[[[[[[[[[[[]]]]]]]]]]]]" + `}`)
		issuer.AddEntry(`null`)
		v := warm(t, issuer)
		assert.Len(t, v.State().Keys, 1)
	})
}

func TestSituation10_JWK_without_alg(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, alg := range []string{verifier.ES256, verifier.EdDSA, verifier.RS256} {
			issuer := verifiertest.NewInMemoryIssuer()
			issuer.RotateTo(alg)
			issuer.ChangeEntries(func(entry map[string]any) { delete(entry, "alg") })
			v := warm(t, issuer)
			for _, other := range []string{"HS256", "ES384", "PS256", "none", "ES256", "EdDSA", "RS256"} {
				if other != alg {
					assert.Equal(t, verifier.ReasonAlgorithm, reason(t, v, issuer.Token(verifiertest.Header("alg", other))), "the key determines the algorithm")
				}
			}
		}
	})
}

func TestSituation11_staleness_bound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		v := warm(t, issuer)
		cached := issuer.Token(verifiertest.ExpiresIn(48 * time.Hour))
		accepted(t, v, cached)
		issuer.Down()
		time.Sleep(24*time.Hour - time.Nanosecond)
		accepted(t, v, cached)
		accepted(t, v, issuer.Token())
		time.Sleep(time.Nanosecond)
		for _, token := range []string{cached, issuer.Token(), unknownKid(issuer, "other")} {
			assert.Equal(t, verifier.ReasonKeysUnavailable, reason(t, v, token))
		}
		_, err := v.Verify(context.Background(), cached)
		var refused *verifier.Error
		require.True(t, errors.As(err, &refused))
		assert.Positive(t, refused.RetryAfter)
		assert.LessOrEqual(t, refused.RetryAfter, 12*time.Second)

		issuer.Up()
		time.Sleep(refused.RetryAfter)
		synctest.Wait()
		accepted(t, v, cached)
	})
}
