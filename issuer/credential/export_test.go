package credential

// AppendString is appendString.
var AppendString = appendString

// NormalPHC parses a hash and formats it again, without computing anything.
func NormalPHC(text string) (string, error) {
	h, err := parsePHC(text)
	if err != nil {
		return "", err
	}
	return h.text(), nil
}
