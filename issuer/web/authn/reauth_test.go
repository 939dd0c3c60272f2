package authn_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/upstream/upstreamtest"
	"github.com/mintmark-auth/mintmark/issuer/web"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// An act is one of the actions that need a recent sign-in.
type act struct {
	page, action string
	fields       []string
	redisplayed  string // the fields that the page shows again
	done         func(w *Env) bool
}

const given = "a-password-that-was-given"

var acts = map[string]act{
	"publisher": {
		page: LocalPage + "/edit", action: LocalPage + "/edit", redisplayed: `value="BOOKING_READ" checked`, fields: []string{"scopes", "BOOKING_READ"},
		done: func(w *Env) bool { return w.Publisher("local") != nil },
	},
	"new publisher": {
		page: AddPublisher, action: AddPublisher, redisplayed: `value="agent.example"`, fields: []string{"host", "agent.example", "scopes", "BOOKING_READ"},
		done: func(w *Env) bool { return w.Publisher("agent.example") != nil },
	},
	"promote": {
		page: AdaPage, action: AdaPage + "/state", redisplayed: `value="promote"`,
		done: func(w *Env) bool { return w.UserByName("ada").Admin },
	},
	"new administrator": {
		page: NewUserPage, action: NewUserPage, redisplayed: `value="carol"`,
		fields: []string{"username", "carol", "password", given, "admin", "yes"},
		done:   func(w *Env) bool { return w.UserByName("carol") != nil },
	},
	"password": {
		page: AdaPage + "/password", action: AdaPage + "/password", redisplayed: given, fields: []string{"password", given},
		done: func(w *Env) bool { return w.UserByName("ada").Password == "hash of "+given },
	},
	"transfer": {
		page: GivePage, action: GivePage, redisplayed: `value="bob"`, fields: []string{"username", "bob"},
		done: func(w *Env) bool { return w.ClientRow("calendar").Owner == "u-bob" },
	},
}

// TestActsNeedAFreshSignIn verifies that each of the actions asks an administrator whose
// sign-in is old for the password, and keeps the other input.
func TestActsNeedAFreshSignIn(t *testing.T) {
	for name, a := range acts {
		t.Run(name, func(t *testing.T) {
			w, root, failures := Failing(t)
			w.Advance(ledger.ReauthenticateAfter - time.Second)
			assert.NotContains(t, root.Get(a.page).Text, "own_password")
			w.Advance(time.Second)
			page := root.Get(a.page)
			assert.Contains(t, page.Text, OwnField)
			form := With(page.Form(t, a.action), a.fields...)

			res := root.Post(a.action, form)
			assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			assert.Contains(t, res.Text, "Your password is missing.")
			assert.Contains(t, res.Text, a.redisplayed)
			assert.Empty(t, failures)

			form.Set("own_password", "not the password")
			res = root.Post(a.action, form)
			assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			assert.Contains(t, res.Text, "Your password is not right.")
			assert.Contains(t, res.Text, a.redisplayed)
			assert.NotContains(t, res.Text, "not the password")
			assert.Equal(t, map[ledger.Cause]int{ledger.PasswordWrong: 1}, failures)
			assert.Contains(t, w.Log.String(), "security.user=u-root")
			assert.NotContains(t, w.Log.String(), "not the password")

			form.Set("own_password", given) // may be the password of the user concerned, not the administrator's
			assert.Equal(t, http.StatusUnprocessableEntity, root.Post(a.action, form).StatusCode)
			assert.False(t, a.done(w))

			form.Set("own_password", Password)
			assert.Less(t, root.Post(a.action, form).StatusCode, 400)
			assert.True(t, a.done(w))
			assert.NotContains(t, root.Get(NewUserPage).Text, "own_password", "the sign-in is recent now")
			w.Advance(ledger.ReauthenticateAfter)
			assert.Contains(t, root.Get(NewUserPage).Text, "own_password")
			assert.NotContains(t, w.Log.String(), Password)
		})
	}
}

