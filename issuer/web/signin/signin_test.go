package signin_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

func TestSignIn(t *testing.T) {
	t.Run("AZ50 the password is answered 303", func(t *testing.T) {
		w := NewEnv(t)
		b := w.Browser()
		res := b.SignIn(b.Get("/auth/sign-in"), "ada", Password)
		assert.Equal(t, http.StatusSeeOther, res.StatusCode)
		assert.Equal(t, "/", res.Header.Get("Location"))
		assert.Empty(t, res.Text)
	})
	t.Run("the name's case and spaces around it do not matter", func(t *testing.T) {
		w := NewEnv(t)
		b := w.Browser()
		assert.Equal(t, http.StatusSeeOther, b.SignIn(b.Get("/auth/sign-in"), "  ADA ", Password).StatusCode)
	})
	t.Run("who is signed in goes to the account", func(t *testing.T) {
		res := NewEnv(t).SignedIn().Get("/auth/sign-in")
		assert.Equal(t, http.StatusSeeOther, res.StatusCode)
		assert.Equal(t, "/", res.Header.Get("Location"))
	})
	t.Run("a new session id each time, and the old one ends", func(t *testing.T) {
		w := NewEnv(t)
		b := w.Browser()
		page := b.Get("/auth/sign-in")
		b.SetSession("mmx_fixed-by-somebody", 1)
		require.Equal(t, http.StatusSeeOther, b.SignIn(page, "ada", Password).StatusCode)
		first := b.Session()
		assert.NotContains(t, first, "fixed")
		require.Equal(t, http.StatusSeeOther, b.SignIn(page, "ada", Password).StatusCode)
		second := b.Session()
		assert.NotEqual(t, first, second)
		assert.Nil(t, w.View().Session(credential.SessionDigest(first)))
		assert.NotNil(t, w.View().Session(credential.SessionDigest(second)))
	})
	t.Run("a browser's name can hold any bytes", func(t *testing.T) {
		w := NewEnv(t)
		b := w.Browser()
		b.Header.Set("User-Agent", "Odd\xff\xfe/1 "+strings.Repeat("é", 5000))
		require.Equal(t, http.StatusSeeOther, b.SignIn(b.Get("/auth/sign-in"), "ada", Password).StatusCode)
		agent := w.View().Session(credential.SessionDigest(b.Session())).Agent
		assert.True(t, strings.HasPrefix(agent, "Odd/1 éé"), agent)
		assert.LessOrEqual(t, len(agent), 200)
	})
}

var formKeyed = regexp.MustCompile(`name="token" value="[^"]*"|value="[^"]*" autocomplete="username"`)

// TestSignInTellsNothing covers AZ54: the response doesn't reveal whether an account
// exists, and a password is hashed in every case.
func TestSignInTellsNothing(t *testing.T) {
	w := NewEnv(t)
	w.Must(&ledger.PutUser{ID: "u-upstream", Username: "upstream"})
	w.User("u-gone", "gone", "Gone")
	w.Must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-gone", State: ledger.Disable})
	w.Must(&ledger.PutUser{ID: "u-damaged", Username: "damaged", Password: "not a hash"})

	bodies := map[string]string{}
	for _, name := range []string{"ada", "nobody", "upstream", "gone", "damaged", "x\xff\x00"} {
		b := w.Browser()
		b.Address = name // avoids the limits
		page := b.Get(At(Good()))
		w.Hashed = nil
		w.PacedViews.Store(0)
		res := b.SignIn(page, name, "a wrong password")
		t.Run("AZ54 "+strconv.Quote(name), func(t *testing.T) {
			assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			assert.Len(t, w.Hashed, 1, "the number of hashes must be the same for every account")
			assert.EqualValues(t, 1, w.PacedViews.Load(), "a request without a session must use ViewPaced")
			assert.Contains(t, res.Text, "Wrong username or password.")
			assert.Contains(t, res.Text, `role="alert"`)
			assert.Empty(t, res.Cookies())
		})
		bodies[formKeyed.ReplaceAllString(res.Text, "")] = name
	}
	assert.Len(t, bodies, 1, "all responses must be equal")

	b := w.Browser()
	assert.Equal(t, http.StatusUnprocessableEntity, b.SignIn(b.Get("/auth/sign-in"), "gone", Password).StatusCode, "the correct password of a disabled account")
}

