package oauth

import "slices"

// A Part is a piece of one of two texts that are compared. Same reports whether the other
// text has it at the same place.
type Part struct {
	Text string
	Same bool
}

// A Near is the registered redirection URI closest to a received one, and where the two
// differ. The concatenated parts are the two texts, with U+FFFD for invalid UTF-8.
type Near struct {
	Registered, Received []Part
	Distance             int // characters to insert, delete or replace
}

// maxCompared is how many characters of a received URI are compared; no registered URI is
// longer.
const maxCompared = MaxRedirectURI

// NearestRedirectURI returns the registered URI that a received one may have been meant to
// be, for messages to the application's author only. It returns false if none is registered.
// Of equally near URIs it returns the first.
func NearestRedirectURI(received string, registered []string) (Near, bool) {
	if len(registered) == 0 {
		return Near{}, false
	}
	got := []rune(received)
	rest := got[min(len(got), maxCompared):]
	got = got[:len(got)-len(rest)]
	var nearest []rune
	least := -1
	for _, uri := range registered {
		want := []rune(uri)
		if least >= 0 && max(len(want)-len(got), len(got)-len(want)) >= least {
			continue // the difference in length is a lower bound of the distance
		}
		if d := distance(want, got); least < 0 || d < least {
			nearest, least = want, d
		}
	}
	near := Near{Distance: least + len(rest)}
	near.Registered, near.Received = align(nearest, got)
	near.Received = add(near.Received, rest, false)
	return near, true
}

// ends returns the lengths of the common prefix and suffix of two texts.
func ends(a, b []rune) (head, tail int) {
	most := min(len(a), len(b))
	for head < most && a[head] == b[head] {
		head++
	}
	for tail < most-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// maxDiffering is how many characters between the common prefix and the common suffix of two
// texts are compared one by one. Time and memory grow with its square, and anybody may choose
// the texts. Texts that differ in more characters are no misspellings of each other, so the
// characters beyond it count as different.
const maxDiffering = 200

// differing splits a and b into the characters to compare and the rest.
func differing(a, b []rune) (headA, headB, restA, restB []rune) {
	m, n := min(len(a), maxDiffering), min(len(b), maxDiffering)
	return a[:m], b[:n], a[m:], b[n:]
}

// distance returns the Levenshtein distance of a and b, or more if more than
// maxDiffering characters differ. It keeps one row of the table instead of all.
func distance(a, b []rune) int {
	head, tail := ends(a, b)
	a, b, restA, restB := differing(a[head:len(a)-tail], b[head:len(b)-tail])
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			above := row[j+1]
			row[j+1] = step(diagonal, above, row[j], a[i] == b[j])
			diagonal = above
		}
	}
	return row[len(b)] + max(len(restA), len(restB))
}

func step[N int | uint16](diagonal, above, left N, same bool) N {
	if same {
		return diagonal
	}
	return 1 + min(diagonal, above, left)
}

// align marks the characters that a shortest edit from a to b keeps.
func align(a, b []rune) (left, right []Part) {
	head, tail := ends(a, b)
	left, right = add(nil, a[:head], true), add(nil, b[:head], true)
	end := a[len(a)-tail:]
	a, b, restA, restB := differing(a[head:len(a)-tail], b[head:len(b)-tail])

	cost := costs(a, b)
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			left, right = add(left, a[i:i+1], true), add(right, b[j:j+1], true)
			i, j = i+1, j+1
		case cost[i][j] == 1+cost[i+1][j+1]:
			left, right = add(left, a[i:i+1], false), add(right, b[j:j+1], false)
			i, j = i+1, j+1
		case cost[i][j] == 1+cost[i+1][j]:
			left = add(left, a[i:i+1], false)
			i++
		default:
			right = add(right, b[j:j+1], false)
			j++
		}
	}
	left, right = add(left, a[i:], false), add(right, b[j:], false)
	left, right = add(left, restA, false), add(right, restB, false)
	return add(left, end, true), add(right, end, true)
}

// costs has the distance from a[i:] to b[j:] at i, j, so that the edit can be read from the
// beginning. Distances fit in 16 bits, since texts are at most maxCompared long.
func costs(a, b []rune) [][]uint16 {
	cost := make([][]uint16, len(a)+1)
	for i := range cost {
		cost[i] = make([]uint16, len(b)+1)
		cost[i][len(b)] = uint16(len(a) - i)
	}
	for j := range b {
		cost[len(a)][j] = uint16(len(b) - j)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			cost[i][j] = step(cost[i+1][j+1], cost[i+1][j], cost[i][j+1], a[i] == b[j])
		}
	}
	return cost
}

// add appends text to the last part, or begins another part.
func add(parts []Part, text []rune, same bool) []Part {
	if len(text) == 0 {
		return parts
	}
	if n := len(parts); n > 0 && parts[n-1].Same == same {
		parts[n-1].Text += string(text)
		return parts
	}
	return append(slices.Clip(parts), Part{string(text), same})
}