// TestActsAreRefusedByTheCommand verifies that a page which considered the sign-in recent
// asks for the password after the command's refusal.
func TestActsAreRefusedByTheCommand(t *testing.T) {
	for name, a := range acts {
		t.Run(name, func(t *testing.T) {
			w, root := Administration(t)
			w.Advance(ledger.ReauthenticateAfter - time.Second)
			form := With(root.Get(a.page).Form(t, a.action), a.fields...)
			w.BeforePropose = func() { w.Advance(time.Second) }
			res := root.Post(a.action, form)
			assert.Equal(t, http.StatusForbidden, res.StatusCode)
			assert.Contains(t, res.Text, "You signed in more than 15 minutes ago, so nothing was done.")
			assert.Contains(t, res.Text, OwnField)
			assert.Contains(t, res.Text, a.redisplayed)
			assert.False(t, a.done(w))
			assert.Less(t, root.Post(a.action, With(form, "own_password", Password)).StatusCode, 400)
			assert.True(t, a.done(w))
		})
	}
}

// TestOtherActsNeedNoFreshSignIn verifies that other actions of administrators need no
// recent sign-in, including adding a user without the role.
func TestOtherActsNeedNoFreshSignIn(t *testing.T) {
	w, root := Administration(t)
	w.Advance(time.Hour)
	assert.Equal(t, http.StatusOK, root.Press(NewUserPage, NewUserPage, "username", "carol", "password", given).StatusCode)
	assert.NotNil(t, w.UserByName("carol"))
	page := root.Get(AdaPage)
	before, _, _ := strings.Cut(page.Text, `name="state" value="disable"`)
	tokens := regexp.MustCompile(`name="token" value="([^"]*)"`).FindAllStringSubmatch(before, -1)
	token := tokens[len(tokens)-1][1]
	root.Done(root.Post(AdaPage+"/state", url.Values{"token": {token}, "state": {"disable"}}))
	assert.True(t, w.UserByName("ada").Disabled)
}

// behind is the ledger of a node whose clock is slow.
type behind struct{ site.Ledger }

func (l behind) Now() ledger.Time { return l.Ledger.Now().Add(-time.Minute) }

// TestReauthOnASlowNode verifies that a node which considers the sign-in recent asks for the
// password after the command's refusal.
func TestReauthOnASlowNode(t *testing.T) {
	w, root := Administration(t)
	w.Web.Ledger = behind{w}
	w.Advance(ledger.ReauthenticateAfter)
	res := root.Press(GivePage, GivePage, "username", "bob")
	assert.Equal(t, http.StatusForbidden, res.StatusCode)
	assert.Contains(t, res.Text, OwnField)
	form := With(res.Form(t, GivePage), "username", "bob", "own_password", Password)
	assert.Equal(t, http.StatusSeeOther, root.Post(GivePage, form).StatusCode)
}

// TestUnaskedPassword verifies that a password is verified, and asked for again, even if the sign-in
// has become recent since the page asked for it.
func TestUnaskedPassword(t *testing.T) {
	for name, a := range acts {
		t.Run(name, func(t *testing.T) {
			w, root, failures := Failing(t)
			form := With(root.Get(a.page).Form(t, a.action), a.fields...)
			res := root.Post(a.action, With(form, "own_password", "not the password"))
			assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			assert.Contains(t, res.Text, "Your password is not right.")
			assert.Contains(t, res.Text, OwnField)
			assert.Equal(t, map[ledger.Cause]int{ledger.PasswordWrong: 1}, failures)
			assert.False(t, a.done(w))
		})
	}
}

// TestNoPasswordHere verifies that a password which is sent for a user without one is ignored.
func TestNoPasswordHere(t *testing.T) {
	w, p, root := UpstreamRoot(t)
	root = w.BrowserFrom(root)
	root.SignInUpstream(root.Get("/auth/sign-in"), p, "s-zoe")
	assert.Equal(t, http.StatusSeeOther, root.Press(GivePage, GivePage, "username", "bob", "own_password", "x").StatusCode)
}

// TestLongPasswordIsNotHashed verifies that no password is hashed that can't be right.
func TestLongPasswordIsNotHashed(t *testing.T) {
	w, root, failures := Failing(t)
	w.Advance(time.Hour)
	hashed := len(w.Hashed)
	res := root.Press(GivePage, GivePage, "username", "bob", "own_password", strings.Repeat("x", credential.MaxPassword+1))
	assert.Contains(t, res.Text, "Your password is not right.")
	assert.Len(t, w.Hashed, hashed)
	assert.Empty(t, failures)
}

