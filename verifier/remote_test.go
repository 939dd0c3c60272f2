package verifier_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
)

// origin replaces the issuer's HTTP server: it answers in memory, so that tests can use
// synctest's clock.
type origin struct {
	mu      sync.Mutex
	asked   []string // URLs
	running int
	most    int // requests at once
	answer  func(*http.Request) (*http.Response, error)
}

func (o *origin) RoundTrip(req *http.Request) (*http.Response, error) {
	o.mu.Lock()
	o.asked = append(o.asked, req.URL.String())
	o.running++
	o.most = max(o.most, o.running)
	answer := o.answer
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		o.running--
		o.mu.Unlock()
	}()
	return answer(req)
}

func (o *origin) set(answer func(*http.Request) (*http.Response, error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answer = answer
}

func (o *origin) fetches() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.asked)
}

// urls returns the requested URLs; inFlight counts the requests that are under way.
func (o *origin) urls() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.asked)
}

func (o *origin) inFlight() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.running
}

func serve(document []byte, header ...string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.Write(document)
		return w.Result(), nil
	}
}

func down(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }

// hang answers only when the request is cancelled.
func hang(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// newJWKS returns a source that requests o and uses the bubble's clock.
func newJWKS(t testing.TB, o *origin) *verifier.JWKS {
	t.Helper()
	return newJWKSOf(t, o, verifier.JWKSConfig{})
}

func newJWKSOf(t testing.TB, o *origin, c verifier.JWKSConfig) *verifier.JWKS {
	t.Helper()
	c.URL, c.Client = "https://auth.example.com/jwks", &http.Client{Transport: o}
	j, err := verifier.NewJWKS(c)
	require.NoError(t, err)
	t.Cleanup(j.Close)
	return j
}

func find(j *verifier.JWKS, kid string) error {
	key, err := j.Key(context.Background(), kid)
	if err == nil && key.ID() != kid {
		return fmt.Errorf("requested %q, got %q", kid, key.ID())
	}
	return err
}

func only(kid string) []byte { return jwks(ecJWK(kid, &ecKey().PublicKey)) }

// The set is fetched when the source is made, and then once in each max-age, in its last
// tenth, with many tokens and without any.
func TestJWKSIsRefreshedInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{answer: serve(published(), "Cache-Control", "public, max-age=300")}
		j := newJWKS(t, o)
		for range 10 {
			assert.NoError(t, find(j, "ec"))
			assert.NoError(t, find(j, "ed"))
		}
		assert.Equal(t, 1, o.fetches())

		time.Sleep(270*time.Second - time.Nanosecond)
		assert.NoError(t, find(j, "ec"))
		assert.Equal(t, 1, o.fetches(), "long before max-age")

		time.Sleep(30*time.Second + time.Nanosecond)
		synctest.Wait()
		assert.Equal(t, 2, o.fetches(), "without a token")

		j.Close()
		time.Sleep(24*time.Hour - 300*time.Second)
		synctest.Wait()
		assert.Equal(t, 2, o.fetches(), "closed")
		assert.NoError(t, find(j, "ec"), "keys are still used")
		time.Sleep(300 * time.Second)
		assert.ErrorIs(t, find(j, "ec"), verifier.ErrKeysUnavailable, "until stale")
	})
}

// Keys whose Stale is shorter than max-age are fetched earlier.
func TestJWKSIsRefreshedBeforeItIsStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{answer: serve(published(), "Cache-Control", "public, max-age=300")}
		j := newJWKSOf(t, o, verifier.JWKSConfig{Stale: 20 * time.Second})
		for range 100 {
			assert.NoError(t, find(j, "ec"))
			time.Sleep(time.Second)
		}
		assert.LessOrEqual(t, o.fetches(), 1+100/9)
	})
}

// A thousand servers that start together don't fetch together.
func TestJWKSRefreshIsJittered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{answer: serve(published(), "Cache-Control", "max-age=300")}
		for range 1000 {
			newJWKS(t, o)
		}
		synctest.Wait()
		require.Equal(t, 1000, o.fetches())
		time.Sleep(285 * time.Second)
		synctest.Wait()
		assert.InDelta(t, 1500, o.fetches(), 100, "half of the servers have fetched at half of the time")
		time.Sleep(15 * time.Second)
		synctest.Wait()
		assert.Equal(t, 2000, o.fetches())
	})
}

