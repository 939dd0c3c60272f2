package authn_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestNeighboursLockNobodyOut verifies that a user who shares an address with an attacker can
// sign in with a browser that was used before.
func TestNeighboursLockNobodyOut(t *testing.T) {
	w := NewEnv(t)
	w.User("u-bob", "bob", "Bob")
	ada := w.SignedIn()
	ada.SignOut()
	w.Exhaust()
	assert.Equal(t, http.StatusUnprocessableEntity, ada.SignIn(ada.Get("/auth/sign-in"), "ada", "mistyped").StatusCode)
	assert.Equal(t, http.StatusSeeOther, ada.SignIn(ada.Get("/auth/sign-in"), " ADA ", Password).StatusCode)

	ada.SignOut()
	page := ada.Get("/auth/sign-in")
	assert.Equal(t, http.StatusTooManyRequests, ada.SignIn(page, "bob", Password).StatusCode, "the device is another user's")
	w.Advance(179 * 24 * time.Hour)
	w.Exhaust()
	assert.Equal(t, http.StatusSeeOther, ada.SignIn(page, "ada", Password).StatusCode, "just before the device expires")
	ada.SignOut()
	w.Advance(181 * 24 * time.Hour)
	w.Exhaust()
	assert.Equal(t, http.StatusTooManyRequests, ada.SignIn(page, "ada", Password).StatusCode, "after the device has expired")
}

// TestSharedBrowser covers several users of one browser.
func TestSharedBrowser(t *testing.T) {
	w := NewEnv(t)
	b := w.Browser()
	names := []string{"one", "two", "three", "four", "five"}
	for _, name := range names {
		w.User("u-"+name, name, name)
		require.Equal(t, http.StatusSeeOther, b.SignIn(b.Get("/auth/sign-in"), name, Password).StatusCode)
		b.SignOut()
	}
	assert.Less(t, len(b.Cookies["mintmark-device"]), 1000)
	assert.Equal(t, 3, strings.Count(b.Cookies["mintmark-device"], "."))
	w.Exhaust()
	for i, name := range names {
		want := http.StatusSeeOther
		if i == 0 {
			want = http.StatusTooManyRequests // the least recently used device was dropped
		}
		other := w.Browser()
		other.Cookies["mintmark-device"] = b.Cookies["mintmark-device"]
		assert.Equal(t, want, other.SignIn(other.Get("/auth/sign-in"), name, Password).StatusCode, name)
	}
}

// TestDeviceIsBounded verifies that a device permits few guesses, and doesn't reveal its user.
func TestDeviceIsBounded(t *testing.T) {
	w := NewEnv(t)
	ada := w.SignedIn()
	ada.SignOut()
	stolen := ada.Cookies["mintmark-device"]
	assert.NotContains(t, strings.ToLower(stolen), "ada")
	w.Exhaust()

	thief := w.Browser()
	thief.Cookies["mintmark-device"] = stolen
	page := thief.Get("/auth/sign-in")
	for i := range 10 {
		require.Equal(t, http.StatusUnprocessableEntity, thief.SignIn(page, "ada", fmt.Sprint("guess ", i)).StatusCode)
	}
	hashed := len(w.Hashed)
	assert.Equal(t, http.StatusTooManyRequests, thief.SignIn(page, "ada", Password).StatusCode)
	assert.Len(t, w.Hashed, hashed)
	assert.NotContains(t, thief.Cookies, "mintmark-device", "the device must be removed")
	thief.Cookies["mintmark-device"] = stolen
	assert.Equal(t, http.StatusTooManyRequests, thief.SignIn(page, "ada", Password).StatusCode, "the removed device was accepted")

	w.Advance(time.Minute) // the address is allowed another guess
	assert.Equal(t, http.StatusSeeOther, ada.SignIn(ada.Get("/auth/sign-in"), "ada", Password).StatusCode)
	assert.NotEqual(t, stolen, ada.Cookies["mintmark-device"])
	ada.SignOut()
	w.Exhaust()
	assert.Equal(t, http.StatusSeeOther, ada.SignIn(ada.Get("/auth/sign-in"), "ada", Password).StatusCode, "with a new device")

	for name, value := range map[string]string{
		"garbage": "x", "forged": stolen[:len(stolen)-3] + "AAA", "long": strings.Repeat(stolen, 100), "dots": strings.Repeat(".", 1000),
		"another purpose": Sealer{}.SealAttempt(make([]byte, 56)), "another length": Sealer{}.SealDevice(make([]byte, 57)),
	} {
		thief.Cookies["mintmark-device"] = value
		assert.Equal(t, http.StatusTooManyRequests, thief.SignIn(page, "ada", Password).StatusCode, name)
	}
}

