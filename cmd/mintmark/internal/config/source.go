package config

// A Source is where a setting's value comes from.
type Source struct {
	Kind SourceKind `json:"source"`
	// Where is FILE:LINE, the name of the variable, or the flag; "" for a default.
	Where string `json:"where,omitempty"`
}

// A SourceKind is what a setting comes from.
type SourceKind string

// The kinds of sources, in the order of precedence.
const (
	FromDefault     SourceKind = "default"
	FromFile        SourceKind = "file"
	FromEnvironment SourceKind = "environment"
	FromFlag        SourceKind = "flag"
)

// String returns the source in words. FILE:LINE needs no word before it.
func (s Source) String() string {
	switch s.Kind {
	case FromDefault:
		return string(FromDefault)
	case FromFile:
		return s.Where
	}
	return string(s.Kind) + " " + s.Where
}

// Sources are the sources of all settings, by key.
type Sources map[string]Source

// Nearest returns the candidate closest to a mistyped word, "" if none is close.
func Nearest(word string, candidates []string) string {
	best, least := "", 1+max(1, len(word)/3)
	for _, c := range candidates {
		if d := distance(word, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance returns the edit distance of two words in bytes: how many are inserted, deleted,
// replaced, or swapped with their neighbour.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
