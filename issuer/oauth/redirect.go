package oauth

import (
	"net/url"
	"strconv"
	"strings"
)

// MaxRedirectURI is the maximum length of a client's redirection URI, in bytes.
const MaxRedirectURI = 1024

// CheckRedirectURI returns why uri can't be registered for a client, or "" if it can.
// The scheme must be https, or http on the loopback, or for public clients a private-use
// scheme with a dot in it (RFC 8252 §7.1). The URI must not have a fragment (RFC 6749
// §3.1.2), user information, a wildcard, a host that CheckHost refuses, or a parameter
// that the authorization response adds.
func CheckRedirectURI(uri string, public bool) string {
	switch {
	case uri == "":
		return "is empty"
	case len(uri) > MaxRedirectURI:
		return "is longer than 1,024 bytes"
	case !printable(uri):
		return "holds a space, a control character or a character outside ASCII"
	case strings.ContainsAny(uri, `\<>"{}|^`+"`"):
		return "holds a character that no URI may have"
	case strings.Contains(uri, "#"):
		return "must not have a part after #"
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil || !u.IsAbs():
		return "is not an absolute URI"
	case u.User != nil:
		return "has user information"
	case u.Scheme != schemeOf(uri):
		return "must have its scheme in lower case"
	}
	switch u.Scheme {
	case "https", "http":
		switch {
		case u.Hostname() == "":
			return "has no host"
		case strings.Contains(u.Host, "*"):
			return "has a wildcard in its host"
		case !validPort(u.Host, u.Port()):
			return "has a bad port"
		case u.Scheme == "http" && !loopback(u.Hostname()):
			return "must be https; http is for localhost, 127.0.0.1 and [::1] only"
		}
		if note := CheckHost(u); note != "" {
			return note
		}
		return checkQuery(u.RawQuery)
	}
	switch {
	case !strings.Contains(u.Scheme, "."):
		return "must be https, or a private-use scheme with a dot in it"
	case !public:
		return "may have a private-use scheme for public clients only"
	}
	return checkQuery(u.RawQuery)
}

// MatchRedirectURI reports whether a request may use the URI requested, given that
// registered is registered. The two must be equal as strings (RFC 9700 §2.1), with one
// exception: for a public client, the port of an http URI on the loopback may differ, since a
// native app can't know its port in advance (RFC 8252 §7.3). The exception includes
// localhost, which the RFC doesn't: command-line tools and agents register and send it.
func MatchRedirectURI(registered, requested string, public bool) bool {
	if registered == requested {
		return true
	}
	if !public {
		return false
	}
	trimmed := trimLoopbackPort(registered)
	return trimmed != "" && trimmed == trimLoopbackPort(requested)
}

// trimLoopbackPort removes the port of an http URI on 127.0.0.1, [::1] or localhost. It
// returns "" for any other URI.
func trimLoopbackPort(uri string) string {
	for _, origin := range []string{"http://127.0.0.1", "http://[::1]", "http://localhost"} {
		rest, ok := strings.CutPrefix(uri, origin)
		if !ok {
			continue
		}
		if port, hasPort := strings.CutPrefix(rest, ":"); hasPort {
			digits := 0
			for digits < len(port) && port[digits] >= '0' && port[digits] <= '9' {
				digits++
			}
			if !validPort(":", port[:digits]) {
				return ""
			}
			rest = port[digits:]
		}
		if rest != "" && rest[0] != '/' && rest[0] != '?' {
			return "" // 127.0.0.1.example.com, or a port that is not a number
		}
		if strings.ContainsAny(rest, "# \t\r\n") || !printable(rest) {
			return ""
		}
		return origin + rest
	}
	return ""
}

// IsLoopback reports whether a redirect URI leads to a program on the user's computer: an http URI
// on the loopback.
func IsLoopback(uri string) bool { return trimLoopbackPort(uri) != "" }

// RedirectHost returns what to show a user as the target of a code: the host of an http or
// https URI, or the scheme of another.
func RedirectHost(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	if u.Scheme == "http" || u.Scheme == "https" {
		return u.Host
	}
	return u.Scheme
}

func schemeOf(uri string) string {
	scheme, _, _ := strings.Cut(uri, ":")
	return scheme
}

func loopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

// validPort accepts no port, or a number from 1 to 65535. It refuses a host with a trailing
// colon, whose empty port is equivalent to none but compares unequal.
func validPort(host, port string) bool {
	if port == "" {
		return !strings.HasSuffix(host, ":")
	}
	_, err := strconv.ParseUint(port, 10, 16)
	return err == nil && port[0] != '0'
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
