package ledger

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

func digest(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// clip returns s truncated to at most n bytes, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// checkText returns why s is not valid as a text that is displayed, or "". Lengths are in
// characters.
func checkText(s string, least, most int) string {
	switch {
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	case utf8.RuneCountInString(s) > most:
		return fmt.Sprintf("is too long: %d characters, at most %d", utf8.RuneCountInString(s), most)
	case utf8.RuneCountInString(strings.TrimSpace(s)) < least:
		return "is empty"
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) }):
		return "holds a control character"
	}
	switch runes := []rune(s); {
	case len(visible(runes)) < len(runes):
		return "has an invisible character"
	case slices.ContainsFunc(runes, private):
		return "holds a private-use character, which has no meaning of its own"
	case len(limitMarks(runes)) < len(runes):
		return "stacks more than four accents on one letter"
	case least > 0 && strings.TrimFunc(s, blank) == "":
		return "is empty"
	}
	return ""
}

// MaxID is the maximum length of the identifier of a client or user.
const MaxID = 128

// checkID returns why s is not valid as an identifier, or "". An identifier has 1 to 128
// printable ASCII characters that have no special meaning in a URL, in HTTP Basic or in a
// log.
func checkID(s string) string {
	if s == "" || len(s) > MaxID {
		return "must have 1 to 128 characters"
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == '~', c == '@', c == '|':
		default:
			return "may hold letters, digits and - _ . ~ @ | only"
		}
	}
	return ""
}

// checkClientID is checkID for a client that is registered here.
func checkClientID(s string) string {
	for _, reserved := range []string{documentID, oauth.RegisteredPrefix} {
		if strings.HasPrefix(s, reserved) {
			return "must not begin with " + reserved
		}
	}
	return checkID(s)
}

// checkWebsite returns why s is not valid as the address of a page that people may open, or "".
func checkWebsite(s string) string {
	switch {
	case s == "":
		return ""
	case len(s) > 1024 || strings.ContainsAny(s, " \t\r\n\"<>\\") || strings.ContainsFunc(s, unicode.IsControl):
		return "is not an address"
	case !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://"):
		return "must begin with https:// or http://"
	case strings.ContainsFunc(s, func(r rune) bool { return r > '~' }):
		return "holds a character outside ASCII; a host that has one is written as xn--"
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "is not an address"
	case u.User != nil:
		return "has user information"
	}
	return oauth.CheckHost(u)
}
