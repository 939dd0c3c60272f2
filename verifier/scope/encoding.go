package scope

// A Set encodes as its names, so that what is stored can be read by people and
// doesn't depend on positions.

// AppendText implements [encoding.TextAppender].
func (s Set) AppendText(b []byte) ([]byte, error) { return append(b, s.String()...), nil }

// MarshalText implements [encoding.TextMarshaler].
func (s Set) MarshalText() ([]byte, error) { return s.AppendText(nil) }

// UnmarshalText implements [encoding.TextUnmarshaler]. Unlike [FromClaim] it
// refuses an unknown name: a stored set must not shrink because an older
// program has read it.
func (s *Set) UnmarshalText(text []byte) error {
	set, _, err := Parse(string(text))
	if err != nil {
		return err
	}
	*s = set
	return nil
}

// MarshalBinary is MarshalText, for encoders (CBOR, gob) that would otherwise
// see a struct without exported fields and keep nothing.
func (s Set) MarshalBinary() ([]byte, error) { return s.MarshalText() }

// UnmarshalBinary is UnmarshalText.
func (s *Set) UnmarshalBinary(data []byte) error { return s.UnmarshalText(data) }
