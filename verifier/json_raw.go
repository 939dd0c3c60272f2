package verifier

// maxRawDepth bounds the nesting of a value that raw reads.
const maxRawDepth = 64

// raw reads a value of any type and returns its text. It only finds the end of the value,
// and checks that brackets are balanced and strings are closed. The reader of the text
// checks that it is strict JSON: one malformed entry of a key set must not make the other
// entries unusable.
func (s *scanner) raw() (string, error) {
	s.peek()
	start := s.pos
	if err := s.pass(); err != nil || s.pos == start {
		return "", errJSON
	}
	return s.in[start:s.pos], nil
}

// pass advances past a value, or to the character that ends the array or object around
// it.
func (s *scanner) pass() error {
	var open [maxRawDepth]byte // the closing brackets that are still missing
	depth := 0
	for s.pos < len(s.in) {
		switch c := s.in[s.pos]; c {
		case '"':
			if !s.passString() {
				return errJSON
			}
			if depth == 0 {
				return nil
			}
			continue
		case '{', '[':
			if depth == maxRawDepth {
				return errJSON
			}
			open[depth] = c + 2 // in ASCII, ] is [ + 2 and } is { + 2
			depth++
		case '}', ']':
			if depth == 0 {
				return nil // the end of the array or object around the value
			}
			depth--
			if open[depth] != c {
				return errJSON
			}
			if depth == 0 {
				s.pos++
				return nil
			}
		case ',':
			if depth == 0 {
				return nil
			}
		}
		s.pos++
	}
	return errJSON
}

// passString advances past a string.
func (s *scanner) passString() bool {
	for s.pos++; s.pos < len(s.in); s.pos++ {
		switch s.in[s.pos] {
		case '\\':
			s.pos++
		case '"':
			s.pos++
			return true
		}
	}
	return false
}
