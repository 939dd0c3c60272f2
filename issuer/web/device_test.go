package web_test

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
)

// exhaust lets an attacker at Ada's address guess until her name and that address are limited.
func (w *env) exhaust() {
	w.t.Helper()
	thief := w.browser()
	page := thief.get("/auth/sign-in")
	for i := range 10 {
		thief.signIn(page, "ada", fmt.Sprint("guess ", i))
	}
	for i := range 60 {
		thief.signIn(page, fmt.Sprint("user", i), "guess")
	}
	require.Equal(w.t, http.StatusTooManyRequests, thief.signIn(page, "ada", password).StatusCode)
	require.Equal(w.t, http.StatusTooManyRequests, thief.signIn(page, "bob", password).StatusCode)
}

// signOut signs the browser out with the page's button.
func (b *browser) signOut() {
	b.env.t.Helper()
	require.Equal(b.env.t, http.StatusSeeOther, b.post("/auth/sign-out", b.get("/").form(b.env.t, "/auth/sign-out")).StatusCode)
}

// TestNeighboursLockNobodyOut verifies that a user who shares an address with an attacker can
// sign in with a browser that was used before.
func TestNeighboursLockNobodyOut(t *testing.T) {
	w := newEnv(t)
	w.user("u-bob", "bob", "Bob")
	ada := w.signedIn()
	ada.signOut()
	w.exhaust()
	assert.Equal(t, http.StatusUnprocessableEntity, ada.signIn(ada.get("/auth/sign-in"), "ada", "mistyped").StatusCode)
	assert.Equal(t, http.StatusSeeOther, ada.signIn(ada.get("/auth/sign-in"), " ADA ", password).StatusCode)

	ada.signOut()
	page := ada.get("/auth/sign-in")
	assert.Equal(t, http.StatusTooManyRequests, ada.signIn(page, "bob", password).StatusCode, "the device is another user's")
	w.advance(179 * 24 * time.Hour)
	w.exhaust()
	assert.Equal(t, http.StatusSeeOther, ada.signIn(page, "ada", password).StatusCode, "just before the device expires")
	ada.signOut()
	w.advance(181 * 24 * time.Hour)
	w.exhaust()
	assert.Equal(t, http.StatusTooManyRequests, ada.signIn(page, "ada", password).StatusCode, "after the device has expired")
}

// TestSharedBrowser covers several users of one browser.
func TestSharedBrowser(t *testing.T) {
	w := newEnv(t)
	b := w.browser()
	names := []string{"one", "two", "three", "four", "five"}
	for _, name := range names {
		w.user("u-"+name, name, name)
		require.Equal(t, http.StatusSeeOther, b.signIn(b.get("/auth/sign-in"), name, password).StatusCode)
		b.signOut()
	}
	assert.Less(t, len(b.cookies["mintmark-device"]), 1000)
	assert.Equal(t, 3, strings.Count(b.cookies["mintmark-device"], "."))
	w.exhaust()
	for i, name := range names {
		want := http.StatusSeeOther
		if i == 0 {
			want = http.StatusTooManyRequests // the least recently used device was dropped
		}
		other := w.browser()
		other.cookies["mintmark-device"] = b.cookies["mintmark-device"]
		assert.Equal(t, want, other.signIn(other.get("/auth/sign-in"), name, password).StatusCode, name)
	}
}

