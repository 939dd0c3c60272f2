package signin

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

const (
	// attemptLifetime is how long a user has to sign in at the provider.
	attemptLifetime = 10 * time.Minute
	// attemptCookieLifetime is how long the browser keeps an expired attempt, so that the
	// user can begin again at the same page.
	attemptCookieLifetime = time.Hour

	attemptCookie     = "mintmark-upstream-" // followed by the beginning of the state
	attemptTag        = 8                    // characters of the state
	maxAttempts       = 3                    // concurrent attempts, in different tabs
	maxAttempt        = 2000                 // bytes of one cookie's value
	maxAttemptCookies = 4000                 // bytes of all cookies of attempts, with their names

	// longRequest is the length in bytes, encoded as JSON, up to which the query of an
	// authorization request is stored in an attempt. Reverse proxies limit the size of
	// headers: they would refuse requests with larger cookies.
	longRequest = 1200
)

// isLong reports whether a query is too long for an attempt. The sign-in page then stays
// open with it, while the user signs in at the provider in another tab.
func isLong(next string) bool {
	return len(next)+strings.Count(next, `"`)+strings.Count(next, `\`) > longRequest
}

// An upstreamAttempt is a sign-in at the provider that has not ended. No node stores it:
// it is sealed in a cookie of the browser.
type upstreamAttempt struct {
	Seed    string      `json:"seed"` // its AuthRequest is derived from it
	Expires ledger.Time `json:"expires"`
	Next    string      `json:"next,omitempty"` // signInBody.Next; "" if isLong
	To      string      `json:"to,omitempty"`
	Waits   bool        `json:"waits,omitempty"` // signInBody.Waits
	Done    bool        `json:"done,omitempty"`  // the attempt has succeeded

	// Confirms is the SessionText of the session whose user authenticates again, and
	// Begun is when that began: the provider's auth_time must not be earlier. Both are
	// zero for a sign-in.
	Confirms string      `json:"confirms,omitempty"`
	Begun    ledger.Time `json:"begun,omitempty"`
}

// authRequest returns three derived texts, none of which reveals another.
func (a *upstreamAttempt) authRequest() upstream.AuthRequest {
	p := upstream.AuthRequest{State: a.derive("state"), Nonce: a.derive("nonce"), Verifier: a.derive("verifier")}
	if a.Begun != 0 {
		p.Since = a.Begun.Std()
	}
	return p
}

func (a *upstreamAttempt) derive(of string) string {
	m := hmac.New(sha256.New, []byte(a.Seed))
	_, _ = io.WriteString(m, "mintmark upstream "+of) // a hash returns no error
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// saveAttempt stores the attempt in a cookie, which the browser sends to the callback
// only. It returns false if the attempt is too long for a cookie.
func (w *Area) saveAttempt(c *site.Request, a *upstreamAttempt) bool {
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false) // otherwise each & of a query takes six bytes
	if err := e.Encode(a); err != nil {
		panic(err) // the attempt has only texts and numbers
	}
	sealed := w.config.Attempts.SealAttempt(plain.Bytes())
	if len(sealed) > maxAttempt {
		return false
	}
	name := attemptCookie + a.authRequest().State[:attemptTag]
	w.dropAttempts(c, name, len(sealed))
	w.setAttempt(c, name, sealed, int(attemptCookieLifetime/time.Second))
	return true
}

func (w *Area) setAttempt(c *site.Request, name, value string, maxAge int) {
	w.PutCookie(c, &http.Cookie{Name: w.attemptName(name), Value: value, Path: authn.PathUpstreamCallback, MaxAge: maxAge})
}

// attemptName adds the cookie prefix to a name. It is __Secure-, since __Host- requires
// the path "/" (RFC 6265bis §4.1.3).
func (w *Area) attemptName(name string) string {
	if w.Secure {
		return "__Secure-" + name
	}
	return name
}

// attemptOf returns the attempt with a state, or nil if this browser has none.
func (w *Area) attemptOf(c *site.Request, state string) *upstreamAttempt {
	if len(state) < attemptTag {
		return nil
	}
	cookie, err := c.R.Cookie(w.attemptName(attemptCookie + state[:attemptTag]))
	if err != nil {
		return nil
	}
	plain, err := w.config.Attempts.OpenAttempt(cookie.Value)
	if err != nil {
		return nil
	}
	a := new(upstreamAttempt)
	if json.Unmarshal(plain, a) != nil || !hmac.Equal([]byte(state), []byte(a.authRequest().State)) {
		return nil
	}
	return a
}

// dropAttempts removes the browser's other attempts if one more would exceed maxAttempts
// or maxAttemptCookies. It removes all of them, not only the oldest, since hardly any
// user signs in in so many tabs concurrently.
func (w *Area) dropAttempts(c *site.Request, name string, size int) {
	var others []string
	kept := len(w.attemptName(name)) + size
	for _, cookie := range c.R.Cookies() {
		tag, ok := strings.CutPrefix(cookie.Name, w.attemptName(attemptCookie))
		if ok && len(tag) == attemptTag && attemptCookie+tag != name {
			others = append(others, attemptCookie+tag)
			kept += len(cookie.Name) + len(cookie.Value)
		}
	}
	if len(others) < maxAttempts && kept <= maxAttemptCookies {
		return
	}
	for _, other := range others {
		w.setAttempt(c, other, "", -1)
	}
}

// singleParam returns a parameter; ok is false if it is repeated.
func singleParam(r *http.Request, name string) (value string, ok bool) {
	values := r.URL.Query()[name]
	if len(values) == 0 {
		return "", true
	}
	return values[0], len(values) == 1
}