func TestSignInKeepsTheName(t *testing.T) {
	w := NewEnv(t)
	b := w.Browser()
	res := b.SignIn(b.Get(At(Good())), "Ada", "wrong")
	assert.Contains(t, res.Text, `value="Ada"`)
	assert.Contains(t, res.Text, "The calendar app")
	assert.NotContains(t, res.Text, "wrong\"")
	in := b.SignIn(res, "Ada", Password)
	assert.Equal(t, http.StatusSeeOther, in.StatusCode)
	assert.True(t, strings.HasPrefix(in.Header.Get("Location"), "/auth/oauth2/authorize?"))
}

func TestSignInRefusals(t *testing.T) {
	for _, test := range []struct {
		name, username, password string
		status                   int
		says                     string
	}{
		{"no name", "", Password, 422, "Enter your username"},
		{"no password", "ada", "", 422, "Enter your username"},
		{"a long name", strings.Repeat("a", 201), Password, 422, "Wrong username or password"},
		{"a long password", "ada", strings.Repeat("p", 1025), 422, "Wrong username or password"},
		{"a huge form", "ada", strings.Repeat("p", 70_000), 413, "Too much was sent"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := NewEnv(t)
			b := w.Browser()
			res := b.SignIn(b.Get("/auth/sign-in"), test.username, test.password)
			assert.Equal(t, test.status, res.StatusCode)
			assert.Contains(t, res.Text, test.says)
			assert.Empty(t, w.Hashed)
		})
	}
	t.Run("a form of another browser", func(t *testing.T) {
		// Another site must not be able to sign the browser in to an attacker's account.
		w := NewEnv(t)
		theirs := w.Browser().Get("/auth/sign-in")
		for name, b := range map[string]*Browser{"without a cookie": w.Browser(), "with its own": w.Browser()} {
			if name == "with its own" {
				b.Get("/auth/sign-in")
			}
			res := b.SignIn(theirs, "ada", Password)
			assert.Equal(t, http.StatusForbidden, res.StatusCode, name)
			assert.Contains(t, res.Text, "Sign in again")
			assert.Empty(t, w.Hashed)
			assert.Equal(t, http.StatusSeeOther, b.SignIn(res, "ada", Password).StatusCode, "the redisplayed form must work")
			w.Hashed = nil
		}
	})
	t.Run("another request than the page carried", func(t *testing.T) {
		w := NewEnv(t)
		b := w.Browser()
		form := b.Get(At(Good())).Form(t, "/auth/sign-in")
		res := b.Post("/auth/sign-in", With(form, "next", "client_id=other", "username", "ada", "password", Password))
		assert.Equal(t, http.StatusForbidden, res.StatusCode)
	})
	t.Run("a field twice", func(t *testing.T) {
		w := NewEnv(t)
		b := w.Browser()
		form := b.Get("/auth/sign-in").Form(t, "/auth/sign-in")
		form["username"] = []string{"ada", "bob"}
		assert.Equal(t, http.StatusBadRequest, b.Post("/auth/sign-in", form).StatusCode)
	})
	t.Run("no leader", func(t *testing.T) {
		w := NewEnv(t)
		b := w.Browser()
		page := b.Get("/auth/sign-in")
		w.NoLeader = true
		for _, guess := range []string{Password, "wrong"} {
			res := b.SignIn(page, "ada", guess)
			assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
			assert.NotEmpty(t, res.Header.Get("Retry-After"))
			assert.NotContains(t, b.Cookies, "mintmark")
		}
	})
	t.Run("nowhere to hash", func(t *testing.T) {
		busy := checker(func(context.Context, string, string) (bool, error) { return false, context.DeadlineExceeded })
		w := NewEnv(t, func(c *web.Config) { c.Passwords = busy })
		b := w.Browser()
		res := b.SignIn(b.Get("/auth/sign-in"), "ada", Password)
		assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
		assert.NotEmpty(t, res.Header.Get("Retry-After"))
	})
}

