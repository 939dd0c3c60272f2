package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// ErrConflict reports that two histories differ about the same command. All nodes of a
// cluster decide equally, so the histories are not of the same cluster, or not of the
// same timeline.
var ErrConflict = errors.New("journals contradict each other")

// Merge returns what any of the parts had. If one part covers a command and another has
// records of it, both must have the same records, byte for byte.
func Merge(parts ...*History) (*History, error) {
	all := &History{}
	for _, p := range parts {
		var err error
		if all, err = merge(all, p); err != nil {
			return nil, fmt.Errorf("merge journals: %w", err)
		}
	}
	return all, nil
}

func merge(a, b *History) (*History, error) {
	out := &History{runs: union(a.runs, b.runs)}
	x, y := a.records, b.records
	for len(x) > 0 || len(y) > 0 {
		one, other := group(x), group(y)
		if len(x) > 0 && len(y) > 0 {
			switch cmp.Compare(x[0].Seq, y[0].Seq) {
			case -1:
				other = nil
			case +1:
				one = nil
			}
		}
		took, conflict := one, false
		switch {
		case other == nil:
			conflict = covers(b.runs, one[0].Seq)
		case one == nil:
			took, conflict = other, covers(a.runs, other[0].Seq)
		default:
			conflict = !slices.EqualFunc(one, other, sameRecord)
		}
		if conflict {
			return nil, fmt.Errorf("command %d: %w", took[0].Seq, ErrConflict)
		}
		out.records = append(out.records, took...)
		x, y = x[len(one):], y[len(other):]
	}
	return out, nil
}

// group returns the records of the first command, nil if there are none.
func group(records []Record) []Record {
	if len(records) == 0 {
		return nil
	}
	n := 1
	for n < len(records) && records[n].Seq == records[0].Seq {
		n++
	}
	return records[:n]
}

func sameRecord(a, b Record) bool {
	return a.Seq == b.Seq && a.At == b.At && bytes.Equal(a.Data, b.Data)
}

// union joins runs that touch or overlap.
func union(a, b []run) []run {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y run) int { return cmp.Compare(x.from.seq, y.from.seq) })
	var out []run
	for _, r := range all {
		if n := len(out); n > 0 && r.from.seq <= out[n-1].to.seq {
			if r.to.seq > out[n-1].to.seq {
				out[n-1].to = r.to
			}
			continue
		}
		out = append(out, r)
	}
	return out
}
