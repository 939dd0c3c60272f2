package journal

import "slices"

// Record is one of the things that a command did.
type Record struct {
	Seq  uint64 // of the command; several records may share it
	At   int64  // state time of the command, in milliseconds
	Data []byte
}

// Span is a run of commands, all of whose records are there. Most commands have
// none.
type Span struct {
	From   uint64 `json:"from"`    // Seq of the first command
	To     uint64 `json:"to"`      // Seq of the last
	FromAt int64  `json:"from_at"` // state time before the first where it is known, otherwise of the first
	ToAt   int64  `json:"to_at"`   // state time of the last
}

// Gaps returns what is missing in spans after a Seq, up to the end of the last
// span. It says nothing about commands later than that. The state time at which
// a gap begins is 0 where no span tells it.
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

// point is a place between commands: after the one with this seq.
type point struct {
	seq uint64
	at  int64
}

// run is a span from one point to another; empty where they are the same.
type run struct{ from, to point }

// extend adds a run after runs, joined to the last where they meet.
func extend(runs []run, r run) []run {
	if n := len(runs); n > 0 && runs[n-1].to.seq == r.from.seq {
		runs[n-1].to = r.to
		return runs
	}
	return append(runs, r)
}

// spans is the public form of runs that are in order.
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
