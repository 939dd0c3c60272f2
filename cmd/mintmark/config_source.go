package main

// A source says where a setting's value comes from.
type source struct {
	Kind sourceKind `json:"source"`
	// Where is FILE:LINE, the variable's name or the flag. A default has none.
	Where string `json:"where,omitempty"`
}

type sourceKind string

const (
	fromDefault     sourceKind = "default"
	fromFile        sourceKind = "file"
	fromEnvironment sourceKind = "environment"
	fromFlag        sourceKind = "flag"
)

// String is for people. A file's name and line stand for themselves.
func (s source) String() string {
	switch s.Kind {
	case fromDefault:
		return string(fromDefault)
	case fromFile:
		return s.Where
	}
	return string(s.Kind) + " " + s.Where
}

// sources are those of all settings, by key.
type sources map[string]source

// nearest is the candidate that a mistyped word most likely meant; "" where
// none is near.
func nearest(word string, candidates []string) string {
	best, least := "", 1+max(1, len(word)/3)
	for _, c := range candidates {
		if d := distance(word, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is how many letters must be put in, taken out or replaced to make
// one word of the other (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