// TestDevicesEndWithThePassword verifies that devices become invalid when anybody sets a new
// password, except in the browser that changed it.
func TestDevicesEndWithThePassword(t *testing.T) {
	for name, set := range map[string]func(w *Env, ada *Browser){
		"changed": func(w *Env, ada *Browser) {
			require.Equal(t, http.StatusSeeOther, ada.ChangePassword(Password, Another, Another).StatusCode)
		},
		"reset": func(w *Env, _ *Browser) {
			w.Must(&ledger.SetPassword{Actor: ledger.Actor{Operator: true}, User: "u-ada", Password: "hash of " + Another})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewEnv(t)
			w.User("u-bob", "bob", "Bob")
			ada := w.SignedIn()
			var collected []string
			for range 3 {
				collected = append(collected, w.SignedIn().Cookies["mintmark-device"])
			}
			collected = append(collected, ada.Cookies["mintmark-device"])
			set(w, ada)
			w.Exhaust()
			thief := w.Browser()
			page := thief.Get("/auth/sign-in")
			for _, one := range collected {
				thief.Cookies["mintmark-device"] = one
				assert.Equal(t, http.StatusTooManyRequests, thief.SignIn(page, "ada", "guess").StatusCode)
			}
			if name == "changed" {
				ada.SignOut()
				assert.Equal(t, http.StatusSeeOther, ada.SignIn(ada.Get("/auth/sign-in"), "ada", Another).StatusCode)
			}
			w.Advance(time.Minute)
			again := w.Browser()
			again.Cookies["mintmark-device"] = collected[0]
			require.Equal(t, http.StatusSeeOther, again.SignIn(again.Get("/auth/sign-in"), "ada", Another).StatusCode)
			assert.NotContains(t, again.Cookies["mintmark-device"], ".", "the old device was kept")
			again.SignOut()
			w.Exhaust()
			assert.Equal(t, http.StatusSeeOther, again.SignIn(again.Get("/auth/sign-in"), "ada", Another).StatusCode, "with the new device")
		})
	}
}

// TestDeviceOfANewerPassword verifies that a node which doesn't know a new password yet accepts
// it, and binds the device to it.
func TestDeviceOfANewerPassword(t *testing.T) {
	w := NewEnv(t)
	w.User("u-bob", "bob", "Bob")
	w.Lag()
	w.Must(&ledger.SetPassword{Actor: ledger.Actor{Operator: true}, User: "u-ada", Password: "hash of " + Another})
	ada := w.Browser()
	require.Equal(t, http.StatusSeeOther, ada.SignIn(ada.Get("/auth/sign-in"), "ada", Another).StatusCode)
	w.Lagging = nil
	ada.SignOut()
	w.Exhaust()
	assert.Equal(t, http.StatusSeeOther, ada.SignIn(ada.Get("/auth/sign-in"), "ada", Another).StatusCode)
}

// TestRightPasswordsAreBounded: each successful sign-in costs a hash and a session, and adds an
// event to the audit trail. The limit is by user, over all addresses.
func TestRightPasswordsAreBounded(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(b *Browser, i int){
		"one browser":    func(*Browser, int) {},
		"many addresses": func(b *Browser, i int) { b.Address = fmt.Sprintf("2001:db8:0:%x::1", i) },
		"many browsers":  func(b *Browser, _ int) { delete(b.Cookies, "mintmark-device") },
	} {
		t.Run(name, func(t *testing.T) {
			w := NewEnv(t)
			w.User("u-bob", "bob", "Bob")
			b := w.Browser()
			var res Answer
			n := 0
			for ; n < 1000; n++ {
				delete(b.Cookies, "mintmark")
				move(b, n)
				if res = b.SignIn(b.Get("/auth/sign-in"), "ada", Password); res.StatusCode != http.StatusSeeOther {
					break
				}
			}
			assert.Equal(t, 200, n)
			assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
			assert.Equal(t, "20", res.Header.Get("Retry-After"))
			assert.NotContains(t, b.Cookies, "mintmark")
			assert.LessOrEqual(t, len(w.View().SessionsOf("u-ada", w.Now(), 1000)), 100)
			assert.Equal(t, http.StatusSeeOther, b.SignIn(b.Get("/auth/sign-in"), "bob", Password).StatusCode)
			delete(b.Cookies, "mintmark")
			w.Advance(20 * time.Second)
			assert.Equal(t, http.StatusSeeOther, b.SignIn(b.Get("/auth/sign-in"), "ada", Password).StatusCode)
		})
	}
}

