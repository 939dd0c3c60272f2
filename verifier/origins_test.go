package verifier_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// A 304 confirms the keys and makes them fresh again.
func TestJWKSAsksWithETag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		var refreshes refreshLog
		c := issuer.JWKSConfig()
		c.Observer.Refreshed = refreshes.add
		j, err := verifier.NewJWKS(c)
		require.NoError(t, err)
		defer j.Close()
		for range 300 { // 25 hours
			time.Sleep(5 * time.Minute)
		}
		require.True(t, j.State().Ready)
		assert.LessOrEqual(t, time.Since(j.State().ConfirmedAt), 5*time.Minute)
		for i, r := range refreshes.all() {
			assert.NoError(t, r.Err)
			assert.Equal(t, i > 0, r.Unchanged)
			assert.Equal(t, 1, r.Keys)
		}
		assert.Equal(t, verifier.CauseStart, refreshes.all()[0].Cause)
		assert.Equal(t, verifier.CauseSchedule, refreshes.all()[1].Cause)

		synctest.Wait() // for a refresh that is due at this moment
		before := len(refreshes.all())
		issuer.Rotate()
		issuer.AddEntry(`{"kty":"AKP"}`)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		next := refreshes.all()[before] // a further refresh may have followed
		assert.False(t, next.Unchanged)
		assert.Equal(t, 2, next.Keys)
		assert.Equal(t, 1, next.Skipped)
		assert.Equal(t, issuer.URL+verifier.KeySetPath, next.URL)
	})
}

type refreshLog struct {
	mu   sync.Mutex
	list []verifier.Refresh
}

func (l *refreshLog) add(r verifier.Refresh) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, r)
}

func (l *refreshLog) all() []verifier.Refresh {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list
}

// A 304 to a request without If-None-Match is no key set.
func TestJWKSRefusesAnUnaskedNotModified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{answer: func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusNotModified, Header: http.Header{}, Body: http.NoBody}, nil
		}}
		assert.ErrorIs(t, find(newJWKS(t, o), "ec"), verifier.ErrKeysUnavailable)
	})
}

// nodes returns a source for an issuer of three nodes without a load balancer.
func nodes(t *testing.T, answers map[string]func(*http.Request) (*http.Response, error)) (*verifier.JWKS, *origin) {
	t.Helper()
	o := &origin{answer: func(r *http.Request) (*http.Response, error) { return answers[r.URL.Host](r) }}
	j, err := verifier.NewJWKS(verifier.JWKSConfig{
		URL: "https://a/jwks", MoreURLs: []string{"https://b/jwks", "https://c/jwks"}, Client: &http.Client{Transport: o},
	})
	require.NoError(t, err)
	t.Cleanup(j.Close)
	return j, o
}

func TestJWKSAsksTheNodesInTurn(t *testing.T) {
	good := serve(published(), "ETag", `"1"`)
	tests := []struct {
		name    string
		answers map[string]func(*http.Request) (*http.Response, error)
		asked   []string
		took    time.Duration
	}{
		{"the first answers", map[string]func(*http.Request) (*http.Response, error){"a": good}, []string{"a"}, 0},
		{"one is down", map[string]func(*http.Request) (*http.Response, error){"a": down, "b": good}, []string{"a", "b"}, 0},
		{"two are down", map[string]func(*http.Request) (*http.Response, error){"a": down, "b": serve(nil), "c": good}, []string{"a", "b", "c"}, 0},
		{"one hangs", map[string]func(*http.Request) (*http.Response, error){"a": hang, "b": good}, []string{"a", "b"}, 500 * time.Millisecond},
		{"one hangs and one is down", map[string]func(*http.Request) (*http.Response, error){"a": hang, "b": down, "c": good}, []string{"a", "b", "c"}, 500 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, o := nodes(t, tt.answers)
				began := time.Now()
				require.NoError(t, find(j, "ec"))
				assert.Equal(t, tt.took, time.Since(began))
				synctest.Wait()
				var want []string
				for _, host := range tt.asked {
					want = append(want, "https://"+host+"/jwks")
				}
				assert.Equal(t, want, o.urls())
				assert.Zero(t, o.inFlight(), "the hanging request is cancelled")

				// The node that answered last is requested first.
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				assert.Equal(t, want[len(want)-1:], o.urls()[len(want):])
			})
		})
	}
}

func TestJWKSWithEveryNodeAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, o := nodes(t, map[string]func(*http.Request) (*http.Response, error){"a": down, "b": hang, "c": hang})
		began := time.Now()
		assert.ErrorIs(t, find(j, "ec"), verifier.ErrKeysUnavailable)
		assert.Equal(t, time.Second, time.Since(began))
		time.Sleep(4 * time.Second)
		synctest.Wait()
		assert.Equal(t, 3, o.fetches())
		assert.ErrorContains(t, j.State().Err, "connection refused")
		assert.ErrorIs(t, j.State().Err, context.DeadlineExceeded)
	})
}

