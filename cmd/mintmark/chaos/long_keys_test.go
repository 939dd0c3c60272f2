//go:build long

package chaos

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestKeys takes signing keys through all of their lives, under load: what is
// retired is published for as long as its last token is good, and no longer.
func TestKeys(t *testing.T) {
	s := newSummary()
	s.run(t, three(t, build(t)),
		rotated("signing"), rotatedWithout(), rotated("credential"), rotatedUnderKill(),
		leapt(29*time.Minute, keptThrough), leapt(3*time.Minute, droppedAll), rotated("signing"))
	s.print(t)
	require.Zero(t, s.voids, "%v", s.void)
}

// TestPlantedUnseenKey: a key that becomes active before every node has it.
func TestPlantedUnseenKey(t *testing.T) {
	binary := build(t, patch{
		file: "issuer/ledger/key.go",
		old:  "n == nil || !n.HasOpened(k.ID)",
		new:  "n == nil",
	})
	find(t, three(t, binary), "S9: n", 2, rotatedWithout())
}

// TestPlantedHastyKey: a key that goes before the tokens that it signed.
func TestPlantedHastyKey(t *testing.T) {
	binary := build(t, patch{
		file: "issuer/ledger/key.go",
		old:  "const tokenOverlap = (1800 + 60) * time.Second",
		new:  "const tokenOverlap = 60 * time.Second",
	})
	find(t, three(t, binary), "S9", 3, rotatedThen(leapt(10*time.Minute, droppedAll)))
}

// rotatedThen rotates the signing key before another fault.
func rotatedThen(f fault) fault {
	first, inject := rotated("signing"), f.inject
	f.inject = func(r *round) error {
		if err := first.inject(r); err != nil {
			return err
		}
		if !until(eventually, func() bool { return first.bit(r) }) {
			return errors.New("the new key is not used")
		}
		return inject(r)
	}
	return f
}
