//go:build long

package chaos

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The tests of this file plant a bug and fail where nobody finds it.
//
// A vote that is written in two steps (hashicorp/raft #661) is not among them:
// it does harm only where a node whose log is behind stands for election in the
// very term of the half-written vote, and pre-vote keeps it from standing. That
// bug is planted beneath the wrapper by TestPlantedVoteInTwoSteps of package
// cluster.

// plant builds the program with one of the planted bugs.
func plant(t testing.TB, bug string) string {
	t.Helper()
	require.Contains(t, planted, bug)
	return build(t, planted[bug]...)
}

// find plays a fault until what is looked for is found in a history, at most so
// many times. After each the load is stopped, so that no answer is missing.
func find(t *testing.T, c *cluster, what string, times int, f fault) {
	t.Helper()
	w := newEnv(t, c)
	for n := range times {
		s := newSummary()
		p := &campaign{env: w, load: startChains(w), summary: s, machine: watchMachine(c)}
		p.play(f)
		p.machine.end()
		p.load.end()
		w.finalCheck(p.load)
		if err := w.requireSameState(); err != nil {
			s.violated("%v", err)
		}
		found := w.judge()
		s.violations = append(s.violations, found.violations...)
		if len(found.late) > 0 {
			s.violated(signedOut)
		}
		for _, v := range s.violations {
			if strings.HasPrefix(v, what) {
				t.Logf("found after %d rounds: %.400s", n+1, v)
				return
			}
		}
	}
	require.Fail(t, "the bug was not found")
}

// breaksChain is how a history begins that no chain can explain.
const breaksChain = "the chain of"

// signedOut stands for a user whose grant a late request has ended.
const signedOut = "a late request ended a grant"

// TestPlantedNoSync: what is not synced is lost by a power cut.
func TestPlantedNoSync(t *testing.T) {
	find(t, newDev(t, plant(t, "unsynced log")), breaksChain, 3, powerCut())
}

// TestPlantedClockInApply: nodes that read their own clocks differ.
func TestPlantedClockInApply(t *testing.T) {
	find(t, newCluster3(t, plant(t, "clock in apply")), "S8", 2, transferred())
}

// TestPlantedDecideOutside: read, then write, lets one code be redeemed twice.
func TestPlantedDecideOutside(t *testing.T) {
	find(t, newDev(t, plant(t, "decided outside")), breaksChain, 3, raced(20))
}

// TestPlantedLocalRead: a leader that refuses by its own view refuses what
// another leader has made good meanwhile.
func TestPlantedLocalRead(t *testing.T) {
	find(t, newCluster3(t, plant(t, "local read")), breaksChain, 10, queued(20))
}

// TestPlantedNoCommandID: a command that is proposed again as another one takes
// its own first try for reuse.
func TestPlantedNoCommandID(t *testing.T) {
	find(t, newCluster3(t, plant(t, "no command id")), breaksChain, 5, unheard(20))
}

// TestPlantedMarkedRevokes: a command that is proposed again and finds that the
// grant has moved on meanwhile takes that for reuse.
func TestPlantedMarkedRevokes(t *testing.T) {
	find(t, newCluster3(t, plant(t, "mark ignored")), signedOut, 5, overtaken("hole", 20))
}

// TestPlantedUnseenKey: a key that becomes active before every node has it.
func TestPlantedUnseenKey(t *testing.T) {
	find(t, newCluster3(t, plant(t, "unseen key")), "S9: n", 2, rotatedWithout())
}

// TestPlantedHastyKey: a key that goes before the tokens that it signed.
func TestPlantedHastyKey(t *testing.T) {
	f := rotatedThen(clocksAdvanced(10*time.Minute, requireOldKeysDropped))
	find(t, newCluster3(t, plant(t, "hasty key")), "S9", 3, f)
}

// TestPlantedDamage: without a checksum of each entry a changed one is applied,
// and the states differ.
func TestPlantedDamage(t *testing.T) {
	find(t, newCluster3(t, plant(t, "damaged entry")), "S8", 2, flippedBit())
}
