package policy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxErrors is the number of malformed lines after which Load gives up.
const maxErrors = 20

// Load reads a table. A line has a method, a pattern, and a scope or PUBLIC or CLOSED,
// separated by spaces or tabs. The word FRESH after a scope or CLOSED closes the route
// while the verifier may have missed a revocation. A "#" at the beginning of a word
// begins a comment. The error names each malformed line.
func Load(r io.Reader) (*Table, error) {
	var rows []Row
	var all []error
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan() && len(all) < maxErrors; n++ {
		row, ok, err := parseLine(lines.Text())
		switch {
		case err != nil:
			all = append(all, fmt.Errorf("line %d: %w", n, err))
		case ok:
			row.Line = n
			rows = append(rows, row)
		}
	}
	if err := lines.Err(); err != nil {
		all = append(all, err)
	}
	t, err := NewTable(rows...)
	if err != nil {
		all = append(all, err)
	}
	if len(all) > 0 {
		return nil, fmt.Errorf("load policy: %w", errors.Join(all...))
	}
	return t, nil
}

// parseLine reads one line; ok is false if there is no row on it.
func parseLine(line string) (row Row, ok bool, err error) {
	var words []string
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ' ' || r == '\t' }) {
		if word[0] == '#' {
			break
		}
		words = append(words, word)
	}
	switch len(words) {
	case 0:
		return Row{}, false, nil
	case 4:
		if words[3] != wordFresh {
			break
		}
		fallthrough
	case 3:
		row = Row{Method: words[0], Pattern: words[1], Fresh: len(words) == 4}
		return row, true, row.setRequirement(words[2])
	}
	return Row{}, false, errors.New("the line is not a method, a pattern, and a scope, PUBLIC or CLOSED, with an optional FRESH")
}