// slowHasher takes a long time for wrong passwords.
type slowHasher struct {
	authn.Passwords
	begun, release chan struct{}
}

func (s *slowHasher) Check(ctx context.Context, hash, password string, dearest []ledger.HashCost) (bool, error) {
	if password != "guess" {
		return s.Passwords.Check(ctx, hash, password, dearest)
	}
	s.begun <- struct{}{}
	<-s.release
	return false, nil
}

// TestUnauthenticatedWaitInHashQueue verifies that the number of unknown senders waiting for a
// hash is limited, and that known users don't wait for them.
func TestUnauthenticatedWaitInHashQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowHasher{begun: make(chan struct{}, 10_000), release: make(chan struct{})}
		w := NewEnv(t, func(c *web.Config) { slow.Passwords, c.Passwords = c.Passwords, slow })
		ada := w.SignedIn()
		ada.SignOut()
		var answered sync.WaitGroup
		for i := range 101 * runtime.NumCPU() {
			stranger := w.Browser()
			stranger.Address = fmt.Sprint(i)
			page := stranger.Get("/auth/sign-in")
			answered.Go(func() { stranger.SignIn(page, fmt.Sprint("nobody", i), "guess") })
		}
		synctest.Wait()
		assert.Equal(t, 100*runtime.NumCPU(), authn.QueuedHashes(w.Web.Prover))
		assert.Len(t, slow.begun, runtime.NumCPU())
		one := w.Browser()
		one.Address = "another"
		for range 11 {
			res := one.SignIn(one.Get("/auth/sign-in"), "ada", Password)
			assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
			assert.NotEmpty(t, res.Header.Get("Retry-After"))
		}
		assert.Equal(t, http.StatusSeeOther, ada.SignIn(ada.Get("/auth/sign-in"), "ada", Password).StatusCode)
		time.Sleep(6 * time.Second) // longer than WaitPassword
		assert.Zero(t, authn.QueuedHashes(w.Web.Prover))
		close(slow.release)
		answered.Wait()
		assert.Equal(t, http.StatusSeeOther, one.SignIn(one.Get("/auth/sign-in"), "ada", Password).StatusCode, "attempts that were not verified were counted")
	})
}

// households have an IPv6 /56 or a wider prefix: 256 networks, or thousands.
var households = map[string]struct {
	network string // with a byte to fill in
	guesses int    // number of attempts in a burst from the whole prefix
}{
	"a /56": {"2001:db8:1:%x::1", 4 * 60},
	"a /48": {"2001:db8:1:%x00::1", 16 * 60},
}

// TestOneHouseholdLeavesRoom verifies that one household can't fill the queue, however many
// networks it sends from.
func TestOneHouseholdLeavesRoom(t *testing.T) {
	t.Parallel()
	for name, test := range households {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow := &slowHasher{begun: make(chan struct{}, 10_000), release: make(chan struct{})}
				w := NewEnv(t, func(c *web.Config) { slow.Passwords, c.Passwords = c.Passwords, slow })
				var answered sync.WaitGroup
				for i := range 200 * runtime.NumCPU() {
					stranger := w.Browser()
					stranger.Address = fmt.Sprintf(test.network, i%256)
					page := stranger.Get("/auth/sign-in")
					answered.Go(func() { stranger.SignIn(page, fmt.Sprint("nobody", i), "guess") })
				}
				synctest.Wait()
				waiting := min(50*runtime.NumCPU(), test.guesses-runtime.NumCPU())
				assert.Equal(t, waiting, authn.QueuedHashes(w.Web.Prover))
				newcomer := w.Browser()
				form := newcomer.Get("/auth/sign-in")
				var status int
				answered.Go(func() { status = newcomer.SignIn(form, "ada", Password).StatusCode })
				synctest.Wait()
				assert.Equal(t, waiting+1, authn.QueuedHashes(w.Web.Prover), "a sender from elsewhere must have a place")
				close(slow.release)
				answered.Wait()
				assert.Equal(t, http.StatusSeeOther, status)
			})
		})
	}
}