func TestJWKSFreshness(t *testing.T) {
	tests := []struct {
		name   string
		header []string
		want   time.Duration
	}{
		{"none", nil, 5 * time.Minute},
		{"max-age", []string{"Cache-Control", "max-age=60"}, time.Minute},
		{"among others, upper case", []string{"Cache-Control", "public , MAX-AGE=60, must-revalidate"}, time.Minute},
		{"quoted", []string{"Cache-Control", `max-age="60"`}, time.Minute},
		{"less Age", []string{"Cache-Control", "max-age=60", "Age", "20"}, 40 * time.Second},
		{"Age beyond it", []string{"Cache-Control", "max-age=60", "Age", "90"}, 10 * time.Second},
		{"too short", []string{"Cache-Control", "max-age=0"}, 10 * time.Second},
		{"too long", []string{"Cache-Control", "max-age=31536000"}, time.Hour},
		{"beyond any number", []string{"Cache-Control", "max-age=99999999999999999999"}, time.Hour},
		{"no number", []string{"Cache-Control", "max-age=soon"}, 10 * time.Second},
		{"no-store", []string{"Cache-Control", "no-store, max-age=300"}, 10 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &origin{answer: serve(published(), tt.header...)}
				j := newJWKS(t, o)
				require.NoError(t, find(j, "ec"))
				time.Sleep(tt.want*9/10 - time.Nanosecond)
				synctest.Wait()
				assert.Equal(t, 1, o.fetches(), "still fresh")
				time.Sleep(tt.want/10 + 2*time.Nanosecond)
				synctest.Wait()
				assert.Equal(t, 2, o.fetches(), "no longer fresh")
				j.Close()
			})
		})
	}
}

// An unknown kid is invalid only if the issuer was asked after the kid was first
// requested. Before that its key may exist, and a client that gets 401 would drop a good
// token.
func TestJWKSDoesNotCallAKidUnknownBeforeItHasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{answer: serve(only("old"))}
		j := newJWKS(t, o)
		defer j.Close()
		require.NoError(t, find(j, "old"))
		require.ErrorIs(t, find(j, "stranger"), verifier.ErrUnknownKey, "the set was fetched since")
		require.Equal(t, 2, o.fetches())
		o.set(serve(only("new")))
		time.Sleep(time.Second)

		err := find(j, "new")
		require.ErrorIs(t, err, verifier.ErrKeysUnavailable, "a refresh is due")
		_, err = withKeys(t, j).Verify(t.Context(), token(object{"kid": "new"}, nil))
		var why *verifier.Error
		require.ErrorAs(t, err, &why)
		assert.Equal(t, 9*time.Second, why.RetryAfter)
		require.ErrorIs(t, find(j, "stranger"), verifier.ErrUnknownKey, "the refresh was answered")
		for i := range 100 { // more than maxAbsent
			require.ErrorIs(t, find(j, fmt.Sprint("flood-", i)), verifier.ErrKeysUnavailable)
		}
		require.Equal(t, 2, o.fetches())

		time.Sleep(9 * time.Second)
		synctest.Wait()
		require.Equal(t, 3, o.fetches())
		assert.NoError(t, find(j, "new"))
		assert.ErrorIs(t, find(j, "old"), verifier.ErrUnknownKey, "the issuer removed the key, and no further fetch is needed")
		assert.ErrorIs(t, find(j, "flood-0"), verifier.ErrUnknownKey)
		assert.ErrorIs(t, find(j, "flood-99"), verifier.ErrKeysUnavailable)
	})
}

// A request that looked for a key just before the set was published starts no second
// fetch: that would use up the ten seconds in which unknown kids may cause one.
func TestJWKSFetchesOnceForAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{answer: serve(published())}
		j := newJWKS(t, o)
		defer j.Close()
		require.NoError(t, find(j, "ec"))
		j.FetchForDuringFlight("ec")
		synctest.Wait()
		require.Equal(t, 1, o.fetches())
		require.ErrorIs(t, find(j, "stranger"), verifier.ErrUnknownKey)
		require.Equal(t, 2, o.fetches(), "the first unknown kid causes a fetch at once")
	})
}

// A key that the issuer adds is found without waiting for max-age; a key that it removes
// is removed with the next fetch.
func TestJWKSFollowsRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{answer: serve(only("old"))}
		j := newJWKS(t, o)
		require.NoError(t, find(j, "old"))
		o.set(serve(only("new")))
		time.Sleep(10 * time.Second)
		assert.NoError(t, find(j, "new"))
		assert.Equal(t, 2, o.fetches())
		assert.ErrorIs(t, find(j, "old"), verifier.ErrUnknownKey)
	})
}

