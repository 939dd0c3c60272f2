package clientdoc

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// IsURL reports whether a client_id is meant as the URL of a document. CheckURL tells whether
// it is valid.
func IsURL(clientID string) bool { return strings.HasPrefix(clientID, "https://") }

// CheckURL returns why a client_id is not the URL of a document, or "" if it is (draft
// §3). The URL must have a path, and no query, fragment, user information or dot segments.
// It is compared as a string, so it must be in its canonical spelling. The host must be a
// name of the public DNS, since it is what users and administrators decide about. The port is
// 443: another one may belong to somebody else on the same host.
func CheckURL(clientID string) string {
	if !IsURL(clientID) {
		return "must be an https URL"
	}
	if note := oauth.CheckResource(clientID); note != "" {
		return note
	}
	u, err := url.Parse(clientID)
	switch {
	case err != nil:
		return "is not an absolute URI"
	case u.Path == "":
		return "must have a path"
	case u.Port() != "":
		return "must have no port"
	}
	return CheckHost(u.Host)
}

// localNames are the domains that the public DNS does not have (RFC 6761, RFC 6762, RFC 7686,
// RFC 8375, RFC 9476, and ICANN's reservation of internal).
var localNames = []string{"localhost", "local", "internal", "invalid", "onion", "alt", "arpa"}

// CheckHost returns why host can't be the host of a publisher, or "" if it can. It must be a
// name of the public DNS in lower case.
func CheckHost(host string) string {
	if note := oauth.CheckHost(&url.URL{Scheme: "https", Host: host}); note != "" {
		return note
	}
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	switch {
	case strings.Contains(host, ":") || strings.HasPrefix(host, "["):
		return "must have a host without a port"
	case host != strings.ToLower(host):
		return "must have its host in lower case"
	case len(host) > 253 || slices.ContainsFunc(labels, func(l string) bool { return len(l) > 63 }):
		return "has a host that is too long"
	case len(labels) < 2 || slices.Contains(localNames, last):
		return "must have a host of the public DNS"
	case last[0] >= '0' && last[0] <= '9':
		return "must have a host name, not an address" // 127.1 and 0x7f.0.0.1 are addresses to some resolvers
	}
	return ""
}

// Host returns the host of a URL that CheckURL accepts.
func Host(clientID string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(clientID, "https://"), "/")
	return host
}
