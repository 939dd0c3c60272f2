package ledger

import "iter"

// NarrowTo is narrowTo.
func (c *Client) NarrowTo(p Profile, m Meta) { c.narrowTo(p, m) }

// AheadBy is aheadBy.
const AheadBy = aheadBy

// Ahead is ahead.
func Ahead[R any](all iter.Seq[*R], touch func(*R) byte) iter.Seq[*R] { return ahead(all, touch) }
