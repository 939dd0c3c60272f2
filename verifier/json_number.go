package verifier

import "strconv"

// seconds reads a NumericDate (RFC 7519 §2): whole seconds in plain digits, up to the end
// of the year 9999. Fractions and exponents are allowed by the RFC, but are refused: no
// issuer needs them, and readers round them differently.
func (s *scanner) seconds() (int64, error) {
	const year9999 = 253402300799
	number, err := s.number()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || n > year9999 {
		return 0, errJSON
	}
	return int64(n), nil
}

// float64 reads a number whose value is not needed, and checks its range.
func (s *scanner) float64() error {
	number, err := s.number()
	if err != nil {
		return err
	}
	if _, err := strconv.ParseFloat(number, 64); err != nil {
		return errJSON
	}
	return nil
}

// number checks the grammar of RFC 8259 §6 and returns the number's text.
func (s *scanner) number() (string, error) {
	s.peek()
	start := s.pos
	s.skip('-')
	if !s.skip('0') && !s.digits() {
		return "", errJSON
	}
	if s.skip('.') && !s.digits() {
		return "", errJSON
	}
	if s.skip('e') || s.skip('E') {
		_ = s.skip('+') || s.skip('-')
		if !s.digits() {
			return "", errJSON
		}
	}
	return s.in[start:s.pos], nil
}

func (s *scanner) skip(c byte) bool {
	if s.pos < len(s.in) && s.in[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.in) && '0' <= s.in[s.pos] && s.in[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}
