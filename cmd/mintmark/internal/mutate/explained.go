package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// explained are the mutants that need not be noticed: by place, the change and its
// reason.
type explained map[string]map[string]string

// readExplained reads explained.txt: a line "FILE: TEXT OF THE LINE", and below it,
// indented, "CONDITION always true: REASON" or "CONDITION always false: REASON".
// Lines that begin with # are comments.
func readExplained(r io.Reader) (explained, error) {
	e := explained{}
	place := ""
	s := bufio.NewScanner(r)
	for n := 1; s.Scan(); n++ {
		line := strings.TrimRight(s.Text(), " \t")
		change, indented := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !indented:
			place = line
		default:
			text, value, reason := "", "", ""
			for _, v := range []string{"true", "false"} {
				if before, after, ok := strings.Cut(change, " always "+v+": "); ok {
					text, value, reason = before, v, after
				}
			}
			if place == "" || reason == "" {
				return nil, fmt.Errorf("line %d: missing place, change or reason", n)
			}
			if e[place] == nil {
				e[place] = map[string]string{}
			}
			e[place][text+" always "+value] = reason
		}
	}
	return e, s.Err()
}

// reason returns why a mutant need not be noticed, or "".
func (e explained) reason(m mutant) string { return e[m.place()][m.change()] }

// without returns the explanations of mutants that are not in the list, in order.
func (e explained) without(mutants []mutant) []string {
	asked := map[string]bool{}
	for _, m := range mutants {
		asked[m.place()+"\n\t"+m.change()] = true
	}
	var rest []string
	for place, changes := range e {
		for change := range changes {
			if entry := place + "\n\t" + change; !asked[entry] {
				rest = append(rest, entry)
			}
		}
	}
	slices.Sort(rest)
	return rest
}