type checker func(ctx context.Context, hash, password string) (bool, error)

func (c checker) Check(ctx context.Context, hash, password string, _ []ledger.HashCost) (bool, error) {
	return c(ctx, hash, password)
}

func (checker) Hash(context.Context, string) (string, error) { return "", context.DeadlineExceeded }

// TestSignInOnALaggingNode verifies that a node that lags accepts a password that it
// doesn't know yet, and refuses one that was changed.
func TestSignInOnALaggingNode(t *testing.T) {
	t.Run("a new user", func(t *testing.T) {
		w := NewEnv(t)
		w.Lag()
		w.User("u-new", "new", "New")
		b := w.Browser()
		assert.Equal(t, http.StatusSeeOther, b.SignIn(b.Get("/auth/sign-in"), "new", Password).StatusCode)
	})
	t.Run("an old password", func(t *testing.T) {
		w := NewEnv(t)
		w.Lag()
		w.Must(&ledger.SetPassword{Actor: ledger.Actor{Operator: true}, User: "u-ada", Password: "another hash"})
		b := w.Browser()
		res := b.SignIn(b.Get("/auth/sign-in"), "ada", Password)
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
		assert.Contains(t, res.Text, "Wrong username or password")
		assert.NotContains(t, b.Cookies, "mintmark")
	})
}

// TestSignInWithArgon2 uses the real hasher, which the other tests replace.
func TestSignInWithArgon2(t *testing.T) {
	w := NewEnv(t, func(c *web.Config) { c.Passwords = nil })
	b := w.Browser()
	page := b.Get("/auth/sign-in")
	assert.Equal(t, http.StatusUnprocessableEntity, b.SignIn(page, "ada", "wrong").StatusCode)
	assert.Equal(t, http.StatusUnprocessableEntity, b.SignIn(page, "nobody", Password).StatusCode)
	assert.Equal(t, http.StatusSeeOther, b.SignIn(page, "ada", Password).StatusCode)
}

