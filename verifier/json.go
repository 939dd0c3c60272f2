package verifier

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Bounds on the JSON of headers, claims and keys. That of real tokens nests two deep.
const (
	maxDepth   = 8
	maxMembers = 64 // of one object
)

var errJSON = errors.New("not strict JSON")

// scanner reads JSON (RFC 8259) strictly. Unlike encoding/json it refuses an object with
// two members of the same name, also if they differ in letter case only, since two
// readers could use different ones (RFC 8725 §2.6). It also refuses invalid UTF-8, lone
// surrogates, and numbers outside the range of a float64. A string without an escape is a
// substring of the input.
//
// Every method that reads advances past what it has read, or returns errJSON.
type scanner struct {
	in        string
	pos       int
	depth     int
	validUTF8 bool
}

// object reads an object. It calls member after each name; member reads the value.
func (s *scanner) object(member func(name string) error) error {
	if err := s.open('{'); err != nil {
		return err
	}
	if s.closes('}') {
		return nil
	}
	var seen [maxMembers]string
	for n := 0; n < maxMembers; n++ {
		name, err := s.text()
		if err != nil {
			return err
		}
		if isAmong(name, seen[:n]) {
			return errJSON
		}
		seen[n] = name
		if s.peek() != ':' {
			return errJSON
		}
		s.pos++
		if err := member(name); err != nil {
			return err
		}
		if s.closes('}') {
			return nil
		}
		if err := s.comma(); err != nil {
			return err
		}
	}
	return errJSON
}

// array reads an array. It calls element before each element; element reads it.
func (s *scanner) array(element func() error) error {
	if err := s.open('['); err != nil {
		return err
	}
	if s.closes(']') {
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if s.closes(']') {
			return nil
		}
		if err := s.comma(); err != nil {
			return err
		}
	}
}

// value reads a value of any type and discards it.
func (s *scanner) value() error {
	switch s.peek() {
	case '{':
		return s.object(func(string) error { return s.value() })
	case '[':
		return s.array(func() error { return s.value() })
	case '"':
		_, err := s.text()
		return err
	case 't', 'f':
		_, err := s.boolean()
		return err
	case 'n':
		return s.literal("null")
	}
	return s.float64()
}

func (s *scanner) boolean() (bool, error) {
	if s.peek() == 't' {
		return true, s.literal("true")
	}
	return false, s.literal("false")
}

// end returns an error unless only white space is left.
func (s *scanner) end() error {
	if s.peek() != 0 || s.pos != len(s.in) {
		return errJSON
	}
	return nil
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.pos < len(s.in); s.pos++ {
		switch c := s.in[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// open enters an object or array.
func (s *scanner) open(bracket byte) error {
	if s.peek() != bracket || s.depth == maxDepth {
		return errJSON
	}
	if !s.validUTF8 {
		if !utf8.ValidString(s.in) {
			return errJSON
		}
		s.validUTF8 = true
	}
	s.depth++
	s.pos++
	return nil
}

// closes leaves an object or array if it ends here.
func (s *scanner) closes(bracket byte) bool {
	if s.peek() != bracket {
		return false
	}
	s.depth--
	s.pos++
	return true
}

func (s *scanner) comma() error {
	if s.peek() != ',' {
		return errJSON
	}
	s.pos++
	return nil
}

func (s *scanner) literal(word string) error {
	if !strings.HasPrefix(s.in[s.pos:], word) {
		return errJSON
	}
	s.pos += len(word)
	return nil
}

// isAmong reports whether name equals one of names, ignoring letter case.
func isAmong(name string, names []string) bool {
	for _, other := range names {
		if strings.EqualFold(name, other) {
			return true
		}
	}
	return false
}