// An HTTP client that ignores its context can't stop the refreshes.
func TestJWKSWithADeafClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		o := &origin{answer: func(r *http.Request) (*http.Response, error) {
			<-release
			return down(r)
		}}
		j := newJWKS(t, o)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		assert.Equal(t, 2, o.fetches())
		close(release)
		o.set(serve(published()))
		time.Sleep(7 * time.Second)
		assert.NoError(t, find(j, "ec"))
		j.Close()
	})
}

func TestState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{answer: hang}
		j := newJWKS(t, o)
		v := withKeys(t, j)
		assert.Equal(t, verifier.State{}, v.State(), "the first attempt runs")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		s := v.State()
		assert.False(t, s.Ready)
		assert.ErrorIs(t, s.Err, context.DeadlineExceeded)
		assert.WithinRange(t, s.NextAt, time.Now().Add(250*time.Millisecond), time.Now().Add(300*time.Millisecond))

		o.set(serve(published()))
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		s = v.State()
		assert.True(t, s.Ready)
		assert.NoError(t, s.Err)
		assert.Equal(t, []string{"ec", "ed", "rsa"}, s.Keys)
		assert.Equal(t, s.ConfirmedAt.Add(24*time.Hour), s.StaleAt)
		assert.WithinRange(t, s.NextAt, s.ConfirmedAt.Add(270*time.Second), s.ConfirmedAt.Add(300*time.Second))
		assert.False(t, s.Restored)

		j.Close()
		assert.Zero(t, v.State().NextAt)
		time.Sleep(24 * time.Hour)
		assert.False(t, v.State().Ready)
	})
	assert.Equal(t, verifier.State{Ready: true, Keys: []string{"ec", "ed", "rsa"}}, newVerifier(t).State())
	assert.Equal(t, verifier.State{Ready: true}, withKeys(t, failing{}).State(), "a source without State")
}

// The verifier's own JWKS requests Mintmark's path and reports to the verifier's
// observer.
func TestVerifierWithKeysOfItsOwn(t *testing.T) {
	issuer := verifiertest.NewInMemoryIssuer()
	server := httptest.NewServer(issuer)
	defer server.Close()
	issuer.URL = server.URL
	var refreshes refreshLog
	c := issuer.Config()
	c.Observer.Refreshed = refreshes.add
	v, err := verifier.New(c)
	require.NoError(t, err)
	accepted(t, v, issuer.Token())
	v.Close()
	require.Eventually(t, func() bool { return len(refreshes.all()) == 1 }, 5*time.Second, time.Millisecond)
	assert.Equal(t, 1, issuer.Fetches())
	accepted(t, v, issuer.Token())
}

// A refresh that is due by a moved clock begins at the next request, in the background,
// with a cached token and with a new one.
func TestJWKSFollowsAClockThatIsMoved(t *testing.T) {
	for name, cacheSize := range map[string]int{"cached": 0, "not cached": -1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				issuer := verifiertest.NewInMemoryIssuer()
				clock := verifiertest.NewClock(time.Now())
				issuer.Now = clock.Now
				j, err := verifier.NewJWKS(issuer.JWKSConfig())
				require.NoError(t, err)
				defer j.Close()
				c := issuer.Config()
				c.Keys, c.CacheSize = j, cacheSize
				v, err := verifier.New(c)
				require.NoError(t, err)
				token := issuer.Token()
				for range 3 {
					accepted(t, v, token)
				}
				issuer.Rotate()
				issuer.RemoveOldKeys()
				clock.Advance(5 * time.Minute)
				_, _ = v.Verify(t.Context(), token) // may end before or after the refresh that it starts
				synctest.Wait()
				assert.GreaterOrEqual(t, issuer.Fetches(), 2)
				assert.Equal(t, verifier.ReasonUnknownKey, reason(t, v, token))
			})
		})
	}
}

// While keys are known, an issuer that is down is requested about every ten seconds.
func TestJWKSRetriesCalmly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		v := warm(t, issuer)
		issuer.Down()
		time.Sleep(5 * time.Minute)
		before := issuer.Fetches()
		time.Sleep(time.Hour)
		assert.InDelta(t, 3600/11, issuer.Fetches()-before, 20)
		assert.True(t, v.State().Ready)
	})
}

// The age of keys counts from the request, not from the answer.
func TestJWKSCountsFromTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		issuer.Slow(4 * time.Second)
		began := time.Now()
		v := cold(t, issuer)
		time.Sleep(5 * time.Second)
		assert.Equal(t, began, v.State().ConfirmedAt)
	})
}

// Unknown kids can't delay the retry that finds the issuer up again.
func TestJWKSRetriesUnderAFloodOfUnknownKids(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		v := warm(t, issuer)
		issuer.Down()
		for range 20 { // 200 ms
			assert.Equal(t, verifier.ReasonKeysUnavailable, reason(t, v, unknownKid(issuer, "stranger")))
			time.Sleep(10 * time.Millisecond)
		}
		issuer.Up()
		for range 11 {
			v.Verify(context.Background(), unknownKid(issuer, "stranger"))
			time.Sleep(10 * time.Millisecond)
		}
		synctest.Wait()
		assert.NoError(t, v.State().Err, "250 to 300 ms after it failed")
	})
}