func TestAttempts(t *testing.T) {
	w := NewEnv(t)
	thief := w.Browser()
	thief.Address = "203.0.113.9"
	page := thief.Get("/auth/sign-in")
	for i := range 10 {
		require.Equal(t, 422, thief.SignIn(page, "ada", fmt.Sprint("guess ", i)).StatusCode)
	}
	hashed := len(w.Hashed)
	res := thief.SignIn(page, "ADA", Password)
	assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
	assert.Equal(t, "10", res.Header.Get("Retry-After"))
	assert.Contains(t, res.Text, "Too many attempts. Try again in 10 seconds.")
	assert.Len(t, w.Hashed, hashed, "a correct guess was verified beyond the limit")

	owner := w.Browser()
	assert.Equal(t, http.StatusSeeOther, owner.SignIn(owner.Get("/auth/sign-in"), "ada", Password).StatusCode, "the owner was locked out at another address")
	assert.Equal(t, 422, thief.SignIn(page, "bob", "guess").StatusCode, "another account has its own count")

	w.Advance(10 * time.Second)
	assert.Equal(t, 422, thief.SignIn(page, "ada", "guess").StatusCode)
	assert.Equal(t, http.StatusTooManyRequests, thief.SignIn(page, "ada", "guess").StatusCode)

	sprayer := w.Browser()
	sprayer.Address = "2001:db8::1"
	page = sprayer.Get("/auth/sign-in")
	refused := 0
	for i := range 70 {
		sprayer.Address = fmt.Sprintf("2001:db8::%x", i+1) // addresses of one subscriber
		if sprayer.SignIn(page, fmt.Sprint("user", i), "Password1").StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	assert.Equal(t, 10, refused, "one password on many accounts")

	right := w.Browser()
	right.Address = "198.51.100.1"
	for range 65 { // an office with many users behind one address
		page := right.Get("/auth/sign-in")
		if page.StatusCode == http.StatusSeeOther {
			right.Cookies = map[string]string{}
			page = right.Get("/auth/sign-in")
		}
		require.Equal(t, http.StatusSeeOther, right.SignIn(page, "ada", Password).StatusCode, "a correct password was counted")
	}
}

// TestGuessesFromEverywhere verifies that guesses at one account are limited over all
// addresses, whether or not the account exists, and that a browser in which the user has
// signed in before still works.
func TestGuessesFromEverywhere(t *testing.T) {
	w := NewEnv(t)
	known := w.SignedIn()
	known.SignOut()
	thief := w.Browser()
	page := thief.Get("/auth/sign-in")
	guess := func(name string, i int) int {
		thief.Address = fmt.Sprintf("203.0.%d.%d", i/250, i%250)
		return thief.SignIn(page, name, "a wrong guess").StatusCode
	}
	for _, name := range []string{"ada", "nobody"} {
		for i := range 100 {
			require.Equal(t, 422, guess(name, i), "%s, guess %d", name, i)
		}
		hashed := len(w.Hashed)
		for i := range 50 {
			require.Equal(t, http.StatusTooManyRequests, guess(strings.ToUpper(name), 100+i), name)
		}
		assert.Len(t, w.Hashed, hashed, "a guess was verified beyond the limit")
	}
	stranger := w.Browser()
	stranger.Address = "198.51.100.1"
	assert.Equal(t, http.StatusTooManyRequests, stranger.SignIn(stranger.Get("/auth/sign-in"), "ada", Password).StatusCode)
	for range 5 {
		assert.Equal(t, http.StatusSeeOther, known.SignIn(known.Get("/auth/sign-in"), "ada", Password).StatusCode)
		known.SignOut()
	}
	w.Advance(time.Hour)
	for _, name := range []string{"ada", "nobody"} {
		decided := 0
		for i := range 50 {
			if guess(name, 300+i) == 422 {
				decided++
			}
		}
		assert.Equal(t, 20, decided, name)
	}
}

func TestSignOut(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	id := b.Session()
	page := b.Get("/")

	w.NoLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, b.Post("/auth/sign-out", page.Form(t, "/auth/sign-out")).StatusCode)
	assert.Contains(t, b.Cookies, "mintmark", "the session is needed to try again")
	w.NoLeader = false

	assert.Equal(t, http.StatusForbidden, b.Post("/auth/sign-out", With(page.Form(t, "/auth/sign-out"), "token", "x")).StatusCode)
	assert.Equal(t, http.StatusMethodNotAllowed, b.Get("/auth/sign-out").StatusCode)
	assert.NotNil(t, w.View().Session(credential.SessionDigest(id)))

	res := b.Post("/auth/sign-out", page.Form(t, "/auth/sign-out"))
	assert.Equal(t, http.StatusSeeOther, res.StatusCode)
	assert.Contains(t, b.Get(res.Header.Get("Location")).Text, "You’re signed out. Apps that you connected stay connected.")
	assert.NotContains(t, b.Cookies, "mintmark")
	assert.Nil(t, w.View().Session(credential.SessionDigest(id)))
	assert.Equal(t, "/auth/sign-in", b.Get("/").Header.Get("Location"))

	b.SetSession(id, 1)
	assert.Equal(t, http.StatusSeeOther, b.Get("/").StatusCode, "the session has ended")
	assert.Equal(t, http.StatusSeeOther, b.Post("/auth/sign-out", page.Form(t, "/auth/sign-out")).StatusCode, "the same form twice")

	other := w.SignedIn()
	res = other.Post("/auth/sign-out", other.Get(At(Good())).Form(t, "/auth/sign-out"))
	again := other.Get(res.Header.Get("Location"))
	assert.Contains(t, again.Text, "to continue to <b><bdi>The calendar app</bdi>")
}

// An upgradingHasher is the real hasher, and counts what it computes.
type upgradingHasher struct {
	*credential.Hasher
	checked, hashed int
}

func (h *upgradingHasher) Check(ctx context.Context, hash, password string, dearest []ledger.HashCost) (bool, error) {
	h.checked++
	return h.Hasher.Check(ctx, hash, password, dearest)
}

