package verifier_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
)

// feed is the issuer's feed, in memory.
type feed struct {
	mu      sync.Mutex
	claims  object // mu; of the next answer; nil: the issuer is down
	header  object // mu
	changed chan struct{}
	asked   []string            // mu; hosts and queries
	breaks  func(string) string // mu
}

func newFeed() *feed {
	return &feed{changed: make(chan struct{}), header: object{"alg": "ES256", "kid": "ec", "typ": "mintmark-revocations+jwt"}}
}

const timeline = "0a0b-"

// publish sets the answer, and ends the long polls.
func (f *feed) publish(changes object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.claims = object{
		"iss": issuer, "iat": time.Now().Unix(), "version": timeline + "1", "after": "", "complete_since": 0, "window": 1860, "revoked": []object{},
	}.with(changes)
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *feed) down() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.claims = nil
}

func (f *feed) RoundTrip(r *http.Request) (*http.Response, error) {
	name, secret, _ := r.BasicAuth()
	query := r.URL.Query()
	f.mu.Lock()
	f.asked = append(f.asked, r.URL.Host+" "+query.Get("after")+" "+query.Get("wait"))
	changed, claims := f.changed, f.claims
	f.mu.Unlock()
	if name != "calendar" || secret != "s3cret" {
		return respond(r, http.StatusUnauthorized, ""), nil
	}
	if claims != nil && query.Get("wait") != "" {
		wait, err := time.ParseDuration(query.Get("wait") + "s")
		if err != nil {
			return nil, err
		}
		select {
		case <-changed:
		case <-time.After(wait):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.claims == nil {
		return nil, errors.New("connection refused")
	}
	text := sign("ES256", f.header.json(), f.claims.json())
	if f.breaks != nil {
		text = f.breaks(text)
	}
	return respond(r, http.StatusOK, text), nil
}

func respond(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

// newVerifier returns a verifier that reads f, with synctest's clock.
func (f *feed) newVerifier(t *testing.T, change ...func(*verifier.RevocationsConfig)) *verifier.Verifier {
	t.Helper()
	keys, err := verifier.StaticKeys(published())
	require.NoError(t, err)
	c := &verifier.RevocationsConfig{Name: "calendar", Secret: "s3cret", Client: &http.Client{Transport: f}}
	for _, f := range change {
		f(c)
	}
	v, err := verifier.New(verifier.Config{Issuer: issuer, Audience: audience, Keys: keys, Revocations: c})
	require.NoError(t, err)
	t.Cleanup(v.Close)
	return v
}

// tokenOf returns a token that is issued now.
func tokenOf(claims object) string {
	return token(nil, object{"iat": time.Now().Unix(), "exp": time.Now().Unix() + 1800}.with(claims))
}

func refusedFor(err error) verifier.Reason {
	var e *verifier.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

func TestRevocations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		f.publish(nil)
		v := f.newVerifier(t)
		synctest.Wait()
		require.True(t, v.RevocationsFresh())
		require.NoError(t, v.Revocations().Err)

		tokens := map[string]string{
			"grant":  tokenOf(object{"grant_id": "g-9"}),
			"user":   tokenOf(object{"sub": "user-9"}),
			"client": tokenOf(object{"client_id": "client-9"}),
			"pair":   tokenOf(object{"sub": "user-8", "client_id": "client-8"}),
			"user8":  tokenOf(object{"sub": "user-8"}),
			"other":  tokenOf(nil),
		}
		revoked := func() string {
			var is []string
			for _, name := range []string{"grant", "user", "client", "pair", "user8", "other"} {
				if _, err := v.Verify(t.Context(), tokens[name]); err != nil {
					require.Equal(t, verifier.ReasonRevoked, refusedFor(err), name)
					require.ErrorIs(t, err, verifier.ErrInvalid)
					is = append(is, name)
				}
			}
			return strings.Join(is, " ")
		}
		require.Empty(t, revoked(), "the tokens are cached from now on")
		at := time.Now().Unix()
		f.publish(object{"version": timeline + "5", "after": timeline + "1", "revoked": []object{
			{"grant_id": "g-9", "at": at},
			{"sub": "user-9", "at": at},
			{"client_id": "client-9", "at": at},
			{"sub": "user-8", "client_id": "client-8", "at": at},
			{"at": at},
			{"x": "y", "at": at},
		}})
		synctest.Wait()
		assert.Equal(t, "grant user client pair", revoked())
		assert.Equal(t, 4, v.Revocations().Entries)

		// Tokens issued later are accepted, except those of the revoked grant.
		time.Sleep(time.Second)
		for _, claims := range []object{{"sub": "user-9"}, {"client_id": "client-9"}, {"sub": "user-8", "client_id": "client-8"}} {
			_, err := v.Verify(t.Context(), tokenOf(claims))
			assert.NoError(t, err)
		}
		f.publish(object{"version": timeline + "6", "after": timeline + "5", "revoked": []object{{"client_id": "client-9", "at": time.Now().Unix(), "lifted": true}}})
		synctest.Wait()
		assert.Equal(t, "grant user pair", revoked(), "the tokens of a reinstated client are valid again")

		// A document that is replayed changes nothing.
		for _, old := range []object{
			{"version": timeline + "5", "after": timeline + "1", "iat": at, "revoked": []object{{"client_id": "client-9", "at": at}}},
			{"version": "ffff-9", "iat": at - 1, "revoked": []object{{"client_id": "client-1", "at": at + 100}}},
		} {
			f.publish(old)
			time.Sleep(time.Second)
			assert.Equal(t, "grant user pair", revoked())
			assert.Equal(t, timeline+"6", v.Revocations().Version)
		}
	})
}

// Only documents that the issuer signed as revocations are applied.
func TestRevocationsRefused(t *testing.T) {
	at := func() int64 { return time.Now().Unix() }
	tests := map[string]func(f *feed){
		"a token":           func(f *feed) { f.header["typ"] = "at+jwt" },
		"no typ":            func(f *feed) { delete(f.header, "typ") },
		"unknown key":       func(f *feed) { f.header["kid"] = "none" },
		"another algorithm": func(f *feed) { f.header["alg"] = "RS256" },
		"crit":              func(f *feed) { f.header["crit"] = []string{"x"} },
		"signature":         func(f *feed) { f.breaks = func(s string) string { return s[:len(s)-4] + "AAAA" } },
		"not a JWS":         func(f *feed) { f.breaks = func(string) string { return "{}" } },
		"white space":       func(f *feed) { f.breaks = func(s string) string { return s + "\n" } },
		"another issuer":    func(f *feed) { f.publish(object{"iss": "https://other.example.com"}) },
		"the future":        func(f *feed) { f.publish(object{"iat": at() + 60}) },
		"no iat":            func(f *feed) { f.publish(object{"iat": nil}) },
		"no version":        func(f *feed) { f.publish(object{"version": nil}) },
		"no window":         func(f *feed) { f.publish(object{"window": nil}) },
		"a week's window":   func(f *feed) { f.publish(object{"window": 7 * 86400}) },
		"a delta":           func(f *feed) { f.publish(object{"after": timeline + "0"}) },
		"revoked":           func(f *feed) { f.publish(object{"revoked": "all"}) },
		"negative at":       func(f *feed) { f.publish(object{"revoked": []object{{"sub": "u", "at": -1}}}) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFeed()
				f.publish(nil)
				change(f)
				v := f.newVerifier(t)
				synctest.Wait()
				assert.Error(t, v.Revocations().Err)
				assert.NotContains(t, v.Revocations().Err.Error(), "s3cret")
				assert.False(t, v.RevocationsFresh())
				_, err := v.Verify(t.Context(), tokenOf(nil))
				assert.NoError(t, err)
			})
		})
	}
	f := newFeed()
	for name, change := range map[string]func(*verifier.RevocationsConfig){
		"no name":   func(c *verifier.RevocationsConfig) { c.Name = "" },
		"no secret": func(c *verifier.RevocationsConfig) { c.Secret = "" },
		"stale":     func(c *verifier.RevocationsConfig) { c.Stale = 4 * time.Second },
		"entries":   func(c *verifier.RevocationsConfig) { c.MaxEntries = -1 },
		"http":      func(c *verifier.RevocationsConfig) { c.URL = "http://auth.example.com" },
		"more":      func(c *verifier.RevocationsConfig) { c.MoreURLs = []string{"x"} },
	} {
		c := &verifier.RevocationsConfig{Name: "calendar", Secret: "s3cret", Client: &http.Client{Transport: f}}
		change(c)
		_, err := verifier.New(verifier.Config{Issuer: issuer, Audience: audience, Revocations: c})
		assert.Error(t, err, name)
		if name == "more" {
			assert.ErrorContains(t, err, "RevocationsConfig.MoreURLs[0] is not an absolute http URL")
		}
	}
}

