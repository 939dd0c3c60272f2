package ledger_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestPrefetch verifies that all requested rows are yielded in order, and that each was
// touched before.
func TestPrefetch(t *testing.T) {
	const by = ledger.PrefetchRows
	for _, n := range []int{0, 1, by - 1, by, by + 1, 3*by + 5} {
		rows := make([]*int, n)
		for i := range rows {
			rows[i] = &i
		}
		for want := range n + 1 {
			var got []*int
			touched := map[*int]int{}
			for r := range ledger.Prefetch(slices.Values(rows), func(r *int) byte { touched[r]++; return 0 }) {
				require.Equal(t, 1, touched[r])
				if got = append(got, r); len(got) == max(want, 1) {
					break
				}
			}
			require.Equal(t, rows[:min(max(want, 1), n)], slices.Clip(append([]*int{}, got...)), "%d of %d", want, n)
			require.LessOrEqual(t, len(touched), len(got)+by, "more than prefetchRows rows were read ahead")
		}
		require.Equal(t, rows, append([]*int{}, slices.Collect(ledger.Prefetch(slices.Values(rows), func(*int) byte { return 0 }))...))
	}
}