func (h *upgradingHasher) Hash(ctx context.Context, password string) (string, error) {
	h.hashed++
	return h.Hasher.Hash(ctx, password)
}

// TestSignInUpgradesAnImportedHash signs in with the hash of another system: the first
// sign-in replaces it, the second one finds an own hash.
func TestSignInUpgradesAnImportedHash(t *testing.T) {
	// bcrypt of "correct horse", by libxcrypt
	const imported = "$2y$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"
	cost, fault := credential.ForeignHash(imported)
	require.Empty(t, fault)
	put := &ledger.PutUser{ID: "u-kim", Username: "kim", Password: imported, PasswordCost: cost}
	setUp := func(t *testing.T) (*Env, *upgradingHasher) {
		h := &upgradingHasher{Hasher: credential.NewHasher(rand.Reader, 1)}
		w := NewEnv(t, func(c *web.Config) { c.Passwords = h })
		w.Must(put)
		return w, h
	}
	t.Run("the first sign-in", func(t *testing.T) {
		w, h := setUp(t)
		b := w.Browser()
		page := b.Get("/auth/sign-in")
		assert.Equal(t, http.StatusUnprocessableEntity, b.SignIn(page, "kim", "wrong").StatusCode)
		assert.Equal(t, imported, w.View().User("u-kim").Password)
		require.Equal(t, http.StatusSeeOther, b.SignIn(page, "kim", "correct horse").StatusCode)
		u := w.View().User("u-kim")
		assert.True(t, strings.HasPrefix(u.Password, "$argon2id$v=19$m=19456,t=2,p=1$"))
		assert.Zero(t, u.PasswordCost)
		assert.Empty(t, w.View().DearestHashes())
		assert.Equal(t, 1, h.hashed)

		other := w.Browser()
		require.Equal(t, http.StatusSeeOther, other.SignIn(other.Get("/auth/sign-in"), "kim", "correct horse").StatusCode)
		assert.Equal(t, 1, h.hashed, "nothing is left to replace")
		assert.Equal(t, u.Password, w.View().User("u-kim").Password)
		assert.Contains(t, b.Get("/").Text, "kim", "the first session stays")
		assert.NotContains(t, w.Log.String(), imported)
		assert.NotContains(t, w.Log.String(), "correct horse")
	})
	t.Run("another sign-in comes first", func(t *testing.T) {
		w, h := setUp(t)
		own := credential.HashPassword(rand.Reader, "correct horse")
		b := w.Browser()
		page := b.Get("/auth/sign-in")
		w.BeforePropose = func() {
			w.Must(&ledger.UpgradePassword{User: "u-kim", VerifiedHash: sha256.Sum256([]byte(imported)), Password: own})
		}
		require.Equal(t, http.StatusSeeOther, b.SignIn(page, "kim", "correct horse").StatusCode)
		assert.Equal(t, own, w.View().User("u-kim").Password)
		assert.Equal(t, 1, h.hashed)
	})
	t.Run("the password changes meanwhile", func(t *testing.T) {
		w, _ := setUp(t)
		b := w.Browser()
		page := b.Get("/auth/sign-in")
		w.BeforePropose = func() {
			w.Must(&ledger.SetPassword{Actor: ledger.Actor{Operator: true}, User: "u-kim", Password: PasswordHash()})
		}
		require.Equal(t, http.StatusUnprocessableEntity, b.SignIn(page, "kim", "correct horse").StatusCode)
		assert.Equal(t, PasswordHash(), w.View().User("u-kim").Password)
		assert.NotContains(t, b.Cookies, "mintmark")
	})
	t.Run("no leader", func(t *testing.T) {
		w, _ := setUp(t)
		b := w.Browser()
		page := b.Get("/auth/sign-in")
		w.NoLeader = true
		require.Equal(t, http.StatusServiceUnavailable, b.SignIn(page, "kim", "correct horse").StatusCode)
		assert.Equal(t, imported, w.View().User("u-kim").Password)
	})
	t.Run("a lagging node", func(t *testing.T) {
		h := &upgradingHasher{Hasher: credential.NewHasher(rand.Reader, 1)}
		w := NewEnv(t, func(c *web.Config) { c.Passwords = h })
		w.Lag()
		w.Must(put)
		b := w.Browser()
		require.Equal(t, http.StatusSeeOther, b.SignIn(b.Get("/auth/sign-in"), "kim", "correct horse").StatusCode)
		assert.Zero(t, w.View().User("u-kim"))
		w.Mu.Lock()
		w.Lagging = nil
		w.Mu.Unlock()
		assert.Zero(t, w.View().User("u-kim").PasswordCost)
	})
}

