package ledger

import "iter"

// AheadBy is aheadBy.
const AheadBy = aheadBy

// Marks is marks.
var Marks = marks

// Ahead is ahead.
func Ahead[R any](all iter.Seq[*R], touch func(*R) byte) iter.Seq[*R] { return ahead(all, touch) }
