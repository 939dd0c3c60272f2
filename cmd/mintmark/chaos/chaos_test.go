package chaos

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const nodes = 3

// newCluster3 starts a cluster of three.
func newCluster3(t testing.TB, binary string) *cluster {
	t.Helper()
	return newCluster(t, binary, nodes)
}

// gate returns the faults of "make test", each once and in this order, so that two runs
// of the same program differ only in timing.
func gate() []fault {
	return []fault{
		killed(theLeader),
		killed(aFollower),
		paused(theLeader, 4*time.Second),
		cut(leaderAlone, 4*time.Second),
		cut(leaderSendsNothing, 3*time.Second),
		cut(leaderReceivesNothing, 3*time.Second),
		killed(twoNodes),
		powerCut(),
		disk(theLeader, "hang", 4*time.Second),
		disk(theLeader, "fail", time.Second),
		disk(aFollower, "full", time.Second),
		clock(theLeader, time.Hour, 3*time.Second),
		clock(twoNodes, days400, 3*time.Second),
		transferred(),
		rolling(),
	}
}

// all returns the faults from which rounds are drawn.
func all() []fault {
	return append(gate(), []fault{
		paused(aFollower, 300*time.Millisecond),
		cut(twoApart, 2*time.Second),
		cut(allNodesApart, 2*time.Second),
		cut(ring, 2*time.Second),
		slowed(allNodesApart, 20, 10, 2*time.Second),
		stallOf(leaderAlone, 2*time.Second),
		resets(),
		disk(theLeader, "slow 30ms", 2*time.Second),
		clock(aFollower, -time.Hour, 2*time.Second),
		clock(allNodes, -2*time.Hour, 3*time.Second),
		startedWrong(aFollower, days400, 4*time.Second),
		startedWrong(allNodes, days400, 4*time.Second),
		replaced(),
		rotated("signing"),
		starved(theLeader, 2*time.Second),
		descriptors(aFollower, time.Second),
		noClusterKey(),
		rolledBack(true),
		beyondWindow(downFor(2 * time.Minute)),
		clockStays(twoNodes, 2*time.Hour),
		clockStays(allNodes, 2*time.Hour),
		killed(allNodes),
		paused(theLeader, 100*time.Millisecond),
		paused(theLeader, time.Second),
		paused(theLeader, 10*time.Second),
		paused(twoNodes, 3*time.Second),
		paused(allNodes, 2*time.Second),
		cut(followerAlone, 3*time.Second),
		cut(followerAlone, 12*time.Second),
		cut(leaderAlone, 12*time.Second),
		stallOf(allNodesApart, 3*time.Second),
		stallOf(leaderSendsNothing, 8*time.Second),
		slowed(allNodesApart, 100, 80, 4*time.Second),
		slowed(leaderAlone, 300, 100, 4*time.Second),
		disk(aFollower, "hang", 4*time.Second),
		disk(theLeader, "full", time.Second),
		disk(allNodes, "slow 50ms", 3*time.Second),
		disk(twoNodes, "fail", time.Second),
		disk(allNodes, "full", time.Second),
		clock(theLeader, -time.Hour, 3*time.Second),
		clock(theLeader, 5*time.Minute, 3*time.Second),
		clock(theLeader, -5*time.Minute, 3*time.Second),
		clock(aFollower, time.Hour, 3*time.Second),
		clock(twoNodes, -days400, 3*time.Second),
		clock(twoNodes, 2*time.Hour, 40*time.Second),
		clock(twoNodes, -2*time.Hour, 40*time.Second),
		clock(allNodes, days400, 3*time.Second),
		clock(allNodes, 4*time.Minute, 3*time.Second),
		clock(allNodes, 2*time.Hour, 40*time.Second),
		clock(allNodes, -2*time.Hour, 40*time.Second),
		startedWrong(aFollower, -2*time.Hour, 4*time.Second),
		startedWrong(twoNodes, days400, 4*time.Second),
		startedWrong(allNodes, 2*time.Hour, 20*time.Second),
		startedWrong(allNodes, -2*time.Hour, 4*time.Second),
		rotated("credential"),
		rotatedUnderKill(),
		rotatedWithout(),
		starved(allNodes, 3*time.Second),
		descriptors(theLeader, 2*time.Second),
		expiredCertificate(),
		wrongName(),
		anotherKey(),
		anotherClusterKey(),
		juggled(200*time.Millisecond, 10*time.Second),
		removed(),
		rolledBack(false),
		beyondWindow(noMajority(killed(twoNodes), 75*time.Second)),
		beyondWindow(noMajority(cut(allNodesApart, 0), 75*time.Second)),
		clockStays(twoNodes, -30*time.Second),
		clockStays(allNodes, 4*time.Minute),
		clockStays(allNodes, -30*time.Second),
		startStays(allNodes, time.Hour),
		rolledStays(9 * time.Minute),
	}...)
}

// named returns the faults that -faults selects.
func named(faults []fault) []fault {
	name := regexp.MustCompile(*only)
	return slices.DeleteFunc(faults, func(f fault) bool { return !name.MatchString(f.name) })
}

// perCluster is the number of faults for one cluster and one history.
const perCluster = 15

// drawn returns n random faults. None is repeated before all have been drawn.
func drawn(faults []fault, n int, random *rand.Rand) (list []fault) {
	for len(list) < n && len(faults) > 0 {
		random.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
		list = append(list, faults[:min(len(faults), n-len(list))]...)
	}
	return list
}

// TestChaos injects faults into three nodes and accepts no violation.
func TestChaos(t *testing.T) {
	faults := gate()
	if *only != "" {
		faults = named(all())
	}
	if *rounds > 0 {
		t.Logf("-seed %d", *seed)
		faults = drawn(named(all()), *rounds, rand.New(rand.NewPCG(*seed, 0)))
	}
	binary := build(t)
	s := newSummary()
	asked := faults
	for len(faults) > 0 {
		n := min(perCluster, len(faults))
		t.Run("cluster", func(t *testing.T) { s.run(t, newCluster3(t, binary), faults[:n]...) })
		faults = faults[n:]
	}
	if s.rounds > 0 {
		s.print(t)
		s.requireEffects(t, asked)
		require.LessOrEqual(t, s.voids, s.rounds/5, "too many rounds prove nothing")
	}
}

// TestSnapshots isolates a follower until it needs a snapshot. The program retains more
// of its log than this test has time to fill, so it is built with a lower limit.
func TestSnapshots(t *testing.T) {
	s := newSummary()
	faults := []fault{leftBehind(false), leftBehind(true), killed(allNodes)}
	if *rounds > 0 {
		faults = append(faults, truncatedSnapshot())
	}
	s.run(t, newCluster3(t, build(t,
		patch{file: "cluster/config.go", old: "const minTrailingLogs = 10240", new: fmt.Sprint("const minTrailingLogs = ", trailing)},
		patch{file: "cluster/config.go", old: "&c.SnapshotThreshold, 8192", new: "&c.SnapshotThreshold, 100"},
		patch{file: "cluster/config.go", old: "&c.SnapshotInterval, 30*time.Second", new: "&c.SnapshotInterval, time.Second"},
	)), faults...)
	s.print(t)
	require.Zero(t, s.voids, "%v", s.voidReasons)
}
