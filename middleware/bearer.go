package middleware

import (
	"errors"
	"net/http"
	"strings"
)

var (
	errNoToken   = errors.New("no bearer token")
	errTwoTokens = errors.New("more than one Authorization header")
	errMalformed = errors.New("malformed Authorization header")
)

// bearer reads the token from the Authorization header only (RFC 6750 §2.1). A token in
// the query is ignored, since it leaks through logs and referrers. A token in a form body
// is ignored, since to read it would consume the handler's body.
//
// Credentials of another scheme count as no token. One word after "Bearer" is a token,
// valid or not; anything else is a malformed request.
func bearer(h http.Header) (string, error) {
	values := h["Authorization"]
	switch {
	case len(values) == 0:
		return "", errNoToken
	case len(values) > 1:
		return "", errTwoTokens
	}
	scheme, rest := values[0], ""
	if i := strings.IndexAny(scheme, " \t"); i >= 0 {
		scheme, rest = scheme[:i], scheme[i:]
	}
	if !strings.EqualFold(scheme, "Bearer") {
		return "", errNoToken
	}
	token := strings.TrimLeft(rest, " ")
	// Two calls of IndexByte, which compares many octets at once: ContainsAny took a
	// third of a guard's time.
	if token == "" || strings.IndexByte(token, ' ') >= 0 || strings.IndexByte(token, '\t') >= 0 {
		return "", errMalformed
	}
	return token, nil
}