// JB07 and JB31: tokens of invented kids cost at most one fetch per cool-down,
// wait for it no longer than a second, and a good token beside them doesn't wait.
func TestConformance_JB31_unknown_kids(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		slow time.Duration
		want verifier.Reason
	}{
		{500 * time.Millisecond, verifier.ReasonUnknownKey}, // for the kid that caused the fetch
		{2 * time.Second, verifier.ReasonKeysUnavailable},   // the answer comes too late
	} {
		t.Run(tt.slow.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &origin{answer: serve(published())}
				j := newJWKS(t, o)
				v := withKeys(t, j)
				good := token(nil, nil)
				_, err := v.Verify(context.Background(), good)
				require.NoError(t, err)
				require.Equal(t, 1, o.fetches())

				o.set(func(req *http.Request) (*http.Response, error) {
					time.Sleep(tt.slow)
					return serve(published())(req)
				})
				began := time.Now()
				var wg sync.WaitGroup
				var known atomic.Int32
				for i := range 1000 {
					wg.Go(func() {
						if why := reason(t, v, token(object{"kid": fmt.Sprint("kid-", i)}, nil)); why == tt.want {
							known.Add(1)
						} else {
							// The other keys may have been published since the fetch
							// began.
							assert.Equal(t, verifier.ReasonKeysUnavailable, why)
						}
						assert.Equal(t, min(tt.slow, time.Second), time.Since(began))
					})
				}
				synctest.Wait() // all requests wait for the same fetch
				_, err = v.Verify(context.Background(), good)
				assert.NoError(t, err)
				assert.Zero(t, time.Since(began), "a good token doesn't wait")
				wg.Wait()
				assert.Positive(t, known.Load())
				assert.Equal(t, 2, o.fetches())
				assert.Equal(t, 1, o.most)

				time.Sleep(tt.slow)
				for i := range 100 {
					assert.Equal(t, verifier.ReasonKeysUnavailable, reason(t, v, token(object{"kid": fmt.Sprint("again-", i)}, nil)))
				}
				assert.Equal(t, 2, o.fetches(), "within the cool-down")
				j.Close()
			})
		})
	}
}

// JB29: while the key set endpoint is down, known kids are verified and no request waits,
// up to the bound on staleness.
func TestConformance_JB29_issuer_down(t *testing.T) {
	t.Parallel()
	for _, outage := range []struct {
		name   string
		answer func(*http.Request) (*http.Response, error)
	}{
		{"refused", down},
		{"hanging", hang},
		{"500", func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 500, Header: http.Header{}, Body: http.NoBody}, nil
		}},
		{"a page instead", serve([]byte("<html>"))},
		{"an empty set", serve([]byte(`{"keys":[]}`))},
	} {
		t.Run(outage.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &origin{answer: serve(published())}
				j := newJWKS(t, o)
				require.NoError(t, find(j, "ec"))
				fetched := time.Now()
				o.set(outage.answer)
				for time.Since(fetched) < 24*time.Hour-10*time.Minute {
					time.Sleep(10 * time.Minute)
					now := time.Now()
					require.NoError(t, find(j, "ec"))
					require.Zero(t, time.Since(now), "no request waits")
				}
				synctest.Wait()
				time.Sleep(10 * time.Second)
				assert.ErrorIs(t, find(j, "other"), verifier.ErrKeysUnavailable, "without an answer no kid is unknown")

				time.Sleep(24*time.Hour - time.Since(fetched))
				assert.ErrorIs(t, find(j, "ec"), verifier.ErrKeysUnavailable, "too stale")

				o.set(serve(published()))
				time.Sleep(15 * time.Second)
				assert.NoError(t, find(j, "ec"), "the issuer has returned")
				j.Close()
			})
		})
	}
}

// A service that starts before its issuer retries soon, but not for each token, and
// becomes ready without a token.
func TestJWKSBeforeTheFirstFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{answer: down}
		j := newJWKS(t, o)
		for range 100 {
			assert.ErrorIs(t, find(j, "ec"), verifier.ErrKeysUnavailable)
		}
		assert.Equal(t, 1, o.fetches())
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, 2, o.fetches(), "after 250 ms")
		time.Sleep(time.Minute - 300*time.Millisecond)
		assert.InDelta(t, 56, o.fetches(), 6, "about once a second")
		assert.False(t, j.State().Ready)
		o.set(serve(published()))
		time.Sleep(1200 * time.Millisecond)
		synctest.Wait()
		assert.True(t, j.State().Ready)
		assert.NoError(t, find(j, "ec"))
		j.Close()
	})
}

func TestJWKSTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{answer: hang}
		j := newJWKS(t, o)
		began := time.Now()
		assert.ErrorIs(t, find(j, "ec"), verifier.ErrKeysUnavailable)
		assert.Equal(t, time.Second, time.Since(began), "a request's wait is bounded")

		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		began = time.Now()
		_, err := j.Key(ctx, "ec")
		assert.ErrorIs(t, err, verifier.ErrKeysUnavailable)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 100*time.Millisecond, time.Since(began), "the request's deadline ends its wait")
		time.Sleep(4500 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, 1, o.most, "one fetch at a time")
		assert.Equal(t, 2, o.fetches(), "each fetch is bounded")
		j.Close()
		synctest.Wait()
		assert.Zero(t, o.inFlight(), "Close ends the fetch under way")
	})
}

