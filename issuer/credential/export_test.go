package credential

// AppendString and NormalPHC open to the fuzz targets what has no other door.
var AppendString = appendString

// NormalPHC parses a hash and writes it again, without computing anything.
func NormalPHC(text string) (string, error) {
	h, err := parsePHC(text)
	if err != nil {
		return "", err
	}
	return h.text(), nil
}
