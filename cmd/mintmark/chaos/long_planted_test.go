//go:build long

package chaos

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The tests of this file plant a bug and fail if it is not found.
//
// A vote that is written in two steps (hashicorp/raft #661) is not among them: it does
// harm only if a node with an outdated log campaigns in the very term of the half-written
// vote, which pre-vote prevents. That bug is planted below the wrapper by
// TestPlantedVoteInTwoSteps of package cluster.

// plant builds the program with one of the planted bugs.
func plant(t testing.TB, bug string) string {
	t.Helper()
	require.Contains(t, planted, bug)
	return build(t, planted[bug]...)
}

// find injects a fault until a violation is found in a history, at most several times.
// After each round the load is stopped, so that no answer is missing.
func find(t *testing.T, c *cluster, what string, times int, f fault) {
	t.Helper()
	findUnder(t, c, startChains, what, times, f)
}

// findUnder is find with another load.
func findUnder(t *testing.T, c *cluster, start func(*env) *load, what string, times int, f fault) {
	t.Helper()
	w := newEnv(t, c)
	for n := range times {
		s := newSummary()
		p := &campaign{env: w, load: start(w), summary: s, machine: watchMachine(c)}
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

// breaksChain begins the verdict on a history that no chain can explain.
const breaksChain = "the chain of"

// signedOut begins the verdict on a grant that was ended by a late request.
const signedOut = "a late request ended a grant"

// TestPlantedNoSync: unsynced data is lost by a power cut.
func TestPlantedNoSync(t *testing.T) {
	find(t, newDev(t, plant(t, "unsynced log")), breaksChain, 3, powerCut())
}

// TestPlantedClockInApply: nodes that read their own clocks differ.
func TestPlantedClockInApply(t *testing.T) {
	find(t, newCluster3(t, plant(t, "clock in apply")), "S8", 2, transferred())
}

// TestPlantedDecideOutside: with a read followed by a write, one code can be redeemed
// twice.
func TestPlantedDecideOutside(t *testing.T) {
	find(t, newDev(t, plant(t, "decided outside")), breaksChain, 3, raced(20))
}

// TestPlantedLocalRead: a leader that refuses by its own view refuses credentials that
// another leader has made valid meanwhile.
func TestPlantedLocalRead(t *testing.T) {
	find(t, newCluster3(t, plant(t, "local read")), breaksChain, 10, queued(20))
}

// TestPlantedNoCommandID: a command that is proposed again with another id treats its own
// first attempt as reuse.
func TestPlantedNoCommandID(t *testing.T) {
	find(t, newCluster3(t, plant(t, "no command id")), breaksChain, 5, unheard(20))
}

// TestPlantedMarkedRevokes: a command that is proposed again and finds an advanced grant
// treats that as reuse.
func TestPlantedMarkedRevokes(t *testing.T) {
	find(t, newCluster3(t, plant(t, "mark ignored")), signedOut, 5, overtaken("hole", 20))
}

// TestPlantedUnseenKey: a key that becomes active before every node has it.
func TestPlantedUnseenKey(t *testing.T) {
	find(t, newCluster3(t, plant(t, "unseen key")), "S9: n", 2, rotatedWithout())
}

// TestPlantedHastyKey: a key that is dropped before the tokens that it signed expire.
func TestPlantedHastyKey(t *testing.T) {
	f := rotatedThen(clocksAdvanced(10*time.Minute, requireOldKeysDropped))
	find(t, newCluster3(t, plant(t, "hasty key")), "S9", 3, f)
}

// quiet is no fault.
func quiet(lasts time.Duration) fault {
	nothing := func(*round) error { return nil }
	return fault{name: "nothing", majority: true, lasts: lasts, inject: nothing, heal: nothing, hadEffect: func(*round) bool { return true }}
}

// TestPlantedAgents: bugs in the rules about agents are found by a load without faults.
func TestPlantedAgents(t *testing.T) {
	for bug, what := range map[string]string{
		"publisher not ended": breaksChain, "no long retry": breaksChain, "rejected used": "the publisher of", "no ceiling": "S10",
	} {
		t.Run(bug, func(t *testing.T) {
			findUnder(t, newDev(t, plant(t, bug)), startLoad, what, 5, quiet(8*time.Second))
		})
	}
}

// TestPlantedDamage: without a checksum of each entry a changed one is applied, and the
// states differ.
func TestPlantedDamage(t *testing.T) {
	find(t, newCluster3(t, plant(t, "damaged entry")), "S8", 2, flippedBit())
}