func TestJWKSRefusesAnswers(t *testing.T) {
	redirect := func(to string) func(*http.Request) (*http.Response, error) {
		return func(req *http.Request) (*http.Response, error) {
			if req.URL.String() != "https://auth.example.com/jwks" {
				return serve(published())(req)
			}
			return &http.Response{StatusCode: 302, Header: http.Header{"Location": {to}}, Body: http.NoBody, Request: req}, nil
		}
	}
	padded := func(size int) []byte {
		return append(published(), strings.Repeat(" ", size-len(published()))...)
	}
	tests := []struct {
		name   string
		answer func(*http.Request) (*http.Response, error)
		ok     bool
	}{
		{"256 KiB", serve(padded(256 << 10)), true},
		{"one byte more", serve(padded(256<<10 + 1)), false},
		{"redirect within the origin", redirect("/keys/jwks"), true},
		{"redirect to another host", redirect("https://attacker.example/jwks"), false},
		{"redirect to another port", redirect("https://auth.example.com:8443/jwks"), false},
		{"redirect to http", redirect("http://auth.example.com/jwks2"), false},
		{"redirect without end", redirect("https://auth.example.com/jwks"), false},
		{"404 with keys", func(*http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			w.WriteHeader(404)
			w.Write(published())
			return w.Result(), nil
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &origin{answer: tt.answer}
				err := find(newJWKS(t, o), "ec")
				if tt.ok {
					assert.NoError(t, err)
					return
				}
				assert.ErrorIs(t, err, verifier.ErrKeysUnavailable)
				for _, url := range o.urls() {
					assert.True(t, strings.HasPrefix(url, "https://auth.example.com/"), "asked %s", url)
				}
			})
		})
	}
}

func TestNewJWKSRefusesAnUnsafeConfig(t *testing.T) {
	tests := []struct {
		name string
		c    verifier.JWKSConfig
		ok   bool
	}{
		{"https", verifier.JWKSConfig{URL: "https://auth.example.com/jwks"}, true},
		{"http on loopback", verifier.JWKSConfig{URL: "http://127.0.0.1:8080/jwks"}, true},
		{"http on IPv6 loopback", verifier.JWKSConfig{URL: "http://[::1]/jwks"}, true},
		{"http on localhost", verifier.JWKSConfig{URL: "http://localhost/jwks"}, true},
		{"http allowed", verifier.JWKSConfig{URL: "http://auth.internal/jwks", SkipHTTPS: true}, true},
		{"http", verifier.JWKSConfig{URL: "http://auth.internal/jwks"}, false},
		{"http on a name like loopback", verifier.JWKSConfig{URL: "http://127.0.0.1.example.com/jwks"}, false},
		{"empty", verifier.JWKSConfig{}, false},
		{"relative", verifier.JWKSConfig{URL: "/jwks"}, false},
		{"other scheme", verifier.JWKSConfig{URL: "file:///jwks"}, false},
		{"userinfo", verifier.JWKSConfig{URL: "https://a:b@auth.example.com/jwks"}, false},
		{"unreadable", verifier.JWKSConfig{URL: "https://%"}, false},
		{"negative bound", verifier.JWKSConfig{URL: "https://auth.example.com/jwks", Stale: -1}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := verifier.NewJWKS(tt.c)
			assert.Equal(t, tt.ok, err == nil, "%v", err)
		})
	}
	_, err := verifier.NewJWKS(verifier.JWKSConfig{URL: "https://one.example/jwks", MoreURLs: []string{"https://two.example/jwks", "http://three.example/jwks"}})
	assert.EqualError(t, err, "new key source: JWKSConfig.MoreURLs[1] is not https")
}

// JB06: a token with a link to its key causes no request.
func TestConformance_JB06_nobody_is_asked(t *testing.T) {
	var asked atomic.Int32
	attacker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Write(published())
	}))
	defer attacker.Close()
	o := &origin{answer: serve(published())}
	j := newJWKS(t, o)
	require.NoError(t, find(j, "ec"))
	v := withKeys(t, j)
	for _, member := range []string{"jku", "x5u"} {
		assert.Equal(t, verifier.ReasonHeader, reason(t, v, token(object{member: attacker.URL, "kid": "theirs"}, nil)))
	}
	assert.Zero(t, asked.Load())
	assert.Equal(t, 1, o.fetches(), "no request to the issuer")
}
