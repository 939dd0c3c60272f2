package ledger_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestEveryKindHasALevel: a kind that level 1 did not have must not be sent to a
// node of level 1, which would stop. The list is of that program, and never
// changes.
func TestEveryKindHasALevel(t *testing.T) {
	known := func(k ledger.Kind) bool {
		return k <= ledger.KindBeginRestore || k == ledger.KindReseal || k == ledger.KindForgetNode
	}
	for _, k := range slices.Sorted(maps.Keys(ledger.Commands())) {
		require.LessOrEqual(t, k.Level(), uint32(ledger.Level), "kind %d", k)
		if !known(k) {
			require.Greater(t, k.Level(), uint32(1), "kind %d was appended: give it a level", k)
		}
	}
	require.Equal(t, uint32(2), ledger.KindReplay.Level())
}

// TestOldRuleOfEdits: while a node of level 1 is in the cluster, an edit does
// what that node will do, or the states of the two would differ.
func TestOldRuleOfEdits(t *testing.T) {
	for level, kept := range map[uint32][]string{
		0: {}, 1: {},
		2: {"https://app.example/callback"},
	} {
		c := &ledger.Client{Profile: ledger.Profile{
			RedirectURIs: []string{"https://app.example/callback"}, Scopes: []string{"PROFILE_READ"},
		}}
		c.NarrowTo(ledger.Profile{RedirectURIs: []string{"https://elsewhere.example/callback"}, Scopes: []string{"PROFILE_READ"}}, ledger.Meta{Level: level})
		require.Equal(t, kept, append([]string{}, c.RedirectURIs...), "level %d", level)
		require.Equal(t, []string{"PROFILE_READ"}, c.Scopes)
	}
}
