package oauth

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// MinDocumentAge and MaxDocumentAge bound how long a metadata document is used without fetching
// it again.
const (
	MinDocumentAge = time.Hour
	MaxDocumentAge = 24 * time.Hour
)

// IsDocumentURL reports whether a client_id is meant as the URL of a Client ID Metadata
// Document (draft-ietf-oauth-client-id-metadata-document). CheckDocumentURL tells whether
// it is valid.
func IsDocumentURL(clientID string) bool { return strings.HasPrefix(clientID, "https://") }

// CheckDocumentURL returns why a client_id is not the URL of a metadata document, or "" if it is
// (draft §3). The URL must have a path, and no query, fragment, user information or dot
// segments. It is compared as a string, so it must be in its canonical spelling. The host must
// be a name of the public DNS, since it is what users and administrators decide about. The port
// is 443: another one may belong to somebody else on the same host.
func CheckDocumentURL(clientID string) string {
	if !IsDocumentURL(clientID) {
		return "must be an https URL"
	}
	if note := CheckResource(clientID); note != "" {
		return note
	}
	host := DocumentHost(clientID)
	if clientID == "https://"+host {
		return "must have a path"
	}
	return CheckPublisher(host)
}

// localNames are top-level domains without public hosts, and arpa, which is for infrastructure
// (RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476, and ICANN's reservation of internal).
var localNames = []string{"localhost", "local", "internal", "invalid", "onion", "alt", "arpa"}

// CheckPublisher returns why host can't be the host of a publisher, or "" if it can. It must be a
// name of the public DNS in lower case.
func CheckPublisher(host string) string {
	if note := CheckHost(&url.URL{Scheme: "https", Host: host}); note != "" {
		return note
	}
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	switch {
	case strings.Contains(host, ":"):
		return "must have a host without a port"
	case host != strings.ToLower(host):
		return "must have its host in lower case"
	case len(host) > 253 || slices.ContainsFunc(labels, func(l string) bool { return len(l) > 63 }):
		return "has a host that is too long"
	case len(labels) < 2 || slices.Contains(localNames, last):
		return "must have a host of the public DNS"
	case last[0] < 'a':
		return "must have a host name, not an address" // 127.1 and 0x7f.0.0.1 are addresses to some resolvers
	}
	return ""
}

// DocumentHost returns the host of a URL that CheckDocumentURL accepts.
func DocumentHost(clientID string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(clientID, "https://"), "/")
	return host
}

// CheckDocumentRedirectURI returns why uri can't be a redirection URI in a document of host, or
// "" if it can: it must have that host, or be http on the loopback.
func CheckDocumentRedirectURI(uri, host string) string {
	if note := CheckRedirectURI(uri, true); note != "" {
		return note
	}
	switch scheme := schemeOf(uri); {
	case scheme == "http": // CheckRedirectURI accepts it for the loopback only
		return ""
	case scheme == "https" && RedirectHost(uri) == host:
		return ""
	}
	return "is neither of the document's host nor of the loopback"
}
