package verifier_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
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

// With an issuer whose clock is ahead, the feed counts from the time of the request, so
// it is not fresh for longer.
func TestRevocationsOfAClockAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		f.publish(object{"iat": time.Now().Unix() + 5})
		began := time.Now()
		v := f.newVerifier(t)
		synctest.Wait()
		f.down()
		require.True(t, v.RevocationsFresh())
		assert.Equal(t, began.UnixNano(), v.Revocations().KnownAt.UnixNano())
		time.Sleep(verifier.DefaultRevocationsStale)
		assert.True(t, v.RevocationsFresh())
		time.Sleep(time.Millisecond)
		assert.False(t, v.RevocationsFresh())
		assert.Equal(t, verifier.DefaultRevocationsStale+time.Millisecond, v.Revocations().Behind)

		f.publish(nil)
		time.Sleep(3 * time.Second)
		assert.True(t, v.RevocationsFresh(), "once its clock is right again, its iat counts")
	})
}

// A slow answer counts from the time of its request.
func TestRevocationsOfASlowAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		f.publish(object{"iat": time.Now().Unix() + 9})
		v := f.newVerifier(t, func(c *verifier.RevocationsConfig) {
			c.Client = &http.Client{Transport: slow{f, 9 * time.Second}}
		})
		time.Sleep(9 * time.Second)
		synctest.Wait()
		assert.Equal(t, 9*time.Second, v.Revocations().Behind)
	})
}

// slow delays each answer.
type slow struct {
	next http.RoundTripper
	by   time.Duration
}

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := s.next.RoundTrip(r)
	time.Sleep(s.by)
	return res, err
}

// hosts are several nodes.
type hosts map[string]http.RoundTripper

func (h hosts) RoundTrip(r *http.Request) (*http.Response, error) { return h[r.URL.Host].RoundTrip(r) }

// eachSecond calls do now and every second until the test ends.
func eachSecond(t *testing.T, do func()) {
	do()
	go func() {
		for again := time.NewTicker(time.Second); ; {
			select {
			case <-again.C:
				do()
			case <-t.Context().Done():
				again.Stop()
				return
			}
		}
	}()
}

// A node that is isolated is replaced by another one before the feed is stale.
func TestRevocationsLeaveANodeThatLags(t *testing.T) {
	for _, stale := range []time.Duration{verifier.MinRevocationsStale, verifier.DefaultRevocationsStale, time.Minute} {
		t.Run(stale.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cutOff, healthy := newFeed(), newFeed()
				cutOff.publish(nil) // no further document
				eachSecond(t, func() { healthy.publish(nil) })
				v := cutOff.newVerifier(t, func(c *verifier.RevocationsConfig) {
					c.URL, c.MoreURLs, c.Stale = "https://one.example.com/feed", []string{"https://two.example.com/feed"}, stale
					c.Client = &http.Client{Transport: hosts{"one.example.com": cutOff, "two.example.com": healthy}}
				})
				synctest.Wait()
				for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
					require.True(t, v.RevocationsFresh(), "%v", v.Revocations())
				}
				cutOff.mu.Lock()
				assert.Less(t, len(cutOff.asked), 15, "no further requests to the isolated node")
				cutOff.mu.Unlock()
			})
		})
	}
}

// A node that no longer answers is replaced by another one before the feed is stale.
func TestRevocationsLeaveANodeThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newFeed(), newFeed()
		eachSecond(t, func() { one.publish(nil); two.publish(nil) })
		h := &hanging{next: one}
		v := one.newVerifier(t, func(c *verifier.RevocationsConfig) {
			c.URL, c.MoreURLs = "https://one.example.com/feed", []string{"https://two.example.com/feed"}
			c.Stale = verifier.MinRevocationsStale
			c.Client = &http.Client{Transport: hosts{"one.example.com": h, "two.example.com": two}}
		})
		time.Sleep(10 * time.Second)
		h.hangs.Store(true)
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			require.True(t, v.RevocationsFresh(), "%v", v.Revocations())
		}
	})
}

// hanging is a node that stops answering at some time.
type hanging struct {
	next  http.RoundTripper
	hangs atomic.Bool
}

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.hangs.Load() {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return h.next.RoundTrip(r)
}