// TestDeviceIsBounded verifies that a device permits few guesses, and doesn't reveal its user.
func TestDeviceIsBounded(t *testing.T) {
	w := newEnv(t)
	ada := w.signedIn()
	ada.signOut()
	stolen := ada.cookies["mintmark-device"]
	assert.NotContains(t, strings.ToLower(stolen), "ada")
	w.exhaust()

	thief := w.browser()
	thief.cookies["mintmark-device"] = stolen
	page := thief.get("/auth/sign-in")
	for i := range 10 {
		require.Equal(t, http.StatusUnprocessableEntity, thief.signIn(page, "ada", fmt.Sprint("guess ", i)).StatusCode)
	}
	hashed := len(w.hashed)
	assert.Equal(t, http.StatusTooManyRequests, thief.signIn(page, "ada", password).StatusCode)
	assert.Len(t, w.hashed, hashed)
	assert.NotContains(t, thief.cookies, "mintmark-device", "the device must be removed")
	thief.cookies["mintmark-device"] = stolen
	assert.Equal(t, http.StatusTooManyRequests, thief.signIn(page, "ada", password).StatusCode, "the removed device was accepted")

	w.advance(time.Minute) // the address is allowed another guess
	assert.Equal(t, http.StatusSeeOther, ada.signIn(ada.get("/auth/sign-in"), "ada", password).StatusCode)
	assert.NotEqual(t, stolen, ada.cookies["mintmark-device"])
	ada.signOut()
	w.exhaust()
	assert.Equal(t, http.StatusSeeOther, ada.signIn(ada.get("/auth/sign-in"), "ada", password).StatusCode, "with a new device")

	for name, value := range map[string]string{
		"garbage": "x", "forged": stolen[:len(stolen)-3] + "AAA", "long": strings.Repeat(stolen, 100), "dots": strings.Repeat(".", 1000),
		"another purpose": sealer{}.SealAttempt(make([]byte, 56)), "another length": sealer{}.SealDevice(make([]byte, 57)),
	} {
		thief.cookies["mintmark-device"] = value
		assert.Equal(t, http.StatusTooManyRequests, thief.signIn(page, "ada", password).StatusCode, name)
	}
}

// TestDevicesEndWithThePassword verifies that devices become invalid when anybody sets a new
// password, except in the browser that changed it.
func TestDevicesEndWithThePassword(t *testing.T) {
	for name, set := range map[string]func(w *env, ada *browser){
		"changed": func(w *env, ada *browser) {
			require.Equal(t, http.StatusSeeOther, ada.changePassword(password, another, another).StatusCode)
		},
		"reset": func(w *env, _ *browser) {
			w.must(&ledger.SetPassword{Actor: ledger.Actor{Operator: true}, User: "u-ada", Password: "hash of " + another})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.user("u-bob", "bob", "Bob")
			ada := w.signedIn()
			var collected []string
			for range 3 {
				collected = append(collected, w.signedIn().cookies["mintmark-device"])
			}
			collected = append(collected, ada.cookies["mintmark-device"])
			set(w, ada)
			w.exhaust()
			thief := w.browser()
			page := thief.get("/auth/sign-in")
			for _, one := range collected {
				thief.cookies["mintmark-device"] = one
				assert.Equal(t, http.StatusTooManyRequests, thief.signIn(page, "ada", "guess").StatusCode)
			}
			if name == "changed" {
				ada.signOut()
				assert.Equal(t, http.StatusSeeOther, ada.signIn(ada.get("/auth/sign-in"), "ada", another).StatusCode)
			}
			w.advance(time.Minute)
			again := w.browser()
			again.cookies["mintmark-device"] = collected[0]
			require.Equal(t, http.StatusSeeOther, again.signIn(again.get("/auth/sign-in"), "ada", another).StatusCode)
			assert.NotContains(t, again.cookies["mintmark-device"], ".", "the old device was kept")
			again.signOut()
			w.exhaust()
			assert.Equal(t, http.StatusSeeOther, again.signIn(again.get("/auth/sign-in"), "ada", another).StatusCode, "with the new device")
		})
	}
}

// TestDeviceOfANewerPassword verifies that a node which doesn't know a new password yet accepts
// it, and binds the device to it.
func TestDeviceOfANewerPassword(t *testing.T) {
	w := newEnv(t)
	w.user("u-bob", "bob", "Bob")
	w.lag()
	w.must(&ledger.SetPassword{Actor: ledger.Actor{Operator: true}, User: "u-ada", Password: "hash of " + another})
	ada := w.browser()
	require.Equal(t, http.StatusSeeOther, ada.signIn(ada.get("/auth/sign-in"), "ada", another).StatusCode)
	w.lagging = nil
	ada.signOut()
	w.exhaust()
	assert.Equal(t, http.StatusSeeOther, ada.signIn(ada.get("/auth/sign-in"), "ada", another).StatusCode)
}

