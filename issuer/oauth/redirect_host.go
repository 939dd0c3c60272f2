package oauth

import (
	"cmp"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// CheckHost says why people can't be told the host of an http URI, or "". It is a
// name as a browser writes it or an IP address: of any other host a
// Content-Security-Policy can't name the origin, and without that a browser
// follows no form to it.
func CheckHost(u *url.URL) string {
	host := u.Hostname()
	switch {
	case u.Opaque != "" || host == "":
		return "has no host"
	case !validPort(u.Host, u.Port()):
		return "has a bad port"
	case strings.HasPrefix(u.Host, "["):
		if a, err := netip.ParseAddr(host); err != nil || !a.Is6() || a.Zone() != "" {
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

// SameOrigin reports whether two http URIs have one origin (RFC 6454 §5): their
// scheme, host and port, in whatever way each of them is written. localhost,
// 127.0.0.1 and [::1] are one host, since a server on the loopback answers to all of
// them. A URI of another scheme has no origin.
func SameOrigin(a, b string) bool {
	o := originOf(a)
	return o != "" && o == originOf(b)
}

// originOf is a text that two URIs have in common if they have one origin.
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

// answered are the parameters of an authorization response (RFC 6749 §4.1.2 and
// §4.1.2.1, RFC 9207 §2), which are added to the query of the URI.
var answered = []string{"code", "state", "error", "error_description", "error_uri", "iss"}

// checkQuery refuses what a response would have twice (RFC 6749 §3.1).
func checkQuery(query string) string {
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil && slices.Contains(answered, plain) {
			return "has the parameter " + plain + " in its query, which the answer adds"
		}
	}
	return ""
}
