package site

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
)

// DigestOf returns 16 bytes of the digest of a text.
func DigestOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:16]
}

// A Purpose is what a form is for. A form's token is valid for its purpose only.
type Purpose string

const (
	// ForSignOut is the purpose of the form that signs out, which every page has.
	ForSignOut Purpose = "sign-out"
	forNotice  Purpose = "notice" // not a form: see noticeToken
	forDrafts  Purpose = "drafts" // not a form: see ui.Shell.DraftKey
)

// FormToken returns a token that is bound to a browser's secret, to the user whom the
// page named, and to the page's object. Neither purposes nor user ids contain a NUL, so
// the text is unambiguous.
func FormToken(key string, p Purpose, user, about string) string {
	m := hmac.New(sha256.New, []byte(key))
	for _, part := range []string{"mintmark form", string(p), user, about} {
		_, _ = io.WriteString(m, part) // a hash returns no error
		_, _ = m.Write([]byte{0})
	}
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// Genuine reports whether the token is the one that the page had. Without a browser's
// secret, no token is genuine.
func Genuine(token, key string, p Purpose, user, about string) bool {
	return key != "" && hmac.Equal([]byte(token), []byte(FormToken(key, p, user, about)))
}

// FormKey returns the secret of a browser without a session, a random cookie. It prevents
// another site from signing the browser in to an attacker's account.
func (w *Site) FormKey(c *Request) string {
	if key := w.SentFormKey(c); key != "" {
		return key
	}
	key := w.Random()
	w.SetCookie(c, formCookie, key, 0)
	return key
}

// Random returns an unguessable and unique text. It is the id of what a form creates,
// generated when the form is shown, so that sending the form twice creates one object.
func (w *Site) Random() string {
	random := make([]byte, 32)
	if _, err := io.ReadFull(w.Rand, random); err != nil {
		panic(fmt.Errorf("read random bytes: %w", err))
	}
	return base64.RawURLEncoding.EncodeToString(random)
}

// SentFormKey returns "" if the browser sent no valid form cookie.
func (w *Site) SentFormKey(c *Request) string {
	cookie, err := c.R.Cookie(w.CookieName(formCookie))
	if err != nil || len(cookie.Value) != base64.RawURLEncoding.EncodedLen(32) {
		return ""
	}
	return cookie.Value
}
