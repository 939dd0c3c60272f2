package scope

import "strings"

// Parse reads the scope parameter of an authorization request: names
// separated by spaces or by commas. RFC 6749 §3.3 knows spaces only; section
// 4.1 of the service document adds commas. Runs of separators count as one,
// duplicates collapse.
//
// It returns the set, and the names as text: each once, in the order of the request,
// separated by single spaces. An unknown name, or a character that no scope can have,
// is an [*UnknownError]. So are separators without a name, since the parameter is not
// empty. The empty string gives an empty set and no error: the caller decides whether a
// request needs a scope.
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

// FromClaim reads the scope claim of a token (RFC 9068 §2.2.3): names
// separated by spaces. An unknown name is ignored: a newer issuer may know
// more scopes than this program, and what it doesn't know opens nothing.
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
	Name string // as it was sent: never print it raw, print Error
}

// maxEcho bounds how much of an unknown name an error repeats.
const maxEcho = 64

// Error is fit for error_description and for a log line: it repeats the name
// only if it is short and made of scope-token characters (RFC 6749 §3.3), all
// of which error_description may hold (§5.2), and never " or \.
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
