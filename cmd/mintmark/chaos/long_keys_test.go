//go:build long

package chaos

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// TestKeys takes signing keys through their whole life under load: a retired key is
// published until its last token expires, and no longer.
func TestKeys(t *testing.T) {
	s := newSummary()
	s.run(t, newCluster3(t, build(t)),
		rotated("signing"), rotatedWithout(), rotated("credential"), rotatedUnderKill(),
		clocksAdvanced(29*time.Minute, requireKeysKept), clocksAdvanced(3*time.Minute, requireOldKeysDropped), rotated("signing"))
	s.print(t)
	require.Zero(t, s.voids, "%v", s.voidReasons)
}

// rotatedThen rotates the signing key before another fault.
func rotatedThen(f fault) fault {
	first, inject := rotated("signing"), f.inject
	f.inject = func(r *round) error {
		if err := first.inject(r); err != nil {
			return err
		}
		if !testkit.Until(eventually, func() bool { return first.hadEffect(r) }) {
			return errors.New("the new key is not used")
		}
		return inject(r)
	}
	return f
}
