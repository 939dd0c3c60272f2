package oauth

import (
	"cmp"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// CheckHost returns why the host of an http URI is refused, or "". The host must be an IP
// address or a name as browsers spell it. Users might misread another spelling, and a
// Content-Security-Policy could not name its origin, so a browser would block the redirect
// to it after a form.
func CheckHost(u *url.URL) string {
	host := u.Hostname()
	switch {
	case host == "":
		return "has no host"
	case !validPort(u.Host, u.Port()):
		return "has a bad port"
	case strings.HasPrefix(u.Host, "["):
		if a, _ := netip.ParseAddr(host); !a.Is6() || a.Zone() != "" {
			return "has a host that is no IP address"
		}
		return ""
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || strings.ContainsFunc(label, notOfHost) {
			return "has a host with other than letters, digits, hyphens, and single dots between them"
		}
	}
	return ""
}

// SameOrigin reports whether two http or https URIs have the same origin (RFC 6454 §5):
// scheme, host and port, in any spelling. localhost, 127.0.0.1 and [::1] are treated as one
// host, since a server on the loopback is reachable under all of them. A URI with another
// scheme has no origin.
func SameOrigin(a, b string) bool {
	o := originOf(a)
	return o != "" && o == originOf(b)
}

// originOf returns the origin of a URI in canonical spelling, or "" if it has none.
func originOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	port, known := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if !known {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if a, err := netip.ParseAddr(host); err == nil {
		host = a.String()
	}
	if loopback(host) {
		host = "localhost"
	}
	return u.Scheme + " " + host + " " + cmp.Or(u.Port(), port)
}

func notOfHost(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
}

// responseParameters are the parameters of an authorization response (RFC 6749 §4.1.2 and
// §4.1.2.1, RFC 9207 §2). The response adds them to the query of the redirection URI.
var responseParameters = []string{"code", "state", "error", "error_description", "error_uri", "iss"}

// checkQuery refuses a query with a parameter that the response adds, since the response
// would then have it twice (RFC 6749 §3.1).
func checkQuery(query string) string {
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if plain, _ := url.QueryUnescape(name); slices.Contains(responseParameters, plain) {
			return "has the parameter " + plain + " in its query, which the answer adds"
		}
	}
	return ""
}
