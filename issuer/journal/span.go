package journal

import "slices"

// A Record is one effect of a command.
type Record struct {
	Seq  uint64 // of the command; several records may have the same
	At   int64  // state time of the command, in milliseconds
	Data []byte
}

// A Span is a range of commands whose records are all present. Most commands have none.
type Span struct {
	From   uint64 `json:"from"`    // Seq of the first command
	To     uint64 `json:"to"`      // Seq of the last command
	FromAt int64  `json:"from_at"` // state time before the first command if it is known, otherwise of the first
	ToAt   int64  `json:"to_at"`   // state time of the last command
}

// Gaps returns what is missing in spans after a Seq, up to the end of the last span. A
// gap begins at state time 0 if no span has the time.
func Gaps(spans []Span, after uint64) []Span {
	var gaps []Span
	end := Span{To: after}
	for _, s := range spans {
		if s.To < end.To {
			continue
		}
		if s.From > end.To && s.From-end.To > 1 {
			gaps = append(gaps, Span{From: end.To + 1, To: s.From - 1, FromAt: end.ToAt, ToAt: s.FromAt})
		}
		end = s
	}
	return gaps
}

// A point is a position between commands: after the command with this seq.
type point struct {
	seq uint64
	at  int64
}

// A run is a span between two points; it is empty if they are equal.
type run struct{ from, to point }

// extend appends a run, joined to the last run if they touch.
func extend(runs []run, r run) []run {
	if n := len(runs); n > 0 && runs[n-1].to.seq == r.from.seq {
		runs[n-1].to = r.to
		return runs
	}
	return append(runs, r)
}

// spans converts runs that are in order.
func spans(runs []run) []Span {
	var out []Span
	for _, r := range runs {
		if r.from.seq < r.to.seq {
			out = append(out, Span{From: r.from.seq + 1, To: r.to.seq, FromAt: r.from.at, ToAt: r.to.at})
		}
	}
	return out
}

// covers reports whether a command is in runs that are in order.
func covers(runs []run, seq uint64) bool {
	i, _ := slices.BinarySearchFunc(runs, seq, func(r run, seq uint64) int {
		if r.to.seq < seq {
			return -1
		}
		return 1
	})
	return i < len(runs) && runs[i].from.seq < seq
}
