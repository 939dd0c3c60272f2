package account_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

func TestChangePassword(t *testing.T) {
	w := NewEnv(t)
	b, other := w.SignedIn(), w.SignedIn()
	b.Allow()
	page := b.Get(PasswordPath)
	form := With(page.Form(t, PasswordPath), "current", Password, "new", Another, "again", Another)
	res := b.Post(PasswordPath, form)
	require.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
	after := b.Get(res.Header.Get("Location"))
	assert.Contains(t, after.Text, "Your password was changed.")
	assert.Equal(t, http.StatusSeeOther, other.Get("/account").StatusCode, "other sessions must end")
	assert.Len(t, w.Grants(), 1)

	res = b.Post(PasswordPath, form)
	assert.Equal(t, "/account?done=password", LeadsTo(res), "the same form twice")
	n := w.Browser()
	assert.Equal(t, http.StatusUnprocessableEntity, n.SignIn(n.Get("/auth/sign-in"), "ada", Password).StatusCode)
	assert.Equal(t, http.StatusSeeOther, n.SignIn(n.Get("/auth/sign-in"), "ada", Another).StatusCode)
	assert.NotContains(t, w.Log.String(), Another)
}

func TestChangePasswordRefusals(t *testing.T) {
	for _, test := range []struct {
		name, current, next, again string
		field, says                string
	}{
		{"no current one", "", Another, Another, "current", "Current password is missing."},
		{"wrong", "not it at all", Another, Another, "current", "Current password is not right."},
		{"short", Password, "elevenchars", "elevenchars", "new", "New password is too short: use at least 12 characters."},
		{"none", Password, "", "", "new", "New password is too short"},
		{"short in characters, long in bytes", Password, strings.Repeat("é", 11), strings.Repeat("é", 11), "new", "New password is too short"},
		{"long", Password, strings.Repeat("x", 1025), strings.Repeat("x", 1025), "new", "New password is too long: "},
		{"common", Password, "Password12345", "Password12345", "new", "New password is easy to guess"},
		{"the own name", Password, "AdaLovelace1815", "AdaLovelace1815", "new", "New password is too much like a name"},
		{"the same", Password, Password, Password, "new", "New password is the one that you have now."},
		{"a slip", Password, Another, Another + "x", "again", "New password again is not the same as the new password."},
		{"once", Password, Another, "", "again", "New password again is missing."},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := NewEnv(t)
			b := w.SignedIn()
			w.Proposals = nil
			res := b.ChangePassword(test.current, test.next, test.again)
			assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			assert.Contains(t, res.Text, "<title>Problem: Change password")
			assert.Contains(t, res.Text, fmt.Sprintf(`<li><a href="#f-%s">%s`, test.field, test.says), "in the summary")
			assert.Contains(t, res.Text, fmt.Sprintf(`<p class="error" id="f-%s-error">%s`, test.field, test.says), "beside the field")
			assert.Regexp(t, `<input id="f-`+test.field+`"[^>]* aria-invalid="true" aria-describedby="[^"]*f-`+test.field+`-error" autofocus>`, res.Text)
			for _, secret := range []string{test.current, test.next} {
				if secret != "" {
					assert.NotContains(t, res.Text, secret)
				}
			}
			assert.Empty(t, w.Proposals)
			form := With(res.Form(t, PasswordPath), "current", Password, "new", Another, "again", Another)
			assert.Equal(t, http.StatusSeeOther, b.Post(PasswordPath, form).StatusCode, "the redisplayed form must work")
		})
	}
}

