package scope

import "strings"

// Parse reads the scope parameter of an authorization request: names separated by spaces
// (RFC 6749 §3.3) or commas (section 4.1 of the service document). Runs of separators
// count as one, and duplicates are dropped.
//
// It returns the set, and the names as text: each once, in the order of the request,
// separated by single spaces. An unknown name, or a character that no scope can have, is
// an [*UnknownError]. So are separators without a name, since the parameter is not empty.
// The empty string gives an empty set and no error: the caller decides whether a request
// needs a scope.
func Parse(s string) (set Set, text string, err error) {
	var asked strings.Builder
	for name := range strings.FieldsFuncSeq(s, separator) {
		i, ok := position[name]
		if !ok {
			return Set{}, "", &UnknownError{Name: name}
		}
		if set.bits&(1<<i) != 0 {
			continue
		}
		set.bits |= 1 << i
		if asked.Len() > 0 {
			asked.WriteByte(' ')
		}
		asked.WriteString(name)
	}
	if s != "" && asked.Len() == 0 {
		return Set{}, "", &UnknownError{}
	}
	return set, asked.String(), nil
}

func separator(r rune) bool { return r == ' ' || r == ',' }

// FromClaim reads the scope claim of a token (RFC 9068 §2.2.3): names separated by
// spaces. An unknown name is ignored: it may be from a newer issuer, and allows nothing
// here.
func FromClaim(s string) Set {
	var set Set
	for s != "" {
		var name string
		name, s, _ = strings.Cut(s, " ")
		if i, ok := position[name]; ok {
			set.bits |= 1 << i
		}
	}
	return set
}

// UnknownError is a scope that isn't in the catalogue.
type UnknownError struct {
	Name string // as received; unsafe to print: print Error
}

// maxEcho is the longest unknown name that an error repeats, in bytes.
const maxEcho = 64

// Error returns a text that is safe for error_description and for a log line: it repeats
// the name only if it is short and consists of scope-token characters (RFC 6749 §3.3),
// which error_description allows (§5.2).
func (e *UnknownError) Error() string {
	if e.Name == "" || len(e.Name) > maxEcho || !isScopeToken(e.Name) {
		return "unknown scope"
	}
	return "unknown scope '" + e.Name + "'"
}

// isScopeToken reports whether s is 1*( %x21 / %x23-5B / %x5D-7E ).
func isScopeToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x21 || c > 0x7e || c == '"' || c == '\\' {
			return false
		}
	}
	return s != ""
}
