package policy

import (
	"errors"
	"fmt"
	"strings"
)

// maxSegments is the longest pattern. The bound lets a match use an array on the stack.
const maxSegments = 16

// segment is one segment of a pattern.
type segment struct {
	text  string // literal, or the parameter's name
	param bool
}

// parsePattern reads a pattern.
func parsePattern(pattern string) ([]segment, error) {
	rest, ok := strings.CutPrefix(pattern, "/")
	if !ok {
		return nil, errors.New("the pattern does not begin with a slash")
	}
	if rest == "" {
		return nil, nil
	}
	parts := strings.Split(rest, "/")
	if len(parts) > maxSegments {
		return nil, fmt.Errorf("the pattern has more than %d segments", maxSegments)
	}
	names := map[string]bool{}
	segments := make([]segment, len(parts))
	for i, part := range parts {
		s, err := parseSegment(part)
		if err != nil {
			return nil, err
		}
		if s.param && names[s.text] {
			return nil, fmt.Errorf("the pattern has the parameter %q twice", s.text)
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
		return segment{}, errors.New("the pattern has an empty segment, or a slash at the end")
	case text == "." || text == "..":
		return segment{}, errors.New("the pattern has a dot segment")
	case param && !isName(name):
		return segment{}, fmt.Errorf("parameter %q has a character other than letters, digits and _", text)
	case !isLiteral(name):
		// Any other character has two spellings in a URL, and routers differ in which one
		// they match.
		return segment{}, fmt.Errorf("segment %q has a character other than letters, digits, '-', '.' and '_'", text)
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

// inLiterals reports whether c is an unreserved character of RFC 3986 §2.3, except the
// tilde, which many clients encode.
func inLiterals(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_'
}

// shape returns the pattern without the parameters' names: two patterns of one shape
// match the same paths.
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