// While the issuer is unavailable, known revocations apply, and the state reports their
// age.
func TestRevocationsStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		v := f.newVerifier(t, func(c *verifier.RevocationsConfig) {
			c.MoreURLs = []string{"https://two.example.com/feed", "https://three.example.com/feed"}
		})
		synctest.Wait()
		assert.False(t, v.RevocationsFresh(), "nothing is known yet")
		time.Sleep(3 * time.Second)
		f.publish(object{"revoked": []object{{"sub": "user-1", "at": time.Now().Unix()}}})
		time.Sleep(2500 * time.Millisecond)
		require.True(t, v.RevocationsFresh())
		revoked := tokenOf(object{"iat": time.Now().Unix() - 10})
		_, err := v.Verify(t.Context(), revoked)
		require.Equal(t, verifier.ReasonRevoked, refusedFor(err))

		f.down()
		time.Sleep(5 * time.Second)
		assert.True(t, v.RevocationsFresh())
		time.Sleep(10 * time.Second)
		s := v.Revocations()
		assert.False(t, s.Fresh)
		assert.Error(t, s.Err)
		assert.Greater(t, s.Behind, 10*time.Second)
		_, err = v.Verify(t.Context(), revoked)
		require.Equal(t, verifier.ReasonRevoked, refusedFor(err), "known revocations still apply")

		f.publish(nil) // an issuer that answers without news removes no revocation
		time.Sleep(3 * time.Second)
		assert.True(t, v.RevocationsFresh())
		f.publish(object{"iat": time.Now().Unix() - 20})
		f.mu.Lock()
		before := len(f.asked)
		f.mu.Unlock()
		time.Sleep(12 * time.Second)
		assert.False(t, v.RevocationsFresh(), "the iat of an isolated node is old")
		hosts := map[string]bool{}
		f.mu.Lock()
		asked := slices.Clone(f.asked)
		f.mu.Unlock()
		for _, asked := range asked[before:] {
			hosts[strings.Fields(asked)[0]] = true
		}
		assert.Len(t, hosts, 3, "all hosts are requested in turn")
		assert.Less(t, len(asked), 60, "not too many requests")
	})
}