// TestRightPasswordsAreBounded: each successful sign-in costs a hash and a session, and adds an
// event to the audit trail. The limit is by user, over all addresses.
func TestRightPasswordsAreBounded(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(b *browser, i int){
		"one browser":    func(*browser, int) {},
		"many addresses": func(b *browser, i int) { b.address = fmt.Sprintf("2001:db8:0:%x::1", i) },
		"many browsers":  func(b *browser, _ int) { delete(b.cookies, "mintmark-device") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.user("u-bob", "bob", "Bob")
			b := w.browser()
			var res answer
			n := 0
			for ; n < 1000; n++ {
				delete(b.cookies, "mintmark")
				move(b, n)
				if res = b.signIn(b.get("/auth/sign-in"), "ada", password); res.StatusCode != http.StatusSeeOther {
					break
				}
			}
			assert.Equal(t, 200, n)
			assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
			assert.Equal(t, "20", res.Header.Get("Retry-After"))
			assert.NotContains(t, b.cookies, "mintmark")
			assert.LessOrEqual(t, len(w.View().SessionsOf("u-ada", w.Now(), 1000)), 100)
			assert.Equal(t, http.StatusSeeOther, b.signIn(b.get("/auth/sign-in"), "bob", password).StatusCode)
			delete(b.cookies, "mintmark")
			w.advance(20 * time.Second)
			assert.Equal(t, http.StatusSeeOther, b.signIn(b.get("/auth/sign-in"), "ada", password).StatusCode)
		})
	}
}

// slowHasher takes a long time for wrong passwords.
type slowHasher struct {
	web.Passwords
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
		w := newEnv(t, func(c *web.Config) { slow.Passwords, c.Passwords = c.Passwords, slow })
		ada := w.signedIn()
		ada.signOut()
		var answered sync.WaitGroup
		for i := range 101 * runtime.NumCPU() {
			stranger := w.browser()
			stranger.address = fmt.Sprint(i)
			page := stranger.get("/auth/sign-in")
			answered.Go(func() { stranger.signIn(page, fmt.Sprint("nobody", i), "guess") })
		}
		synctest.Wait()
		assert.Equal(t, 100*runtime.NumCPU(), web.QueuedHashes(w.web))
		assert.Len(t, slow.begun, runtime.NumCPU())
		one := w.browser()
		one.address = "another"
		for range 11 {
			res := one.signIn(one.get("/auth/sign-in"), "ada", password)
			assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
			assert.NotEmpty(t, res.Header.Get("Retry-After"))
		}
		assert.Equal(t, http.StatusSeeOther, ada.signIn(ada.get("/auth/sign-in"), "ada", password).StatusCode)
		time.Sleep(6 * time.Second) // longer than waitPassword
		assert.Zero(t, web.QueuedHashes(w.web))
		close(slow.release)
		answered.Wait()
		assert.Equal(t, http.StatusSeeOther, one.signIn(one.get("/auth/sign-in"), "ada", password).StatusCode, "attempts that were not verified were counted")
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
				w := newEnv(t, func(c *web.Config) { slow.Passwords, c.Passwords = c.Passwords, slow })
				var answered sync.WaitGroup
				for i := range 200 * runtime.NumCPU() {
					stranger := w.browser()
					stranger.address = fmt.Sprintf(test.network, i%256)
					page := stranger.get("/auth/sign-in")
					answered.Go(func() { stranger.signIn(page, fmt.Sprint("nobody", i), "guess") })
				}
				synctest.Wait()
				waiting := min(50*runtime.NumCPU(), test.guesses-runtime.NumCPU())
				assert.Equal(t, waiting, web.QueuedHashes(w.web))
				newcomer := w.browser()
				form := newcomer.get("/auth/sign-in")
				var status int
				answered.Go(func() { status = newcomer.signIn(form, "ada", password).StatusCode })
				synctest.Wait()
				assert.Equal(t, waiting+1, web.QueuedHashes(w.web), "a sender from elsewhere must have a place")
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
			w := newEnv(t)
			thief := w.browser()
			page := thief.get("/auth/sign-in")
			guesses := 0
			for i := range 1200 {
				thief.address = fmt.Sprintf(test.network, i%256)
				if thief.signIn(page, fmt.Sprint("user", i), "guess").StatusCode == http.StatusUnprocessableEntity {
					guesses++
				}
			}
			assert.Equal(t, test.guesses, guesses)
			assert.Len(t, w.hashed, guesses)
			neighbour := w.browser()
			neighbour.address = "2001:db8:2::1"
			assert.Equal(t, http.StatusSeeOther, neighbour.signIn(neighbour.get("/auth/sign-in"), "ada", password).StatusCode)
			w.advance(time.Second)
			assert.Equal(t, http.StatusUnprocessableEntity, thief.signIn(page, "nobody", "guess").StatusCode)
		})
	}
}