// TestFailedSignInsCostTheDearestHash verifies that every failed sign-in gets the costs of the
// imported hashes that are stored, whoever tries to sign in.
func TestFailedSignInsCostTheDearestHash(t *testing.T) {
	var got [][]ledger.HashCost
	w := NewEnv(t)
	dear := ledger.HashCost{Kind: "bcrypt", Units: 4096, Lanes: 1}
	w.Must(&ledger.PutUser{ID: "u-kim", Username: "kim", Password: "$2a$one", PasswordCost: ledger.HashCost{Kind: "bcrypt", Units: 16, Lanes: 1}})
	w.Must(&ledger.PutUser{ID: "u-lee", Username: "lee", Password: "$2a$two", PasswordCost: dear})
	w.OnCheck = func(dearest []ledger.HashCost) { got = append(got, dearest) }
	b := w.Browser()
	page := b.Get("/auth/sign-in")
	for _, name := range []string{"ada", "kim", "lee", "nobody"} {
		got = nil
		require.Equal(t, http.StatusUnprocessableEntity, b.SignIn(page, name, "wrong").StatusCode)
		assert.Equal(t, [][]ledger.HashCost{{dear}}, got, name)
	}
}

// TestForgottenPassword: the sign-in page has what administrators chose, and no script.
func TestForgottenPassword(t *testing.T) {
	w := NewEnv(t)
	set := func(text, link string) string {
		s := *w.View().Settings()
		s.Brand.Forgot, s.Brand.ForgotURL = text, link
		w.Must(&ledger.Configure{Settings: s})
		return w.Browser().Get("/auth/sign-in").Text
	}
	assert.Contains(t, set("", ""), "Forgot your password? <bdi>Ask an administrator of Mintmark.</bdi>")
	page := set("Ask <Rita>, room 7.", "")
	assert.Contains(t, page, "<details><summary>Forgot your password?</summary>\n<p class=\"lead\"><bdi>Ask &lt;Rita&gt;, room 7.</bdi></p>\n</details>")
	assert.NotContains(t, page, "<script")
	page = set("Ask Rita.", "https://id.example/reset")
	assert.Contains(t, page, `<a href="https://id.example/reset">Get a new password</a>`)
	assert.Contains(t, set("", "https://id.example/reset"), `<p class="lead"><a href="https://id.example/reset">Forgot your password?</a></p>`)
}

// TestSignInKeepsItsOpener: an application may wait for its window, whose sign-in leads to the
// authorization step. No other sign-in page has an opener.
func TestSignInKeepsItsOpener(t *testing.T) {
	w := NewEnv(t)
	w.Agents(ledger.AgentsReviewed)
	b := w.Browser()
	for address, policy := range map[string]string{
		"/auth/sign-in":                                       "same-origin",
		"/auth/sign-in?to=%2Fdeveloper":                       "same-origin",
		"/auth/sign-in?to=%2Fauth%2Foauth2%2Fwaiting%3Fx%3D1": "",
		At(Good()): "",
	} {
		page := b.Get(address)
		require.Equal(t, http.StatusOK, page.StatusCode, address)
		assert.Equal(t, policy, page.Header.Get("Cross-Origin-Opener-Policy"), address)
		again := b.SignIn(page, "ada", "wrong")
		assert.Equal(t, policy, again.Header.Get("Cross-Origin-Opener-Policy"), address)
	}
}
