//go:build !race

package keys_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestMACAllocations doesn't run with the race detector, which empties pools at random.
func TestMACAllocations(t *testing.T) {
	m := secretOf(t, sequence()).MAC("chain")
	parts := [][]byte{make([]byte, 29)}
	n := testing.AllocsPerRun(1000, func() { m.Sum(parts...) })
	assert.Less(t, n, 1.0) // the garbage collector may empty the pool
}