// The observer gets each attempt, and a change to stale, even without an attempt at that
// time.
func TestRevocationsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		f.publish(nil)
		h := &hanging{next: f}
		began := time.Now()
		var mu sync.Mutex
		var told []string
		say := func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, time.Since(began).Truncate(time.Second).String()+" "+fmt.Sprintf(format, args...))
		}
		heard := func() (all []string) {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			all, told = told, nil
			return all
		}
		keys, err := verifier.StaticKeys(published())
		require.NoError(t, err)
		v, err := verifier.New(verifier.Config{
			Issuer: issuer, Audience: audience, Keys: keys,
			Revocations: &verifier.RevocationsConfig{Name: "calendar", Secret: "s3cret", Client: &http.Client{Transport: h}},
			Observer: verifier.Observer{
				RevocationsRead: func(r verifier.RevocationsRead) {
					assert.Equal(t, issuer+verifier.RevocationsPath, r.URL)
					say("read %d, failed %v, took %v, behind %v", r.Applied, r.Err != nil, r.Took, r.Behind)
				},
				RevocationsFresh: func(fresh bool, s verifier.RevocationsState) {
					assert.Equal(t, fresh, s.Fresh)
					say("fresh %v", fresh)
				},
			},
		})
		require.NoError(t, err)
		defer v.Close()
		assert.Equal(t, []string{"0s read 0, failed false, took 0s, behind 0s", "0s fresh true"}, heard())
		time.Sleep(2 * time.Second)
		f.publish(object{"version": timeline + "3", "revoked": []object{{"sub": "user-1", "at": time.Now().Unix()}, {"sub": "user-2", "at": time.Now().Unix()}}})
		assert.Equal(t, []string{"2s read 2, failed false, took 2s, behind 2s"}, heard())
		f.publish(object{"version": timeline + "4", "revoked": []object{{"sub": "user-1", "at": time.Now().Unix()}, {"sub": "user-3", "at": time.Now().Unix()}}})
		assert.Equal(t, []string{"2s read 1, failed false, took 0s, behind 0s"}, heard(), "one of the two was already known")

		h.hangs.Store(true)
		f.publish(object{"version": timeline + "5"}) // ends the current long poll
		assert.Equal(t, []string{"2s read 0, failed false, took 0s, behind 0s"}, heard())
		time.Sleep(8 * time.Second)
		assert.Equal(t, []string{"10s read 0, failed true, took 8s, behind 8s"}, heard())
		time.Sleep(2*time.Second + time.Millisecond)
		s := v.State().Revocations
		assert.Equal(t, []string{"12s fresh false"}, heard(), "while a request is under way")
		assert.False(t, s.Fresh)
		assert.GreaterOrEqual(t, s.Behind, 10*time.Second)
		h.hangs.Store(false)
		f.down()
		time.Sleep(time.Minute)
		heard()
		f.publish(nil)
		time.Sleep(3 * time.Second)
		assert.Contains(t, strings.Join(heard(), "\n"), "fresh true")
		assert.Less(t, v.State().Revocations.Behind, 4*time.Second)
	})
}

// A verifier that reads known revocations again never returns to an earlier state, not
// even for a moment: for a client that was suspended and reinstated, and for a user whose
// later tokens were revoked too.
func TestRevocationsTwice(t *testing.T) {
	t.Parallel()
	f := newFeed()
	at := time.Now().Unix()
	list := []object{{"client_id": "client-9", "at": at + 60}, {"sub": "user-9", "at": at - 1000}}
	for i := range 5000 {
		list = append(list, object{"grant_id": "g" + strconv.Itoa(i), "at": at})
	}
	list = append(list, object{"client_id": "client-9", "at": at, "lifted": true}, object{"sub": "user-9", "at": at + 60})
	f.publish(object{"revoked": list})
	v := f.newVerifier(t)
	require.Eventually(t, v.RevocationsFresh, 10*time.Second, time.Millisecond)
	resumed, revoked := tokenOf(object{"client_id": "client-9"}), tokenOf(object{"sub": "user-9"})
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			_, err := v.Verify(t.Context(), resumed)
			assert.NoError(t, err)
			_, err = v.Verify(t.Context(), revoked)
			assert.Equal(t, verifier.ReasonRevoked, refusedFor(err))
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for n := 2; n < 20; n++ {
		version := timeline + strconv.Itoa(n)
		f.publish(object{"version": version, "revoked": list})
		require.Eventually(t, func() bool { return v.Revocations().Version == version }, 10*time.Second, time.Millisecond)
	}
	close(stop)
	done.Wait()
}

// A document that is signed with a key that is not known yet is applied as soon as the
// key is known, however long that takes.
func TestRevocationsOfANewKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		f.publish(object{"revoked": []object{{"sub": "user-1", "at": time.Now().Unix() + 60}}})
		r := newRig(t)
		r.publish(verifiertest.NewInMemoryIssuer().KeySet())
		v, err := verifier.New(verifier.Config{Issuer: issuer, Audience: audience, Keys: r, Revocations: &verifier.RevocationsConfig{
			Name: "calendar", Secret: "s3cret", Client: &http.Client{Transport: f},
		}})
		require.NoError(t, err)
		defer v.Close()
		time.Sleep(47100 * time.Millisecond)
		require.Error(t, v.Revocations().Err)
		f.mu.Lock()
		assert.Less(t, len(f.asked), 12, "the document is not fetched repeatedly")
		f.mu.Unlock()
		r.publish(published())
		time.Sleep(500 * time.Millisecond)
		assert.Equal(t, 1, v.Revocations().Entries)
		assert.NoError(t, v.Revocations().Err)
	})
}
