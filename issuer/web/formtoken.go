package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
)

// A purpose is what a form is for: the token of one form opens no other.
type purpose string

const (
	forSignIn     purpose = "sign-in"
	forSignOut    purpose = "sign-out"
	forUpstream   purpose = "sign-in upstream"
	forConfirm    purpose = "confirm upstream"
	forNotice     purpose = "notice" // no form: see noticeToken
	forConsent    purpose = "consent"
	forDisconnect purpose = "disconnect"

	forDisconnectAll     purpose = "disconnect all"
	forPassword          purpose = "password"
	forSignOutEverywhere purpose = "sign out everywhere"
	forEndSession        purpose = "end session"

	forReview       purpose = "review"
	forSuspend      purpose = "suspend"
	forResume       purpose = "resume"
	forTransfer     purpose = "transfer client"
	forNewUser      purpose = "new user"
	forUserState    purpose = "user state"
	forUserPassword purpose = "user password"
	forEditUser     purpose = "edit user"
)

// formToken binds a form to a browser's secret, to the user whom the page
// named, and to what the page was about. Neither purposes nor user ids hold a
// NUL, so that no two lists of parts run together to the same text.
func formToken(key string, p purpose, user, about string) string {
	m := hmac.New(sha256.New, []byte(key))
	for _, part := range []string{"mintmark form", string(p), user, about} {
		_, _ = io.WriteString(m, part) // a hash returns no error
		_, _ = m.Write([]byte{0})
	}
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// genuine reports whether the form has the token that its page was given. A
// browser without a secret has no genuine form.
func genuine(token, key string, p purpose, user, about string) bool {
	return key != "" && hmac.Equal([]byte(token), []byte(formToken(key, p, user, about)))
}

// formKey is the secret of a browser that has no session yet: a random cookie.
// It keeps others from signing a browser in to an account of theirs.
func (w *Web) formKey(c *request) string {
	if key := w.sentFormKey(c); key != "" {
		return key
	}
	key := w.random()
	w.setCookie(c, formCookie, key, 0)
	return key
}

// random is a text that nobody can guess and that no other will be like. What a
// form is to make gets such an id when the form is shown, so that the same form
// sent twice makes one thing.
func (w *Web) random() string {
	random := make([]byte, 32)
	if _, err := io.ReadFull(w.config.Rand, random); err != nil {
		panic(fmt.Errorf("read random bytes: %w", err))
	}
	return base64.RawURLEncoding.EncodeToString(random)
}

// sentFormKey is empty where the browser sent none that can be ours.
func (w *Web) sentFormKey(c *request) string {
	cookie, err := c.r.Cookie(w.cookieName(formCookie))
	if err != nil || len(cookie.Value) != base64.RawURLEncoding.EncodedLen(32) {
		return ""
	}
	return cookie.Value
}
