package scope

// A Set is encoded as its names, so that stored sets are readable and don't depend on
// positions.

// AppendText implements [encoding.TextAppender].
func (s Set) AppendText(b []byte) ([]byte, error) { return append(b, s.String()...), nil }

// MarshalText implements [encoding.TextMarshaler].
func (s Set) MarshalText() ([]byte, error) { return s.AppendText(nil) }

// UnmarshalText implements [encoding.TextUnmarshaler]. Unlike [FromClaim] it refuses an
// unknown name: otherwise a stored set would lose scopes when an older program reads it.
func (s *Set) UnmarshalText(text []byte) error {
	set, _, err := Parse(string(text))
	if err != nil {
		return err
	}
	*s = set
	return nil
}

// MarshalBinary is MarshalText for encoders (CBOR, gob) that would otherwise encode a
// struct without exported fields as empty.
func (s Set) MarshalBinary() ([]byte, error) { return s.MarshalText() }

// UnmarshalBinary is UnmarshalText.
func (s *Set) UnmarshalBinary(data []byte) error { return s.UnmarshalText(data) }