// TestHouseholdsAreBounded verifies that attempts from all networks of a household are counted
// together.
func TestHouseholdsAreBounded(t *testing.T) {
	t.Parallel()
	for name, test := range households {
		t.Run(name, func(t *testing.T) {
			w := NewEnv(t)
			thief := w.Browser()
			page := thief.Get("/auth/sign-in")
			guesses := 0
			for i := range 1200 {
				thief.Address = fmt.Sprintf(test.network, i%256)
				if thief.SignIn(page, fmt.Sprint("user", i), "guess").StatusCode == http.StatusUnprocessableEntity {
					guesses++
				}
			}
			assert.Equal(t, test.guesses, guesses)
			assert.Len(t, w.Hashed, guesses)
			neighbour := w.Browser()
			neighbour.Address = "2001:db8:2::1"
			assert.Equal(t, http.StatusSeeOther, neighbour.SignIn(neighbour.Get("/auth/sign-in"), "ada", Password).StatusCode)
			w.Advance(time.Second)
			assert.Equal(t, http.StatusUnprocessableEntity, thief.SignIn(page, "nobody", "guess").StatusCode)
		})
	}
}

// TestNeighboursLockNobodyOutElsewhere verifies the same for users of a provider, with
// guesses at passwords and forged responses of the provider.
func TestNeighboursLockNobodyOutElsewhere(t *testing.T) {
	w, p := NewUpstreamEnv(t)
	ada := w.Browser()
	require.Equal(t, "/", ada.SignInUpstream(ada.Get("/auth/sign-in"), p, "s-1").Header.Get("Location"))
	ada.SignOut()
	w.Exhaust()
	newcomer := w.Browser()
	assert.Equal(t, "/", newcomer.SignInUpstream(newcomer.Get("/auth/sign-in"), p, "s-2").Header.Get("Location"), "guesses at passwords were counted as responses")

	thief := w.Browser()
	back, refused := thief.GoUpstream(thief.Get("/auth/sign-in"), p, "s-3"), 0
	for range 61 {
		if thief.Get(strings.Replace(back, "code=", "code=x", 1)).StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	assert.Equal(t, 1, refused)
	late := w.Browser()
	assert.Equal(t, http.StatusTooManyRequests, late.SignInUpstream(late.Get("/auth/sign-in"), p, "s-4").StatusCode)
	assert.Equal(t, "/", ada.SignInUpstream(ada.Get("/auth/sign-in"), p, "s-1").Header.Get("Location"))
}

// A slowWriter is a client that reads no response until it is released.
type slowWriter struct {
	*httptest.ResponseRecorder
	begun   chan struct{}
	proceed chan struct{}
}

func (s slowWriter) Write(b []byte) (int, error) {
	s.begun <- struct{}{}
	<-s.proceed
	return s.ResponseRecorder.Write(b)
}

// TestSlowReadersBlockNoHashing verifies that a slow reader doesn't occupy a place in the queue.
func TestSlowReadersBlockNoHashing(t *testing.T) {
	w := NewEnv(t)
	var all sync.WaitGroup
	slow := slowWriter{nil, make(chan struct{}, 10_000), make(chan struct{})}
	for range 2 * runtime.NumCPU() {
		thief := w.Browser()
		form := thief.Get("/auth/sign-in").Form(t, "/auth/sign-in")
		form.Set("username", "ada")
		form.Set("password", "guess")
		r := httptest.NewRequest(http.MethodPost, "/auth/sign-in", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Test-Address", fmt.Sprint("192.0.2.", len(thief.Cookies)))
		for name, value := range thief.Cookies {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		mine := slow
		mine.ResponseRecorder = httptest.NewRecorder()
		all.Go(func() { w.Handler.ServeHTTP(mine, r) })
		<-slow.begun
	}
	other := w.Browser()
	assert.Equal(t, http.StatusSeeOther, other.SignIn(other.Get("/auth/sign-in"), "ada", Password).StatusCode)
	close(slow.proceed)
	all.Wait()
}

// TestCarriedRequestIsBounded verifies that a form carries no longer request than the
// authorization step accepts.
func TestCarriedRequestIsBounded(t *testing.T) {
	w := NewEnv(t)
	b := w.Browser()
	form := b.Get("/auth/sign-in").Form(t, "/auth/sign-in")
	form.Set("next", strings.Repeat("'", 9000))
	form.Set("username", "ada")
	form.Set("password", Password)
	page := b.Post("/auth/sign-in", form)
	assert.Equal(t, http.StatusUnprocessableEntity, page.StatusCode)
	assert.Less(t, len(page.Text), 15<<10)
}
