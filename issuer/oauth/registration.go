package oauth

import (
	"net/url"
	"slices"
	"strings"
)

const (
	// MaxRegistration is the maximum length of the JSON of a registration in a client_id, in
	// bytes.
	MaxRegistration = 700
	// MaxRegisteredURIs is the maximum number of its redirection URIs.
	MaxRegisteredURIs = 5
)

// A Registration is the metadata of a dynamically registered client (RFC 7591 §2). The client
// is public, and has the grant types authorization_code and refresh_token.
type Registration struct {
	Name         string   `cbor:"1,keyasint" json:"n"`
	RedirectURIs []string `cbor:"2,keyasint" json:"r"` // as ShareRegistration leaves them
}

// RegisteredPrefix begins the client_id of a registered client, which has the registration.
const RegisteredPrefix = "mmd_"

// IsRegisteredID reports whether a client_id is meant as that of a registered client.
func IsRegisteredID(clientID string) bool { return strings.HasPrefix(clientID, RegisteredPrefix) }

// IsAgentID reports whether a client_id is the URL of a metadata document, or that of a
// registered client.
func IsAgentID(clientID string) bool { return IsDocumentURL(clientID) || IsRegisteredID(clientID) }

// ShareRegistration returns redirection URIs of a registration without the ports of those on
// the loopback, which don't matter (RFC 8252 §7.3). So all copies of a program that register
// with a port of their own have one client_id, as RFC 7591 §3.2.1 permits.
func ShareRegistration(uris []string) []string {
	shared := make([]string, len(uris))
	for i, uri := range uris {
		shared[i] = uri
		if trimmed := trimLoopbackPort(uri); trimmed != "" {
			shared[i] = trimmed
		}
	}
	slices.Sort(shared)
	return slices.Compact(shared)
}

// RegistrableURIs returns the redirection URIs that one registration may have. If the code can be
// sent to a program on the user's computer, those of hosts are left out: a registration proves
// nothing, and any program could register as one of a host that it has nothing to do with. URIs
// that RegisteredHost refuses stay, for a refusal.
func RegistrableURIs(uris []string) []string {
	isLocal := func(uri string) bool { host, note := RegisteredHost(uri); return host == "" && note == "" }
	if !slices.ContainsFunc(uris, isLocal) {
		return uris
	}
	return slices.DeleteFunc(slices.Clone(uris), func(uri string) bool { return schemeOf(uri) == "https" })
}

// A Registered is the response to a registration (RFC 7591 §3.2.1). It has what the client is
// registered with, whatever else it asked for.
type Registered struct {
	ClientID      string   `json:"client_id"`
	Name          string   `json:"client_name"`
	RedirectURIs  []string `json:"redirect_uris"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
}

// NewRegistered returns the response for a client_id.
func NewRegistered(clientID, name string, redirectURIs []string) Registered {
	return Registered{
		ClientID: clientID, Name: name, RedirectURIs: redirectURIs,
		GrantTypes: []string{string(AuthorizationCode), string(RefreshToken)}, ResponseTypes: []string{"code"}, AuthMethod: "none",
	}
}

// webSchemes are schemes that browsers use themselves. A URI with one of them does not start a
// program that was installed for it.
var webSchemes = []string{
	"http", "https", "ws", "wss", "ftp", "file", "data", "blob", "filesystem", "about", "javascript", "vbscript", "view-source",
	"chrome", "chrome-extension", "moz-extension", "resource", "mailto", "tel", "sms", "intent", "urn",
	// These open a page in a browser.
	"googlechrome", "googlechromes", "microsoft-edge", "microsoft-edge-holographic", "firefox", "firefox-focus", "firefox-klar",
	"brave", "duckduckgo", "opera", "vivaldi", "ucbrowser", "x-safari", "safari",
}

// opensPages reports whether a scheme is one of browsers, or one like x-safari-https, which they
// open the rest of the URI for.
func opensPages(scheme string) bool {
	return slices.Contains(webSchemes, scheme) || strings.HasSuffix(scheme, "http") || strings.HasSuffix(scheme, "https")
}

// embedsURL reports whether a part of a URI behind its scheme is an address of its own, also one
// that is percent-encoded, however often: what receives the URI may open it.
func embedsURL(part string) bool {
	for range 4 {
		part = strings.ReplaceAll(part, `\`, "/") // as browsers read it
		if strings.Contains(part, "//") || strings.Contains(part, ":/") {
			return true
		}
		decoded, err := url.PathUnescape(part)
		if err != nil || decoded == part {
			return err != nil
		}
		part = decoded
	}
	return true
}

// CheckPrivateURI returns why uri can't be a redirection URI with a private-use scheme that an
// administrator lists, or "". Programs use schemes without a dot, which RFC 8252 §7.1 doesn't
// permit, so an administrator decides about each.
func CheckPrivateURI(uri string) string {
	scheme := schemeOf(uri)
	switch {
	case scheme == "" || scheme[0] < 'a':
		return "must begin with a scheme in lower case"
	case opensPages(strings.ToLower(scheme)):
		return "must have a scheme of the program's own"
	case !strings.HasPrefix(uri[len(scheme):], "://"):
		return "must have :// after its scheme"
	case embedsURL(uri[len(scheme)+len("://"):]):
		return "must not contain another address"
	case strings.Contains(scheme, "."):
		return CheckRedirectURI(uri, true)
	}
	// The rules for a scheme with a dot hold for the others too.
	return CheckRedirectURI("x."+uri, true)
}

// RegisteredHost returns the host of a redirection URI of a registered client, "" if it is on
// the user's computer: http on the loopback, or a private-use scheme. note is why it is
// neither. A host is one that CheckPublisher accepts, so it is never ledger.LocalPublisher.
func RegisteredHost(uri string) (host, note string) {
	u, err := url.Parse(uri)
	if err != nil {
		return "", "is not an absolute URI"
	}
	switch u.Scheme {
	case "https":
		if note := CheckRedirectURI(uri, true); note != "" {
			return "", note
		}
		if u.RawQuery != "" || u.ForceQuery { // it could make a page of the host pass the code on
			return "", "must not have a query"
		}
		return u.Host, CheckPublisher(u.Host)
	case "http":
		return "", CheckRedirectURI(uri, true) // for the loopback only
	}
	return "", CheckPrivateURI(uri)
}