// TestNeighboursLockNobodyOutElsewhere verifies the same for users of a provider, with
// guesses at passwords and forged responses of the provider.
func TestNeighboursLockNobodyOutElsewhere(t *testing.T) {
	w, p := newUpstreamEnv(t)
	ada := w.browser()
	require.Equal(t, "/", ada.signInUpstream(ada.get("/auth/sign-in"), p, "s-1").Header.Get("Location"))
	ada.signOut()
	w.exhaust()
	newcomer := w.browser()
	assert.Equal(t, "/", newcomer.signInUpstream(newcomer.get("/auth/sign-in"), p, "s-2").Header.Get("Location"), "guesses at passwords were counted as responses")

	thief := w.browser()
	back, refused := thief.goUpstream(thief.get("/auth/sign-in"), p, "s-3"), 0
	for range 61 {
		if thief.get(strings.Replace(back, "code=", "code=x", 1)).StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	assert.Equal(t, 1, refused)
	late := w.browser()
	assert.Equal(t, http.StatusTooManyRequests, late.signInUpstream(late.get("/auth/sign-in"), p, "s-4").StatusCode)
	assert.Equal(t, "/", ada.signInUpstream(ada.get("/auth/sign-in"), p, "s-1").Header.Get("Location"))
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
	w := newEnv(t)
	var all sync.WaitGroup
	slow := slowWriter{nil, make(chan struct{}, 10_000), make(chan struct{})}
	for range 2 * runtime.NumCPU() {
		thief := w.browser()
		form := thief.get("/auth/sign-in").form(t, "/auth/sign-in")
		form.Set("username", "ada")
		form.Set("password", "guess")
		r := httptest.NewRequest(http.MethodPost, "/auth/sign-in", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Test-Address", fmt.Sprint("192.0.2.", len(thief.cookies)))
		for name, value := range thief.cookies {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		mine := slow
		mine.ResponseRecorder = httptest.NewRecorder()
		all.Go(func() { w.handler.ServeHTTP(mine, r) })
		<-slow.begun
	}
	other := w.browser()
	assert.Equal(t, http.StatusSeeOther, other.signIn(other.get("/auth/sign-in"), "ada", password).StatusCode)
	close(slow.proceed)
	all.Wait()
}

// TestCarriedRequestIsBounded verifies that a form carries no longer request than the
// authorization step accepts.
func TestCarriedRequestIsBounded(t *testing.T) {
	w := newEnv(t)
	b := w.browser()
	form := b.get("/auth/sign-in").form(t, "/auth/sign-in")
	form.Set("next", strings.Repeat("'", 9000))
	form.Set("username", "ada")
	form.Set("password", password)
	page := b.post("/auth/sign-in", form)
	assert.Equal(t, http.StatusUnprocessableEntity, page.StatusCode)
	assert.Less(t, len(page.body), 15<<10)
}
