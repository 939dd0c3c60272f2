package ledger

import "math"

// A Preview is what a replay of records would do to a state.
type Preview struct {
	Lines  []string // what would change, in the order of the records
	Counts []EffectCount
}

// An EffectCount counts the effects of one kind.
type EffectCount struct {
	Kind    EffectKind
	Changes int
	Skipped int // on what the state does not have, or has so already
}

// PreviewReplay says what a replay of records would change, in words. v is the
// state of the backup; nothing need have been restored yet.
func (v View) PreviewReplay(backup uint64, records []Record) (Preview, *Refusal) {
	if refused := checkRecords(records); refused != nil {
		return Preview{}, refused
	}
	var p Preview
	var counts [lastEffect + 1]EffectCount
	s := newRestored(v, Meta{Seq: math.MaxUint64})
	for i := range records {
		r := &records[i]
		if r.Seq <= backup {
			continue
		}
		for j := range r.Effects {
			e := &r.Effects[j]
			if s.apply(e, r.when(e)) {
				counts[e.Kind].Changes++
				p.Lines = append(p.Lines, r.line(e))
			} else {
				counts[e.Kind].Skipped++
			}
		}
	}
	for kind, n := range counts {
		if n.Changes+n.Skipped > 0 {
			n.Kind = EffectKind(kind)
			p.Counts = append(p.Counts, n)
		}
	}
	return p, nil
}
