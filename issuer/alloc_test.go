//go:build !race

package issuer_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostRefreshAllocations is how many objects a refresh of a single caller may allocate,
// with one command in each log entry. About 60 of them are for the signature.
const mostRefreshAllocations = 290

// TestRefreshAllocations counts the objects of a refresh. The number hardly depends on
// the machine. The race detector makes pools forget on purpose, so this runs without it.
func TestRefreshAllocations(t *testing.T) {
	const times = 2000
	clients := refreshClients(t, 1)
	require.NoError(t, requestAll(clients, 100, (*refreshClient).refresh))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, requestAll(clients, times, (*refreshClient).refresh))
	runtime.ReadMemStats(&after)
	each := (after.Mallocs - before.Mallocs) / times
	t.Logf("%d objects, %d bytes", each, (after.TotalAlloc-before.TotalAlloc)/times)
	require.LessOrEqual(t, each, uint64(mostRefreshAllocations))
}
