package web

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
)

const (
	// attemptTime is how long a person has to sign in elsewhere.
	attemptTime = 10 * time.Minute
	// attemptKept is how long the browser keeps what it was about, so that who
	// was late can begin again where they were.
	attemptKept = time.Hour

	attemptCookie = "mintmark-upstream-" // and the beginning of the state
	attemptTag    = 8                    // characters of it
	maxAttempts   = 3                    // at once, in as many tabs
	maxAttempt    = 3800                 // bytes of one cookie; browsers keep 4096 (RFC 6265 §6.1)
)

// An attempt is a sign-in elsewhere between its beginning and its end. No node
// remembers it: the browser has it in a cookie, sealed.
type attempt struct {
	Seed    string      `json:"seed"` // what its proofs are made from
	Expires ledger.Time `json:"expires"`
	Next    string      `json:"next,omitempty"`    // as in signInBody; "" for a long one
	Request string      `json:"request,omitempty"` // names a long one: see keepRequest
	To      string      `json:"to,omitempty"`
	Done    bool        `json:"done,omitempty"` // somebody was signed in by it
}

// proofs are three texts of which none tells another.
func (a *attempt) proofs() upstream.Proofs {
	return upstream.Proofs{State: a.proof("state"), Nonce: a.proof("nonce"), Verifier: a.proof("verifier")}
}

func (a *attempt) proof(of string) string {
	m := hmac.New(sha256.New, []byte(a.Seed))
	_, _ = io.WriteString(m, "mintmark upstream "+of) // a hash returns no error
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// keepAttempt gives the attempt to the browser. It is false where it is too long
// for a cookie.
func (w *Web) keepAttempt(c *call, a *attempt) bool {
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false) // which would make three of each & of a query
	if err := e.Encode(a); err != nil {
		panic(err) // texts and numbers
	}
	sealed := w.config.Attempts.SealAttempt(plain.Bytes())
	if len(sealed) > maxAttempt {
		return false
	}
	w.setCookie(c, attemptCookie+a.proofs().State[:attemptTag], sealed, int(attemptKept/time.Second))
	return true
}

// attemptOf is the attempt that a state belongs to, nil for none of this
// browser's.
func (w *Web) attemptOf(c *call, state string) *attempt {
	if len(state) < attemptTag {
		return nil
	}
	cookie, err := c.r.Cookie(w.cookieName(attemptCookie + state[:attemptTag]))
	if err != nil {
		return nil
	}
	plain, err := w.config.Attempts.OpenAttempt(cookie.Value)
	if err != nil {
		return nil
	}
	a := new(attempt)
	if json.Unmarshal(plain, a) != nil || !hmac.Equal([]byte(state), []byte(a.proofs().State)) {
		return nil
	}
	return a
}

// dropAttempts makes room for another attempt. Which ones are the oldest is not
// looked at: nobody signs in in so many tabs at once.
func (w *Web) dropAttempts(c *call) {
	var names []string
	for _, cookie := range c.r.Cookies() {
		if tag, ok := strings.CutPrefix(cookie.Name, w.cookieName(attemptCookie)); ok && len(tag) == attemptTag {
			names = append(names, attemptCookie+tag)
		}
	}
	if len(names) < maxAttempts {
		return
	}
	for _, name := range names {
		w.setCookie(c, name, "", -1)
	}
}

// once reads a parameter that may come once; ok is false for more.
func once(r *http.Request, name string) (value string, ok bool) {
	values := r.URL.Query()[name]
	if len(values) == 0 {
		return "", true
	}
	return values[0], len(values) == 1
}
