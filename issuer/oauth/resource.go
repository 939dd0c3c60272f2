package oauth

import (
	"net/netip"
	"net/url"
	"strings"
)

// MaxResource is the maximum length of the identifier of a resource server, in bytes.
const MaxResource = 512

// CheckResource returns why uri is not the identifier of a resource server, or "" if it is.
// It must be an https URI, or http on the loopback, without query, fragment and user
// information (RFC 8707 §2), and in its canonical spelling (RFC 3986 §6.2), since
// identifiers are compared as strings.
func CheckResource(uri string) string {
	switch scheme := strings.ToLower(schemeOf(uri)); {
	case len(uri) > MaxResource:
		return "is longer than 512 bytes"
	case scheme != "https" && scheme != "http":
		return "must be an https URI"
	}
	if note := CheckRedirectURI(uri, false); note != "" {
		return note
	}
	if strings.Contains(uri, "?") {
		return "must not have a query"
	}
	u, _ := url.Parse(uri) // CheckRedirectURI accepts no URI that it can't read
	if c := canonical(u); c != uri {
		return "must be written as " + c
	}
	return ""
}

// ResourceSpellings returns the identifiers that the parameter resource may stand for
// (RFC 8707 §2), the exact one first. Clients add a slash to an identifier, or leave out its
// last one, when they join URLs. Nothing else is normalized.
func ResourceSpellings(resource string) [2]string {
	if cut, ok := strings.CutSuffix(resource, "/"); ok {
		return [2]string{resource, cut}
	}
	return [2]string{resource, resource + "/"}
}

// canonical returns the canonical spelling of an http or https URI without query and
// fragment: a host in lower case, no default port, no dot segments, no percent-encoding of
// what needs none, and no path "/".
func canonical(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if a, _ := netip.ParseAddr(host); a.Is6() { // the address beside an error is of neither version
		host = "[" + a.String() + "]"
	}
	if port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		host += ":" + port
	}
	clean := (&url.URL{Scheme: u.Scheme, Host: host, Path: u.Path, RawPath: normalized(u.EscapedPath())}).JoinPath()
	if clean.Path == "/" {
		clean.Path = ""
	}
	return clean.String()
}

// normalized returns a path with percent-encoding in upper case, and only of what needs it
// (RFC 3986 §6.2.2).
func normalized(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			b.WriteByte(path[i])
			continue
		}
		plain, _ := url.PathUnescape(path[i : i+3]) // EscapedPath returns valid encodings only
		if strings.ContainsAny(plain, unreserved) {
			b.WriteString(plain)
		} else {
			b.WriteString(strings.ToUpper(path[i : i+3]))
		}
		i += 2
	}
	return b.String()
}

const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~" // RFC 3986 §2.3
