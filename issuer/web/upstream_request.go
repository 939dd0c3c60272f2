package web

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

const (
	// longRequest is from where on the query of an authorization request travels
	// neither in the link to the provider, where it stands twice and escaped once
	// more, nor in the cookie of the attempt, which may have no more than 4 KB.
	longRequest = 1200 // bytes

	requestCookie = "mintmark-request-" // and the number of the part
	requestParts  = 3
	maxPart       = maxAttempt
)

// keepRequest has the browser keep a long query while somebody signs in elsewhere,
// and returns what names it. A browser has room for one: all the headers of a
// request are bounded, here and by what may stand before us. It is no secret, as
// it is the address that the browser was at; and what names it is a digest, so
// that nothing else passes for it.
func (w *Web) keepRequest(c *call, query string) (digest string) {
	text := packed(query)
	for i := range requestParts {
		part := text[:min(len(text), maxPart)]
		text = text[len(part):]
		age := int(attemptTime / time.Second)
		if part == "" {
			age = -1
		}
		w.setCookie(c, requestCookie+strconv.Itoa(i), part, age)
	}
	return digestOfQuery(query)
}

// keptRequest is the query of a digest, "" where the browser does not have it any
// more.
func (w *Web) keptRequest(c *call, digest string) string {
	var text strings.Builder
	for i := range requestParts {
		if part, err := c.r.Cookie(w.cookieName(requestCookie + strconv.Itoa(i))); err == nil {
			text.WriteString(part.Value)
		}
	}
	if query := unpacked(text.String()); digestOfQuery(query) == digest {
		return query
	}
	return ""
}

func digestOfQuery(query string) string {
	sum := sha256.Sum256([]byte(query))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// packed is a query as the value of a cookie. Queries shrink by as much as the
// base64 adds, and mostly by more.
func packed(query string) string {
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic(err) // there is such a level
	}
	_, _ = io.WriteString(z, query) // a buffer takes everything
	_ = z.Close()
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

// unpacked is "" for what packed never wrote.
func unpacked(text string) string {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	query, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), oauth.MaxQuery))
	if err != nil {
		return ""
	}
	return string(query)
}
