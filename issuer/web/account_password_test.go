package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	passwordPath = "/account/password"
	another      = "a new pass phrase"
)

// changePassword submits the form of the page.
func (b *browser) changePassword(current, next, again string) answer {
	b.env.t.Helper()
	form := b.get(passwordPath).form(b.env.t, passwordPath)
	return b.post(passwordPath, with(form, "current", current, "new", next, "again", again))
}

func TestChangePassword(t *testing.T) {
	w := newEnv(t)
	b, other := w.signedIn(), w.signedIn()
	b.allow()
	page := b.get(passwordPath)
	form := with(page.form(t, passwordPath), "current", password, "new", another, "again", another)
	res := b.post(passwordPath, form)
	require.Equal(t, http.StatusSeeOther, res.StatusCode, res.body)
	after := b.get(res.Header.Get("Location"))
	assert.Contains(t, after.body, "Your password was changed.")
	assert.Equal(t, http.StatusSeeOther, other.get("/account").StatusCode, "other sessions must end")
	assert.Len(t, w.grants(), 1)

	res = b.post(passwordPath, form)
	assert.Equal(t, "/account?done=password", leadsTo(res), "the same form twice")
	n := w.browser()
	assert.Equal(t, http.StatusUnprocessableEntity, n.signIn(n.get("/auth/sign-in"), "ada", password).StatusCode)
	assert.Equal(t, http.StatusSeeOther, n.signIn(n.get("/auth/sign-in"), "ada", another).StatusCode)
	assert.NotContains(t, w.log.String(), another)
}

func TestChangePasswordRefusals(t *testing.T) {
	for _, test := range []struct {
		name, current, next, again string
		field, says                string
	}{
		{"no current one", "", another, another, "current", "Current password is missing."},
		{"wrong", "not it at all", another, another, "current", "Current password is not right."},
		{"short", password, "elevenchars", "elevenchars", "new", "New password is too short: use at least 12 characters."},
		{"none", password, "", "", "new", "New password is too short"},
		{"short in characters, long in bytes", password, strings.Repeat("é", 11), strings.Repeat("é", 11), "new", "New password is too short"},
		{"long", password, strings.Repeat("x", 1025), strings.Repeat("x", 1025), "new", "New password is too long."},
		{"common", password, "Password12345", "Password12345", "new", "New password is easy to guess"},
		{"the own name", password, "AdaLovelace1815", "AdaLovelace1815", "new", "New password is too much like a name"},
		{"the same", password, password, password, "new", "New password is the one that you have now."},
		{"a slip", password, another, another + "x", "again", "New password again is not the same as the new password."},
		{"once", password, another, "", "again", "New password again is missing."},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t)
			b := w.signedIn()
			w.proposals = nil
			res := b.changePassword(test.current, test.next, test.again)
			assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			assert.Contains(t, res.body, "<title>Problem: Change password")
			assert.Contains(t, res.body, fmt.Sprintf(`<li><a href="#f-%s">%s`, test.field, test.says), "in the summary")
			assert.Contains(t, res.body, fmt.Sprintf(`<p class="error" id="f-%s-error">%s`, test.field, test.says), "beside the field")
			assert.Regexp(t, `<input id="f-`+test.field+`"[^>]* aria-invalid="true" aria-describedby="[^"]*f-`+test.field+`-error" autofocus>`, res.body)
			for _, secret := range []string{test.current, test.next} {
				if secret != "" {
					assert.NotContains(t, res.body, secret)
				}
			}
			assert.Empty(t, w.proposals)
			form := with(res.form(t, passwordPath), "current", password, "new", another, "again", another)
			assert.Equal(t, http.StatusSeeOther, b.post(passwordPath, form).StatusCode, "the redisplayed form must work")
		})
	}
}

