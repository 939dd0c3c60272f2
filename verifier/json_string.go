package verifier

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// text reads a string. Without an escape it is a substring of the input.
func (s *scanner) text() (string, error) {
	if s.peek() != '"' {
		return "", errJSON
	}
	s.pos++
	start := s.pos
	for ; s.pos < len(s.in); s.pos++ {
		switch c := s.in[s.pos]; {
		case c == '"':
			s.pos++
			return s.in[start : s.pos-1], nil
		case c == '\\':
			return s.escapedText(start)
		case c < 0x20:
			return "", errJSON
		}
	}
	return "", errJSON
}

// escapedText continues text from its first escape.
func (s *scanner) escapedText(start int) (string, error) {
	var b strings.Builder
	b.WriteString(s.in[start:s.pos])
	for s.pos < len(s.in) {
		c := s.in[s.pos]
		s.pos++
		switch {
		case c == '"':
			return b.String(), nil
		case c < 0x20:
			return "", errJSON
		case c != '\\':
			b.WriteByte(c)
		default:
			r, err := s.escape()
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
		}
	}
	return "", errJSON
}

// escape reads what follows a backslash (RFC 8259 §7).
func (s *scanner) escape() (rune, error) {
	if s.pos == len(s.in) {
		return 0, errJSON
	}
	c := s.in[s.pos]
	s.pos++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return s.unicodeEscape()
	}
	return 0, errJSON
}

// unicodeEscape reads the digits of \uXXXX, and the second half of a surrogate pair. Half
// a pair is refused, since readers decode it differently.
func (s *scanner) unicodeEscape() (rune, error) {
	r, err := s.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if !s.skip('\\') || !s.skip('u') {
		return 0, errJSON
	}
	low, err := s.hex4()
	if err != nil {
		return 0, err
	}
	pair := utf16.DecodeRune(r, low)
	if pair == '\uFFFD' {
		return 0, errJSON
	}
	return pair, nil
}

func (s *scanner) hex4() (rune, error) {
	if len(s.in)-s.pos < 4 {
		return 0, errJSON
	}
	digits := s.in[s.pos : s.pos+4]
	s.pos += 4
	if strings.ContainsAny(digits, "+-_") {
		return 0, errJSON
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return 0, errJSON
	}
	return rune(n), nil
}