// TestChangePasswordAttempts verifies that guesses at the current password are limited as at
// the sign-in.
func TestChangePasswordAttempts(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	for i := range 10 {
		require.Equal(t, http.StatusUnprocessableEntity, b.ChangePassword(fmt.Sprint("guess ", i), Another, Another).StatusCode)
	}
	res := b.ChangePassword(Password, Another, Another)
	assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
	assert.Equal(t, "180", res.Header.Get("Retry-After"))
	assert.Contains(t, res.Text, "Too many attempts. Try again in 3 minutes.")
	b.Address = "198.51.100.7"
	assert.Equal(t, http.StatusTooManyRequests, b.ChangePassword(Password, Another, Another).StatusCode, "from another address")
	other := w.SignedIn()
	w.Exhaust()
	assert.Equal(t, http.StatusSeeOther, other.ChangePassword(Password, Another, Another).StatusCode, "in another browser")
	w.User("u-bob", "bob", "Bob")
	bob := w.Browser()
	bob.Address = "198.51.100.8"
	bob.SignIn(bob.Get("/auth/sign-in"), "bob", Password)
	bob.Address = "192.0.2.1" // the attacker's
	assert.Equal(t, http.StatusSeeOther, bob.ChangePassword(Password, Another, Another).StatusCode, "another user at the same address")
}

// TestChangePasswordGuessesOnce verifies that the new password is no second guess at the current one.
func TestChangePasswordGuessesOnce(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	require.Equal(t, http.StatusSeeOther, b.ChangePassword(Password, Another, Another).StatusCode)
	for i := range 10 {
		res := b.ChangePassword(fmt.Sprint("guess ", i), Another, Another)
		require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, res.Header.Get("Location"))
		require.Contains(t, res.Text, `<a href="#f-current">Current password is not right.`)
	}
	assert.Equal(t, http.StatusTooManyRequests, b.ChangePassword(Another, Password, Password).StatusCode, "each must count")
}

// TestChangesOfThePasswordAreBounded: each change adds an event to the audit trail. Only
// successful changes are counted, so only somebody with the password can use up the limit.
func TestChangesOfThePasswordAreBounded(t *testing.T) {
	w := NewEnv(t)
	b, thief := w.SignedIn(), w.SignedIn()
	for i := range 10 {
		require.Equal(t, http.StatusUnprocessableEntity, thief.ChangePassword(fmt.Sprint("guess ", i), Another, Another).StatusCode)
	}
	now := Password
	for i := range 20 {
		next := fmt.Sprint("another password ", i)
		require.Equal(t, http.StatusSeeOther, b.ChangePassword(now, next, next).StatusCode)
		now = next
	}
	state := w.Index
	res := b.ChangePassword(now, Another, Another)
	assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
	assert.Equal(t, "600", res.Header.Get("Retry-After"))
	assert.Equal(t, state, w.Index)
	w.Advance(10 * time.Minute)
	assert.Equal(t, http.StatusSeeOther, b.ChangePassword(now, Another, Another).StatusCode)
}

// TestChangePasswordRaces covers two browsers, or two clicks, at the same time.
func TestChangePasswordRaces(t *testing.T) {
	set := func(w *Env, password string) func() {
		return func() {
			w.Must(&ledger.SetPassword{Actor: ledger.Actor{Operator: true}, User: "u-ada", Password: "hash of " + password})
		}
	}
	t.Run("to something else", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		form := With(b.Get(PasswordPath).Form(t, PasswordPath), "current", Password, "new", Another, "again", Another)
		w.BeforePropose = set(w, "what an operator chose")
		res := b.Post(PasswordPath, form)
		assert.Equal(t, "/auth/sign-in?note=undone&to=%2Faccount%2Fpassword", res.Header.Get("Location"), "the change must sign out the other browser")
	})
	t.Run("no leader", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		form := With(b.Get(PasswordPath).Form(t, PasswordPath), "current", Password, "new", Another, "again", Another)
		w.NoLeader = true
		assert.Equal(t, http.StatusServiceUnavailable, b.Post(PasswordPath, form).StatusCode)
	})
	t.Run("a node that has not heard of the last change", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		require.Equal(t, http.StatusSeeOther, b.ChangePassword(Password, Another, Another).StatusCode)
		b = w.Browser()
		require.Equal(t, http.StatusSeeOther, b.SignIn(b.Get("/auth/sign-in"), "ada", Another).StatusCode)
		w.Lag()
		require.Equal(t, http.StatusSeeOther, b.ChangePassword(Another, "yet another phrase", "yet another phrase").StatusCode)
		res := b.ChangePassword("yet another phrase", "the third of three", "the third of three")
		assert.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
	})
}