// TestChangePasswordAttempts verifies that guesses at the current password are limited as at
// the sign-in.
func TestChangePasswordAttempts(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	for i := range 10 {
		require.Equal(t, http.StatusUnprocessableEntity, b.changePassword(fmt.Sprint("guess ", i), another, another).StatusCode)
	}
	res := b.changePassword(password, another, another)
	assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
	assert.Equal(t, "10", res.Header.Get("Retry-After"))
	assert.Contains(t, res.body, "too many attempts")
	b.address = "198.51.100.7"
	assert.Equal(t, http.StatusTooManyRequests, b.changePassword(password, another, another).StatusCode, "from another address")
	other := w.signedIn()
	w.exhaust()
	assert.Equal(t, http.StatusSeeOther, other.changePassword(password, another, another).StatusCode, "in another browser")
	w.user("u-bob", "bob", "Bob")
	bob := w.browser()
	bob.address = "198.51.100.8"
	bob.signIn(bob.get("/auth/sign-in"), "bob", password)
	bob.address = "192.0.2.1" // the attacker's
	assert.Equal(t, http.StatusSeeOther, bob.changePassword(password, another, another).StatusCode, "another user at the same address")
}

// TestChangesOfThePasswordAreBounded: each change adds an event to the audit trail. Only
// successful changes are counted, so only somebody with the password can use up the limit.
func TestChangesOfThePasswordAreBounded(t *testing.T) {
	w := newEnv(t)
	b, thief := w.signedIn(), w.signedIn()
	for i := range 10 {
		require.Equal(t, http.StatusUnprocessableEntity, thief.changePassword(fmt.Sprint("guess ", i), another, another).StatusCode)
	}
	now := password
	for i := range 20 {
		next := fmt.Sprint("another password ", i)
		require.Equal(t, http.StatusSeeOther, b.changePassword(now, next, next).StatusCode)
		now = next
	}
	state := w.index
	res := b.changePassword(now, another, another)
	assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
	assert.Equal(t, "600", res.Header.Get("Retry-After"))
	assert.Equal(t, state, w.index)
	w.advance(10 * time.Minute)
	assert.Equal(t, http.StatusSeeOther, b.changePassword(now, another, another).StatusCode)
}

// TestChangePasswordRaces covers two browsers, or two clicks, at the same time.
func TestChangePasswordRaces(t *testing.T) {
	set := func(w *env, password string) func() {
		return func() {
			w.must(&ledger.SetPassword{Actor: ledger.Actor{Operator: true}, User: "u-ada", Password: "hash of " + password})
		}
	}
	t.Run("to something else", func(t *testing.T) {
		w := newEnv(t)
		b := w.signedIn()
		form := with(b.get(passwordPath).form(t, passwordPath), "current", password, "new", another, "again", another)
		w.beforePropose = set(w, "what an operator chose")
		res := b.post(passwordPath, form)
		assert.Equal(t, "/auth/sign-in?note=undone&to=%2Faccount%2Fpassword", res.Header.Get("Location"), "the change must sign out the other browser")
	})
	t.Run("no leader", func(t *testing.T) {
		w := newEnv(t)
		b := w.signedIn()
		form := with(b.get(passwordPath).form(t, passwordPath), "current", password, "new", another, "again", another)
		w.noLeader = true
		assert.Equal(t, http.StatusServiceUnavailable, b.post(passwordPath, form).StatusCode)
	})
	t.Run("a node that has not heard of the last change", func(t *testing.T) {
		w := newEnv(t)
		b := w.signedIn()
		require.Equal(t, http.StatusSeeOther, b.changePassword(password, another, another).StatusCode)
		b = w.browser()
		require.Equal(t, http.StatusSeeOther, b.signIn(b.get("/auth/sign-in"), "ada", another).StatusCode)
		w.lag()
		require.Equal(t, http.StatusSeeOther, b.changePassword(another, "yet another phrase", "yet another phrase").StatusCode)
		res := b.changePassword("yet another phrase", "the third of three", "the third of three")
		assert.Equal(t, http.StatusSeeOther, res.StatusCode, res.body)
	})
}