// TestReauthIsNotProved verifies that nothing is done, and no wrong password recorded, if the
// password can't be verified or the proof is not recorded.
func TestReauthIsNotProved(t *testing.T) {
	proof := func(out ledger.Outcome, err error) func(command.Command) (*ledger.Outcome, error) {
		return func(c command.Command) (*ledger.Outcome, error) {
			if _, ok := c.(*ledger.Reauthenticate); ok {
				return &out, err
			}
			return nil, nil
		}
	}
	for name, test := range map[string]struct {
		prepare func(w *Env, root *Browser)
		refused bool // the password is not right any more
	}{
		"no place in the queue": {prepare: func(w *Env, root *Browser) {
			delete(root.Cookies, "mintmark-device")
			authn.FillHashQueue(w.Web.Prover)
		}},
		"not verified": {prepare: func(w *Env, _ *Browser) {
			w.Web.Prover.Passwords = failingHasher{Passwords: w, check: map[string]error{PasswordHash(): oauth.ErrUnavailable}}
		}},
		"not decided": {prepare: func(w *Env, _ *Browser) { w.Decide = proof(ledger.Outcome{}, oauth.ErrUnavailable) }},
		"unknown":     {prepare: func(w *Env, _ *Browser) { w.Decide = proof(ledger.Outcome{Unknown: true}, nil) }},
		"refused": {refused: true, prepare: func(w *Env, _ *Browser) {
			w.Decide = proof(ledger.Outcome{Refusal: &ledger.Refusal{Cause: ledger.PasswordChanged}}, nil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w, root, failures := Failing(t)
			w.Advance(time.Hour)
			form := With(root.Get(GivePage).Form(t, GivePage), "username", "bob", "own_password", Password)
			test.prepare(w, root)
			res := root.Post(GivePage, form)
			if test.refused {
				assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
				assert.Contains(t, res.Text, "Your password is not right.")
				assert.Contains(t, res.Text, OwnField, "it is asked for again")
				assert.Equal(t, map[ledger.Cause]int{ledger.PasswordWrong: 1}, failures)
			} else {
				assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
				assert.NotEmpty(t, res.Header.Get("Retry-After"))
				assert.Empty(t, failures)
			}
			assert.Equal(t, "u-ada", w.ClientRow("calendar").Owner)
		})
	}
}

// TestReauthOutlivesAMistake verifies that the password need not be entered again after
// another field was invalid.
func TestReauthOutlivesAMistake(t *testing.T) {
	w, root := Administration(t)
	w.Advance(time.Hour)
	res := root.Press(NewUserPage, NewUserPage, "username", "bob", "password", given, "admin", "yes", "own_password", Password)
	assert.Contains(t, res.Text, "Username is taken.")
	assert.NotContains(t, res.Text, "own_password")
	res = root.Post(NewUserPage, With(res.Form(t, NewUserPage), "username", "carol", "password", given, "admin", "yes"))
	assert.Equal(t, http.StatusOK, res.StatusCode, res.Text)
	assert.True(t, w.UserByName("carol").Admin)
}

// TestGuessesAtTheOwnPasswordAreCounted verifies that wrong passwords in this form and on
// the sign-in page have a common count by account, over all addresses.
func TestGuessesAtTheOwnPasswordAreCounted(t *testing.T) {
	w, root, failures := Failing(t)
	w.Advance(time.Hour)
	thief := w.Browser()
	thief.SetSession(root.Session(), 0)
	form := With(root.Get(GivePage).Form(t, GivePage), "username", "bob")
	guess := func(b *Browser, address string, typed string) int {
		b.Address = address
		return b.Post(GivePage, With(form, "own_password", typed)).StatusCode
	}
	for i := range 100 {
		require.Equal(t, http.StatusUnprocessableEntity, guess(thief, fmt.Sprintf("203.0.113.%d", i), "a guess"), i)
	}
	assert.Equal(t, http.StatusTooManyRequests, guess(thief, "203.0.113.200", Password))
	assert.Equal(t, map[ledger.Cause]int{ledger.PasswordWrong: 100, ledger.Throttled: 1}, failures)
	stranger := w.Browser()
	stranger.Address = "203.0.113.201"
	assert.Equal(t, http.StatusTooManyRequests, stranger.SignIn(stranger.Get("/auth/sign-in"), "root", Password).StatusCode)
	assert.Equal(t, "u-ada", w.ClientRow("calendar").Owner)
	assert.Equal(t, http.StatusSeeOther, guess(root, "192.0.2.1", Password), "the administrator's own browser has a separate count")
}

// TestConfirmElsewhere verifies that a user without a password here signs in at the
// provider again.
func TestConfirmElsewhere(t *testing.T) {
	for name, a := range acts {
		t.Run(name, func(t *testing.T) {
			w, p, root := UpstreamRoot(t)
			page := root.Get(a.page)
			assert.NotContains(t, page.Text, "own_password")
			_, aside := page.ConfirmLink(t)
			assert.False(t, aside)
			form := With(page.Form(t, a.action), a.fields...)
			refused := root.Post(a.action, form)
			assert.Equal(t, http.StatusForbidden, refused.StatusCode)
			assert.Contains(t, refused.Text, a.redisplayed)
			_, aside = refused.ConfirmLink(t)
			assert.True(t, aside, "the link must open in another tab to keep the input")
			assert.False(t, a.done(w))

			session := root.Session()
			back := root.Confirm(p, refused, "s-zoe")
			after := root.Done(root.Get(back))
			assert.Contains(t, after.Text, "You have confirmed that it is you.")
			assert.Equal(t, session, root.Session(), "a confirmation must not create a session")
			assert.NotContains(t, after.Text, "Confirm with")
			assert.Equal(t, a.page, leadsToPath(root.Get(back)), "a reload of the callback")

			assert.Less(t, root.Post(a.action, form).StatusCode, 400)
			assert.True(t, a.done(w))
			w.Advance(ledger.ReauthenticateAfter)
			root.Get(NewUserPage).ConfirmLink(t)
		})
	}
}

func leadsToPath(res Answer) string {
	path, _, _ := strings.Cut(res.Header.Get("Location"), "?")
	return path
}

func TestConfirmElsewhereProblems(t *testing.T) {
	for name, test := range map[string]struct {
		subject string
		id      func(w *Env, c upstreamtest.Claims)
		play    func(w *Env, p *upstreamtest.Provider, root *Browser)
		change  func(url.Values)
		status  int
		says    string
	}{
		"no auth_time": {
			id:     func(_ *Env, c upstreamtest.Claims) { delete(c, "auth_time") },
			status: 403, says: "did not ask you to sign in again",
		},
		"an auth_time before the request": {
			id:     func(w *Env, c upstreamtest.Claims) { c["auth_time"] = w.Clock().Add(-2 * time.Minute).Unix() },
			status: 403, says: "did not ask you to sign in again",
		},
		"somebody else": {subject: "s-eve", status: 403, says: "signed in somebody else"},
		"late":          {play: func(w *Env, _ *upstreamtest.Provider, _ *Browser) { w.Advance(10 * time.Minute) }, status: 400, says: "took too long"},
		"cancelled":     {change: func(v url.Values) { v.Set("error", "access_denied") }, status: 403, says: "cancelled there"},
		"down": {play: func(_ *Env, p *upstreamtest.Provider, _ *Browser) {
			p.Answer["/token"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
		}, status: 503, says: "can’t be reached"},
		"another code": {change: func(v url.Values) { v.Set("code", "x") }, status: 502, says: "could not be accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			w, p, root := UpstreamRoot(t)
			if test.id != nil {
				p.ID = func(c upstreamtest.Claims) { test.id(w, c) }
			}
			if test.subject == "" {
				test.subject = "s-zoe"
			}
			back := root.Confirm(p, root.Get(GivePage), test.subject)
			if test.change != nil {
				u, err := url.Parse(back)
				require.NoError(t, err)
				q := u.Query()
				test.change(q)
				back = authn.PathUpstreamCallback + "?" + q.Encode()
			}
			if test.play != nil {
				test.play(w, p, root)
			}
			session := root.Session()
			res := root.Get(back)
			assert.Equal(t, test.status, res.StatusCode)
			assert.Contains(t, res.Text, test.says)
			assert.Contains(t, res.Text, `href="`+GivePage+`">Go back and try again</a>`)
			assert.Equal(t, session, root.Session())
			root.Get(GivePage).ConfirmLink(t)
			assert.Equal(t, http.StatusForbidden, root.Press(GivePage, GivePage, "username", "bob").StatusCode)
			assert.Nil(t, w.UpstreamUser(p, "s-eve"), "a confirmation must not create an account")
		})
	}
}

// TestConfirmElsewhereIsForOneSession verifies that only the link of a page of this
// session begins a confirmation, which is valid for this session only.
func TestConfirmElsewhereIsForOneSession(t *testing.T) {
	w, p, root := UpstreamRoot(t)
	address, _ := root.Get(GivePage).ConfirmLink(t)
	other := w.Browser()
	other.SignInUpstream(other.Get("/auth/sign-in"), p, "s-zoe")
	w.Advance(time.Hour)
	assert.Equal(t, http.StatusForbidden, other.Get(address).StatusCode)
	assert.Equal(t, "/auth/sign-in", w.Browser().Get(authn.PathConfirm).Header.Get("Location"), "without a session, and to no page")
	u, err := url.Parse(address)
	require.NoError(t, err)
	elsewhere := u.Query()
	elsewhere.Set("to", NewUserPage)
	assert.Equal(t, http.StatusForbidden, root.Get(u.Path+"?"+elsewhere.Encode()).StatusCode)

	back := root.Confirm(p, root.Get(GivePage), "s-zoe")
	root.SetSession(other.SessionCookie())
	assert.Equal(t, GivePage, root.Get(back).Header.Get("Location"))
	root.Get(GivePage).ConfirmLink(t)
}

// TestSilentSignInElsewhereIsNotFresh verifies that an old auth_time of the provider
// makes the sign-in here an old one.
func TestSilentSignInElsewhereIsNotFresh(t *testing.T) {
	w, p, root := UpstreamRoot(t)
	p.ID = func(c upstreamtest.Claims) { c["auth_time"] = w.Clock().Add(-time.Hour).Unix() }
	again := w.BrowserFrom(root)
	require.Equal(t, http.StatusSeeOther, again.SignInUpstream(again.Get("/auth/sign-in"), p, "s-zoe").StatusCode)
	again.Get(GivePage).ConfirmLink(t)
}

// TestReauthenticationWithoutMeans covers users with neither a password here nor a provider.
func TestReauthenticationWithoutMeans(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T) (*Env, *Browser){
		"passwords are not used any more": func(t *testing.T) (*Env, *Browser) {
			w, _, _ := UpstreamRoot(t, func(c *web.Config) { c.NoPasswords = true })
			w.Must(&ledger.PutUser{ID: "u-root", Username: "root", Password: PasswordHash(), Admin: true})
			root := w.Browser()
			w.Must(&ledger.SignIn{Session: credential.SessionDigest("left"), User: "u-root", VerifiedHash: sha256.Sum256([]byte(PasswordHash()))})
			root.SetSession("left", 0)
			return w, root
		},
		"the provider is not used any more": func(t *testing.T) (*Env, *Browser) {
			w, _, root := UpstreamRoot(t)
			w.Web.Prover.Upstream = nil
			return w, root
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, root := prepare(t)
			w.Advance(time.Hour)
			page := root.Get(GivePage)
			assert.Contains(t, page.Text, "Sign out and sign in again")
			assert.Equal(t, http.StatusForbidden, root.Post(GivePage, With(page.Form(t, GivePage), "username", "bob")).StatusCode)
		})
	}
}

// TestReauthenticationWithBothMeans verifies that a user with a password here is not sent to the
// provider.
func TestReauthenticationWithBothMeans(t *testing.T) {
	w, p, root := UpstreamRoot(t)
	w.Must(&ledger.SetPassword{Actor: Operator, User: w.UpstreamUser(p, "s-zoe").ID, Password: PasswordHash()})
	root.SignInUpstream(root.Get("/auth/sign-in"), p, "s-zoe")
	w.Advance(time.Hour)
	page := root.Get(GivePage)
	assert.Contains(t, page.Text, OwnField)
	assert.NotContains(t, page.Text, "Confirm with")
	assert.Equal(t, http.StatusSeeOther, root.Press(GivePage, GivePage, "username", "bob", "own_password", Password).StatusCode)
}
