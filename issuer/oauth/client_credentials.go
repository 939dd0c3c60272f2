package oauth

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// ClientCredentials are what a client sent to authenticate (RFC 6749 §2.3.1).
type ClientCredentials struct {
	ID     string
	Secret string // empty if none was sent, as for a public client
	Basic  bool   // sent in the Authorization header, so an error is answered with a challenge
}

// clientCredentials merges the two places where a client may authenticate, and refuses a
// request that uses both (RFC 6749 §2.3).
func clientCredentials(authorization, id, secret string) (ClientCredentials, *Error) {
	if authorization == "" {
		return ClientCredentials{ID: id, Secret: secret}, nil
	}
	basicID, basicSecret, ok := basic(authorization)
	switch {
	case !ok:
		return ClientCredentials{Basic: true}, &Error{Code: InvalidClient, Description: "Client authentication failed."}
	case secret != "":
		return ClientCredentials{Basic: true}, invalidRequest("The client authenticated in two ways.")
	case id != "" && id != basicID:
		return ClientCredentials{Basic: true}, invalidRequest("The parameter client_id differs from the Authorization header.")
	}
	return ClientCredentials{ID: basicID, Secret: basicSecret, Basic: true}, nil
}

// ParseBasic returns the credentials in an Authorization header, or false if it has none of
// HTTP Basic.
func ParseBasic(authorization string) (ClientCredentials, bool) {
	id, secret, ok := basic(authorization)
	return ClientCredentials{ID: id, Secret: secret, Basic: true}, ok
}

// basic parses HTTP Basic credentials. Both parts are form-encoded (RFC 6749 §2.3.1). A part
// that is not valid form encoding is taken unchanged, since common tools send secrets with a
// percent sign unencoded.
func basic(authorization string) (id, secret string, ok bool) {
	scheme, encoded, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimLeft(encoded, " "))
	if err != nil {
		return "", "", false
	}
	id, secret, found := strings.Cut(string(decoded), ":")
	if !found || id == "" {
		return "", "", false
	}
	return unescape(id), unescape(secret), true
}

func unescape(s string) string {
	if u, err := url.QueryUnescape(s); err == nil {
		return u
	}
	return s
}
