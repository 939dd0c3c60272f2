package ledger

import "unicode"

// visible returns the text without invisible characters.
func visible(text []rune) (kept []rune) {
	for i, r := range text {
		between := i > 0 && i+1 < len(text) && unicode.Is(joined, text[i-1]) && unicode.Is(joined, text[i+1])
		if unicode.Is(joiners, r) && between || !unicode.In(r, invisible, joiners) {
			kept = append(kept, r)
		}
	}
	return kept
}

// blank reports whether r is trimmed from both ends: a text of such characters only can't be
// read. A variation selector only changes the character before it.
func blank(r rune) bool { return unicode.IsSpace(r) || r >= 0xfe00 && r <= 0xfe0f }

// private reports whether r is a private-use character (Co). Its shape depends on the
// reader's font, which may draw a logo or a trust mark. Unicode never changes the ranges.
func private(r rune) bool {
	return r >= 0xe000 && r <= 0xf8ff || r >= 0xf0000 && r <= 0xffffd || r >= 0x100000 && r <= 0x10fffd
}

// The tables are written out. Those of package unicode change with the Go version, and two
// nodes with different tables would decide differently.
var (
	// invisible has the format characters (Cf) of Unicode 15 without the joiners, the
	// separators of lines and paragraphs, and the characters that are drawn as nothing:
	// Hangul fillers, the empty Braille pattern, default ignorable characters.
	invisible = &unicode.RangeTable{
		R16: []unicode.Range16{
			{0x00ad, 0x00ad, 1},
			{0x034f, 0x034f, 1},
			{0x0600, 0x0605, 1},
			{0x061c, 0x061c, 1},
			{0x06dd, 0x06dd, 1},
			{0x070f, 0x070f, 1},
			{0x0890, 0x0891, 1},
			{0x08e2, 0x08e2, 1},
			{0x115f, 0x1160, 1},
			{0x17b4, 0x17b5, 1},
			{0x180b, 0x180f, 1},
			{0x200b, 0x200b, 1},
			{0x200e, 0x200f, 1},
			{0x2028, 0x202e, 1},
			{0x2060, 0x206f, 1},
			{0x2800, 0x2800, 1},
			{0x3164, 0x3164, 1},
			{0xfeff, 0xfeff, 1},
			{0xffa0, 0xffa0, 1},
			{0xfff0, 0xfffb, 1},
		},
		R32: []unicode.Range32{
			{0x110bd, 0x110bd, 1},
			{0x110cd, 0x110cd, 1},
			{0x13430, 0x1343f, 1},
			{0x1bca0, 0x1bca3, 1},
			{0x1d173, 0x1d17a, 1},
			{0xe0000, 0xe0fff, 1},
		},
		LatinOffset: 1,
	}
	// joiners are U+200C and U+200D. They change how adjacent letters are drawn in the
	// scripts of joined, and have no effect elsewhere.
	joiners = &unicode.RangeTable{R16: []unicode.Range16{{0x200c, 0x200d, 1}}}
	// joined are Arabic, Syriac and Thaana, the scripts of India and Sri Lanka, Myanmar,
	// Khmer and Mongolian.
	joined = &unicode.RangeTable{R16: []unicode.Range16{
		{0x0610, 0x07bf, 1}, {0x0860, 0x0dff, 1}, {0x1000, 0x109f, 1}, {0x1780, 0x18af, 1},
	}}
)
