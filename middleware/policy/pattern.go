package policy

import (
	"errors"
	"fmt"
	"strings"
)

// maxSegments bounds a pattern, so that a match needs no memory of its own.
const maxSegments = 16

// segment is one of a pattern.
type segment struct {
	text  string // literal, or the parameter's name
	param bool
}

// parsePattern reads a pattern.
func parsePattern(pattern string) ([]segment, error) {
	rest, ok := strings.CutPrefix(pattern, "/")
	if !ok {
		return nil, errors.New("a pattern begins with a slash")
	}
	if rest == "" {
		return nil, nil
	}
	parts := strings.Split(rest, "/")
	if len(parts) > maxSegments {
		return nil, fmt.Errorf("a pattern has at most %d segments", maxSegments)
	}
	names := map[string]bool{}
	segments := make([]segment, len(parts))
	for i, part := range parts {
		s, err := parseSegment(part)
		if err != nil {
			return nil, err
		}
		if s.param && names[s.text] {
			return nil, fmt.Errorf("the parameter %q is there twice", s.text)
		}
		names[s.text] = s.param || names[s.text]
		segments[i] = s
	}
	return segments, nil
}

func parseSegment(text string) (segment, error) {
	name, param := strings.CutPrefix(text, ":")
	if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
		name, param = text[1:len(text)-1], true
	}
	switch {
	case text == "":
		return segment{}, errors.New("an empty segment, or a slash at the end")
	case text == "." || text == "..":
		return segment{}, errors.New("a dot segment")
	case param && !isName(name):
		return segment{}, fmt.Errorf("%q is no parameter: a name has letters, digits and _", text)
	case !isLiteral(name):
		// Any other character has two spellings in a URL, and routers differ in
		// which of them is the literal.
		return segment{}, fmt.Errorf("the segment %q: a literal has letters, digits, '-', '.' and '_'", text)
	}
	return segment{name, param}, nil
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, letters+digits+"_") == ""
}

func isLiteral(s string) bool {
	for i := range len(s) {
		if !inLiterals(s[i]) {
			return false
		}
	}
	return true
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

// inLiterals are the unreserved characters of RFC 3986 §2.3, the tilde apart,
// which many clients encode.
func inLiterals(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_'
}

// shape is the pattern without the parameters' names: two patterns of one shape
// meet the same paths.
func shape(segments []segment) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteByte('/')
		if s.param {
			b.WriteByte(':')
		} else {
			b.WriteString(s.text)
		}
	}
	return b.String()
}