// An issuer whose list is incomplete reports complete_since. A verifier that has read the
// revocations before is not affected.
func TestRevocationsIncomplete(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		began := time.Now().Unix()
		f.publish(object{"complete_since": began - 60})
		v := f.newVerifier(t)
		synctest.Wait()
		assert.False(t, v.RevocationsFresh())
		assert.Equal(t, began-60, v.Revocations().Since.Unix())
		keepFresh := func(d time.Duration, claims object) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Second) {
				f.publish(claims)
			}
		}
		keepFresh(1799*time.Second, object{"complete_since": began - 60})
		assert.False(t, v.RevocationsFresh())
		keepFresh(2*time.Second, object{"complete_since": began - 60})
		assert.True(t, v.RevocationsFresh(), "the window has passed")

		keepFresh(2*time.Second, object{"version": timeline + "3", "complete_since": time.Now().Unix() - 30})
		assert.True(t, v.RevocationsFresh(), "it was read before the issuer lost it")
		keepFresh(2*time.Second, object{"version": "ffff-1", "complete_since": time.Now().Unix()})
		assert.False(t, v.RevocationsFresh(), "unknown after a restore")
		since := v.Revocations().Since
		keepFresh(2*time.Second, object{"version": "ffff-2", "after": "ffff-1", "complete_since": 0})
		assert.Equal(t, since, v.Revocations().Since, "a continuation fills no gap before it")
		keepFresh(2*time.Second, object{"version": "ffff-1", "complete_since": 0})
		assert.Equal(t, since, v.Revocations().Since, "an older document, which is not applied, fills no gap")
		assert.False(t, v.RevocationsFresh())
		keepFresh(2*time.Second, object{"version": "ffff-2", "complete_since": 0})
		assert.True(t, v.RevocationsFresh(), "a complete list fills the gap")
	})
}

// A restored cluster may know of a suspension by its journal, which is not part of the
// feed. A verifier that knew of the suspension goes on refusing the client's tokens until
// the client is reinstated in the new timeline.
func TestAnotherTimelineRestoresNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		f.publish(nil)
		v := f.newVerifier(t)
		old := tokenOf(object{"client_id": "client-9"})
		suspended := func() bool { synctest.Wait(); _, err := v.Verify(t.Context(), old); return err != nil }
		require.False(t, suspended())
		client := func(lifted bool) []object {
			return []object{{"client_id": "client-9", "at": time.Now().Unix(), "lifted": lifted}}
		}
		f.publish(object{"version": timeline + "5", "revoked": client(false)})
		require.True(t, suspended())
		f.publish(object{"version": "ffff-3", "complete_since": time.Now().Unix(), "revoked": client(true)})
		require.True(t, suspended(), "the other timeline reinstated the client before the suspension")
		f.publish(object{"version": "ffff-4", "after": "ffff-3", "revoked": client(true)})
		require.False(t, suspended())
	})
}

func TestRevocationsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		list := func(n int) (all []object) {
			for i := range n {
				all = append(all, object{"grant_id": "g-" + string(rune('a'+i%26)) + time.Duration(i).String(), "at": time.Now().Unix()})
			}
			return all
		}
		f.publish(object{"revoked": list(1000)})
		v := f.newVerifier(t, func(c *verifier.RevocationsConfig) { c.MaxEntries = 1000 })
		synctest.Wait()
		assert.True(t, v.RevocationsFresh())
		f.publish(object{"version": timeline + "2", "revoked": list(1001)})
		synctest.Wait()
		s := v.Revocations()
		assert.Equal(t, 1000, s.Entries)
		assert.Equal(t, 1, s.Dropped)
		assert.False(t, s.Fresh, "one is missing")
		for range 1870 {
			time.Sleep(time.Second)
			f.publish(object{"version": timeline + "2"})
		}
		time.Sleep(time.Minute)
		f.publish(object{"version": timeline + "2"})
		time.Sleep(2 * time.Second)
		s = v.Revocations()
		assert.Zero(t, s.Entries, "revocations older than any token are dropped")
		assert.True(t, s.Fresh)
	})
}

// A cache hit checks revocations too, and allocates nothing.
func TestRevocationsOfCachedTokens(t *testing.T) {
	f := newFeed()
	f.publish(object{"revoked": []object{{"grant_id": "other", "at": time.Now().Unix()}}})
	v := f.newVerifier(t)
	require.Eventually(t, v.RevocationsFresh, 5*time.Second, time.Millisecond)
	good := tokenOf(nil)
	_, err := v.Verify(t.Context(), good)
	require.NoError(t, err)
	ctx := t.Context()
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := v.Verify(ctx, good); err != nil {
			t.Error(err)
		}
	}))
}

// A cached token is checked again when the feed changes, even if the change updates a
// known revocation and adds no entry.
func TestRevocationsReachCachedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		suspended := func(version string, at time.Time) {
			f.publish(object{"version": timeline + version, "revoked": []object{{"client_id": "client-1", "at": at.Unix()}}})
			synctest.Wait()
		}
		f.publish(nil)
		v := f.newVerifier(t)
		synctest.Wait()
		good := tokenOf(nil)
		accepted(t, v, good)
		suspended("2", time.Now().Add(-time.Minute))
		accepted(t, v, good)
		accepted(t, v, good)
		require.Equal(t, 1, v.Revocations().Entries)
		suspended("3", time.Now())
		require.Equal(t, 1, v.Revocations().Entries)
		assert.Equal(t, verifier.ReasonRevoked, reason(t, v, good))
	})
}

// A concurrent reader sees an entry completely or not at all while the table grows.
func TestRevocationsWhileTheyCome(t *testing.T) {
	f := newFeed()
	v := f.newVerifier(t)
	good, bad := tokenOf(object{"grant_id": "good"}), tokenOf(object{"grant_id": "bad"})
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		seen := false
		for {
			_, err := v.Verify(t.Context(), good)
			assert.NoError(t, err)
			_, err = v.Verify(t.Context(), bad)
			assert.False(t, seen && err == nil, "a revoked token stays revoked")
			seen = seen || err != nil
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	all := []object{{"grant_id": "bad", "at": time.Now().Unix() + 1}}
	for i := range 3000 {
		all = append(all, object{"sub": "u" + time.Duration(i).String(), "at": time.Now().Unix()}, object{"grant_id": "g" + time.Duration(i).String(), "at": time.Now().Unix()})
	}
	for n := 1; n <= len(all); n += 1000 {
		f.publish(object{"version": timeline + strconv.Itoa(n), "revoked": all[:n]})
		require.Eventually(t, func() bool { return v.Revocations().Entries >= n }, 10*time.Second, time.Millisecond)
	}
	close(stop)
	done.Wait()
	_, err := v.Verify(t.Context(), bad)
	assert.Equal(t, verifier.ReasonRevoked, refusedFor(err))
}
