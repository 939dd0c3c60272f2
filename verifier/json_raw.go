package verifier

// maxRawDepth bounds what raw passes over.
const maxRawDepth = 64

// raw passes over a value of any type and returns its text. It finds only where
// the value ends, and leaves it to whoever reads the text whether that is strict
// JSON: one doubtful entry of a key set must not take the others with it. What
// it accepts has balanced brackets and closed strings; it doesn't look at what
// stands between them.
func (s *scanner) raw() (string, error) {
	s.peek()
	start := s.pos
	if err := s.pass(); err != nil || s.pos == start {
		return "", errJSON
	}
	return s.in[start:s.pos], nil
}

// pass stops behind a value, or at what ends the array or object that it is in.
func (s *scanner) pass() error {
	var open [maxRawDepth]byte // the brackets that would close what is open
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
			open[depth] = c + 2 // in ASCII, ] and } are two behind [ and {
			depth++
		case '}', ']':
			if depth == 0 {
				return nil // the end of what the value is in
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

// passString passes over a string.
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
