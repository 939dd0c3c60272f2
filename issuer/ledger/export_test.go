package ledger

import "iter"

// PrefetchRows is prefetchRows.
const PrefetchRows = prefetchRows

// Marks is marks.
var Marks = marks

// Prefetch is prefetch.
func Prefetch[R any](all iter.Seq[*R], touch func(*R) byte) iter.Seq[*R] { return prefetch(all, touch) }
