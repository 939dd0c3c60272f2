package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
)

// A purpose is what a form is for. A form's token is valid for its purpose only.
type purpose string

const (
	forSignIn     purpose = "sign-in"
	forSignOut    purpose = "sign-out"
	forUpstream   purpose = "sign-in upstream"
	forConfirm    purpose = "confirm upstream"
	forNotice     purpose = "notice" // not a form: see noticeToken
	forDrafts     purpose = "drafts" // not a form: see ui.Shell.DraftKey
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

	forNewResource    purpose = "new resource server"
	forEditResource   purpose = "edit resource server"
	forRemoveResource purpose = "remove resource server"

	forNewPublisher    purpose = "new publisher"
	forEditPublisher   purpose = "edit publisher"
	forRevokePublisher purpose = "revoke publisher"
	forRejectPublisher purpose = "reject publisher"
	forRemovePublisher purpose = "remove publisher"

	forAddResourceSecret    purpose = "add secret of resource server"
	forRevokeResourceSecret purpose = "revoke secret of resource server"
)

// formToken returns a token that is bound to a browser's secret, to the user whom the
// page named, and to the page's object. Neither purposes nor user ids contain a NUL, so
// the text is unambiguous.
func formToken(key string, p purpose, user, about string) string {
	m := hmac.New(sha256.New, []byte(key))
	for _, part := range []string{"mintmark form", string(p), user, about} {
		_, _ = io.WriteString(m, part) // a hash returns no error
		_, _ = m.Write([]byte{0})
	}
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// genuine reports whether the token is the one that the page had. Without a browser's
// secret, no token is genuine.
func genuine(token, key string, p purpose, user, about string) bool {
	return key != "" && hmac.Equal([]byte(token), []byte(formToken(key, p, user, about)))
}

// formKey returns the secret of a browser without a session, a random cookie. It prevents
// another site from signing the browser in to an attacker's account.
func (w *Web) formKey(c *request) string {
	if key := w.sentFormKey(c); key != "" {
		return key
	}
	key := w.random()
	w.setCookie(c, formCookie, key, 0)
	return key
}

// random returns an unguessable and unique text. It is the id of what a form creates,
// generated when the form is shown, so that sending the form twice creates one object.
func (w *Web) random() string {
	random := make([]byte, 32)
	if _, err := io.ReadFull(w.config.Rand, random); err != nil {
		panic(fmt.Errorf("read random bytes: %w", err))
	}
	return base64.RawURLEncoding.EncodeToString(random)
}

// sentFormKey returns "" if the browser sent no valid form cookie.
func (w *Web) sentFormKey(c *request) string {
	cookie, err := c.r.Cookie(w.cookieName(formCookie))
	if err != nil || len(cookie.Value) != base64.RawURLEncoding.EncodedLen(32) {
		return ""
	}
	return cookie.Value
}
