package cluster

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

func TestClockOffset(t *testing.T) {
	now := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	const s = time.Second
	for _, tc := range []struct {
		name                string
		sent, received      time.Duration
		remote              time.Duration // after now
		offset, uncertainty time.Duration
	}{
		{"same, at once", 5 * s, 5 * s, 0, 0, 0},
		{"same, read half way", 5 * s, 7 * s, -s, 0, s},
		{"same, read on arrival", 5 * s, 7 * s, -2 * s, -s, s},
		{"same, read just before the answer came", 5 * s, 7 * s, 0, s, s},
		{"ahead", 0, 2 * s, time.Hour - s, time.Hour, s},
		{"behind", 0, 2 * s, -time.Hour - s, -time.Hour, s},
		{"received before it was sent", 7 * s, 5 * s, 3 * s, 3 * s, 0},
		{"ages away", 0, 2 * s, math.MaxInt64, math.MaxInt64, s},
	} {
		t.Run(tc.name, func(t *testing.T) {
			offset, uncertainty := clockOffset(tc.sent, tc.received, now, now.Add(tc.remote))
			require.Equal(t, tc.offset, offset)
			require.Equal(t, tc.uncertainty, uncertainty)
		})
	}
}

// The true offset is always within the uncertainty, wherever in between the peer
// read its clock. Go's monotonic clock must play no part in it.
func TestClockOffsetHoldsTheTruth(t *testing.T) {
	sent := time.Now()
	for rtt := time.Duration(0); rtt <= 4*time.Second; rtt += 500 * time.Millisecond {
		for read := time.Duration(0); read <= rtt; read += 250 * time.Millisecond {
			for _, truth := range []time.Duration{-time.Hour, -time.Second, 0, time.Millisecond, time.Hour} {
				remote := sent.Round(0).Add(read + truth)
				offset, uncertainty := clockOffset(time.Minute, time.Minute+rtt, sent.Add(rtt), remote)
				require.LessOrEqual(t, (offset - truth).Abs(), uncertainty)
			}
		}
	}
}

func TestClockVerdict(t *testing.T) {
	const s = time.Second
	at := func(voter raft.ServerID, offset time.Duration) clockSample {
		return clockSample{voter: voter, offset: offset, uncertainty: s, age: s}
	}
	all := []raft.ServerID{"a", "b", "c", "d", "e"}
	for _, tc := range []struct {
		name    string
		voters  int
		samples []clockSample
		want    clockVote
		may     bool
		must    bool
	}{
		{"alone", 1, nil, clockVote{agree: 1, unknown: 0}, true, false},
		{"alone, with the sample of one that left", 1, []clockSample{at("b", time.Hour)}, clockVote{agree: 1, unknown: 0}, true, false},

		{"two, nothing known", 2, nil, clockVote{agree: 1, unknown: 1}, false, false},
		{"two agree", 2, []clockSample{at("b", 9*s)}, clockVote{agree: 2, differ: 0, unknown: 0}, true, false},
		{"two differ: neither leads", 2, []clockSample{at("b", 12*s)}, clockVote{agree: 1, differ: 1, unknown: 0}, false, true},

		{"three, nothing known", 3, nil, clockVote{agree: 1, unknown: 2}, false, false},
		{"three agree", 3, []clockSample{at("b", -s), at("c", s)}, clockVote{agree: 3, differ: 0, unknown: 0}, true, false},
		{"three, one agrees, one is cut off", 3, []clockSample{at("b", 0)}, clockVote{agree: 2, differ: 0, unknown: 1}, true, false},
		{"three, one differs", 3, []clockSample{at("b", 0), at("c", time.Hour)}, clockVote{agree: 2, differ: 1, unknown: 0}, true, false},
		{"three, one differs, one is cut off", 3, []clockSample{at("b", time.Hour)}, clockVote{agree: 1, differ: 1, unknown: 1}, false, false},
		{"three, self is the odd one", 3, []clockSample{at("b", time.Hour), at("c", time.Hour)}, clockVote{agree: 1, differ: 2, unknown: 0}, false, true},
		{"three, all differ", 3, []clockSample{at("b", time.Hour), at("c", -time.Hour)}, clockVote{agree: 1, differ: 2, unknown: 0}, false, true},

		{"five, one agrees", 5, []clockSample{at("b", 0)}, clockVote{agree: 2, differ: 0, unknown: 3}, false, false},
		{"five, two agree", 5, []clockSample{at("b", 0), at("c", 0)}, clockVote{agree: 3, differ: 0, unknown: 2}, true, false},
		{"five, two differ, two are cut off", 5, []clockSample{at("b", time.Hour), at("c", time.Hour)}, clockVote{agree: 1, differ: 2, unknown: 2}, false, false},
		{"five, three differ, one is cut off", 5, []clockSample{at("b", time.Hour), at("c", time.Hour), at("d", -time.Hour)}, clockVote{agree: 1, differ: 3, unknown: 1}, false, true},
		{"five, two agree, two differ", 5, []clockSample{at("b", 0), at("c", 0), at("d", time.Hour), at("e", time.Hour)}, clockVote{agree: 3, differ: 2, unknown: 0}, true, false},

		{"behind by the limit, for certain", 2, []clockSample{{voter: "b", offset: -10 * s}}, clockVote{agree: 2, differ: 0, unknown: 0}, true, false},
		{"just beyond the limit, for certain", 2, []clockSample{{voter: "b", offset: -10*s - 1}}, clockVote{agree: 1, differ: 1, unknown: 0}, false, true},
		{"perhaps beyond the limit", 2, []clockSample{{voter: "b", offset: 9 * s, uncertainty: 2 * s}}, clockVote{agree: 1, unknown: 1}, false, false},
		{"perhaps within the limit", 2, []clockSample{{voter: "b", offset: 12 * s, uncertainty: 2 * s}}, clockVote{agree: 1, unknown: 1}, false, false},
		{"so slow an answer tells nothing", 2, []clockSample{{voter: "b", uncertainty: 11 * s}}, clockVote{agree: 1, unknown: 1}, false, false},
		{"as old as a sample may be", 2, []clockSample{{voter: "b", age: clockSampleMaxAge}}, clockVote{agree: 2, differ: 0, unknown: 0}, true, false},
		{"too old", 2, []clockSample{{voter: "b", age: clockSampleMaxAge + 1}}, clockVote{agree: 1, unknown: 1}, false, false},
		{"the youngest counts", 2, []clockSample{{voter: "b", offset: time.Hour, age: 3 * s}, {voter: "b", age: s}, {voter: "b", offset: time.Hour, age: 2 * s}}, clockVote{agree: 2, differ: 0, unknown: 0}, true, false},
		{"two samples are one voter", 5, []clockSample{at("b", 0), at("b", 0), at("b", 0)}, clockVote{agree: 2, differ: 0, unknown: 3}, false, false},
		{"own sample says nothing", 3, []clockSample{at("a", time.Hour)}, clockVote{agree: 1, unknown: 2}, false, false},
		{"centuries ahead", 2, []clockSample{{voter: "b", offset: math.MaxInt64, uncertainty: s}}, clockVote{agree: 1, differ: 1, unknown: 0}, false, true},
		{"centuries behind", 2, []clockSample{{voter: "b", offset: math.MinInt64, uncertainty: s}}, clockVote{agree: 1, differ: 1, unknown: 0}, false, true},
		{"no idea at all", 2, []clockSample{{voter: "b", offset: math.MaxInt64, uncertainty: math.MaxInt64}}, clockVote{agree: 1, unknown: 1}, false, false},
		{"nonsense", 2, []clockSample{{voter: "b", uncertainty: -s}}, clockVote{agree: 1, unknown: 1}, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := clockVerdict("a", all[:tc.voters], tc.samples, ClockTolerance)
			require.Equal(t, tc.want, v)
			require.Equal(t, tc.may, v.mayLead(), "may lead")
			require.Equal(t, tc.must, v.mustStepDown(), "must step down")
		})
	}
}

// A node that is no voter does not count itself.
func TestClockVerdictOfNonVoter(t *testing.T) {
	v := clockVerdict("n", []raft.ServerID{"a", "b"}, []clockSample{{voter: "a"}}, ClockTolerance)
	require.Equal(t, clockVote{agree: 1, unknown: 1}, v)
	require.False(t, v.mayLead())
}

// Nobody may lead and have to step down, whatever the votes.
func TestClockVoteIsConsistent(t *testing.T) {
	for agree := range 6 {
		for differ := range 6 {
			for unknown := range 6 {
				v := clockVote{agree: agree, differ: differ, unknown: unknown}
				require.False(t, v.mayLead() && v.mustStepDown(), "%+v", v)
				if unknown == 0 {
					require.NotEqual(t, v.mayLead(), v.mustStepDown(), "%+v", v)
				}
			}
		}
	}
}

// Only voters that stand for the time of this node's clock vouch for it, and this
// node does not for itself.
func TestClockConfirms(t *testing.T) {
	const s = time.Second
	all := []raft.ServerID{"a", "b", "c", "d", "e"}
	steady := func(id raft.ServerID, offset time.Duration) clockSample {
		return clockSample{voter: id, offset: offset, uncertainty: s, hasReference: true}
	}
	jumped := func(id raft.ServerID) clockSample {
		return clockSample{voter: id, uncertainty: s, hasReference: true, ahead: time.Hour}
	}
	starting := func(id raft.ServerID) clockSample { return clockSample{voter: id, uncertainty: s} }
	for _, tc := range []struct {
		name    string
		voters  int
		samples []clockSample
		want    bool
	}{
		{"alone", 1, nil, false},
		{"two: the other is no majority", 2, []clockSample{steady("b", 0)}, false},
		{"three, both others", 3, []clockSample{steady("b", 9*s), steady("c", -9*s)}, true},
		{"three, one of them jumped too", 3, []clockSample{steady("b", 0), jumped("c")}, false},
		{"three, both jumped to the same time", 3, []clockSample{jumped("b"), jumped("c")}, false},
		{"three, both are starting", 3, []clockSample{starting("b"), starting("c")}, false},
		{"three, one jumped away", 3, []clockSample{steady("b", 0), {voter: "c", offset: time.Hour, hasReference: true, ahead: time.Hour}}, true},
		{"three, one is elsewhere", 3, []clockSample{steady("b", 0), steady("c", time.Hour)}, false},
		{"three, one is silent", 3, []clockSample{steady("b", 0)}, false},
		{"five, three of the others", 5, []clockSample{steady("b", 0), steady("c", 0), steady("d", 0), jumped("e")}, true},
		{"five, two of the others", 5, []clockSample{steady("b", 0), steady("c", 0), jumped("d"), jumped("e")}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.Equal(t, tc.want, clockVerdict("a", all[:tc.voters], tc.samples, ClockTolerance).confirms())
		})
	}
}

// TestClockConfirmsWithWhatIsUnconfirmed: who vouches has no more than the greatest sum
// of jumps that nobody confirmed.
func TestClockConfirmsWithWhatIsUnconfirmed(t *testing.T) {
	v := clockVerdict("a", []raft.ServerID{"a", "b", "c", "d"}, []clockSample{
		{voter: "b", hasReference: true, unconfirmed: -4 * time.Minute},
		{voter: "c", hasReference: true, unconfirmed: time.Minute},
		{voter: "d", hasReference: true, unconfirmed: time.Hour, offset: time.Hour},
	}, ClockTolerance)
	require.Equal(t, -4*time.Minute, v.unconfirmed)
	require.Equal(t, clockContest{ahead: -time.Hour, unconfirmed: time.Hour}, v.contest)
}

// TestClockContests: only voters that stand for a time count, and only where it is
// within the limit or beyond it for certain.
func TestClockContests(t *testing.T) {
	const s = time.Second
	all := []raft.ServerID{"a", "b", "c", "d", "e"}
	steady := func(id raft.ServerID, offset time.Duration) clockSample {
		return clockSample{voter: id, offset: offset, uncertainty: s, hasReference: true}
	}
	for _, tc := range []struct {
		name    string
		voters  int
		samples []clockSample
		want    bool
		ahead   time.Duration
	}{
		{"alone", 1, nil, false, 0},
		{"two: the other differs", 2, []clockSample{steady("b", -9*time.Minute)}, true, 9 * time.Minute},
		{"three, nothing known", 3, nil, false, 0},
		{"three, one is ahead, one is silent", 3, []clockSample{steady("c", time.Minute)}, true, -time.Minute},
		{"three, one differs, one is as wrong and is starting", 3, []clockSample{{voter: "b", uncertainty: s}, steady("c", -time.Minute)}, true, time.Minute},
		{"three, both are as wrong and know it", 3, []clockSample{
			{voter: "b", uncertainty: s, hasReference: true, ahead: time.Minute}, {voter: "c", uncertainty: s, hasReference: true, ahead: time.Minute},
		}, true, time.Minute},
		{"three, one differs that is starting", 3, []clockSample{{voter: "b", offset: -time.Minute, uncertainty: s}}, false, 0},
		{"three, one of each: a tie", 3, []clockSample{steady("b", 0), steady("c", -time.Minute)}, false, time.Minute},
		{"three, both differ: the nearest is named", 3, []clockSample{steady("b", -time.Hour), steady("c", -time.Minute)}, true, time.Minute},
		{"five, two differ, one agrees", 5, []clockSample{steady("b", -time.Minute), steady("c", -time.Hour), steady("d", s)}, true, time.Minute},
		{"five, two of each", 5, []clockSample{steady("b", -time.Minute), steady("c", -time.Hour), steady("d", s), steady("e", s)}, false, time.Minute},
		{"perhaps within the limit", 2, []clockSample{steady("b", 11*s)}, false, 0},
		{"no voter", 2, []clockSample{steady("c", time.Hour)}, false, 0},
		{"centuries behind", 2, []clockSample{steady("b", math.MinInt64)}, true, maxClockOffset},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := clockVerdict("a", all[:tc.voters], tc.samples, ClockTolerance)
			require.Equal(t, tc.want, v.contests())
			require.Equal(t, tc.ahead, v.contest.ahead)
		})
	}
}

// TestEvaluateStartClock is the rule for the clock that a node starts with.
func TestEvaluateStartClock(t *testing.T) {
	const m = time.Minute
	now := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	known := clockEvidence{stamp: now.Add(-m), kernelErr: errors.New("not synchronised"), voters: clockVote{agree: 1}}
	contested := clockVote{agree: 1, differ: 1, unknown: 1, opposed: 1, contest: clockContest{ahead: 9 * m}}
	for _, tc := range []struct {
		name   string
		change func(*clockEvidence)
		why    string // "" where it is believed
	}{
		{"soon after the newest decision", func(*clockEvidence) {}, ""},
		{"an empty folder", func(t *clockEvidence) { t.stamp = time.Time{} }, ""},
		{"an empty folder, and others differ", func(t *clockEvidence) { t.stamp, t.voters = time.Time{}, contested }, ""},
		{"10 minutes after it", func(t *clockEvidence) { t.stamp = now.Add(-10 * m) }, ""},
		{"longer after it", func(t *clockEvidence) { t.stamp = now.Add(-11 * m) }, "is 11m0s ahead of the newest decision"},
		{"longer after it, and it ran since", func(t *clockEvidence) { t.stamp, t.lastRun = now.Add(-11*m), now.Add(-m) }, ""},
		{"longer after it ran", func(t *clockEvidence) { t.stamp, t.lastRun = now.Add(-12*m), now.Add(-11*m) }, "is 11m0s ahead of when it last ran"},
		{"10 s before it", func(t *clockEvidence) { t.stamp = now.Add(ClockTolerance) }, ""},
		{"longer before it", func(t *clockEvidence) { t.stamp = now.Add(m) }, "is 1m0s behind the newest decision"},

		{"ahead of steady clocks", func(t *clockEvidence) { t.voters = contested }, "is 9m0s ahead of the clocks of nodes that run steadily"},
		{"behind steady clocks", func(t *clockEvidence) { t.voters = contested; t.voters.contest.ahead = -m }, "is 1m0s behind the clocks of nodes that run steadily"},
		{"as many agree as differ", func(t *clockEvidence) {
			t.voters = clockVote{agree: 2, differ: 1, steady: 1, opposed: 1, contest: clockContest{ahead: m}}
		}, ""},
		{"it was contested, and the others are silent", func(t *clockEvidence) { t.priorContest.ahead = 9 * m }, "is 9m0s ahead of the clocks of nodes"},
		{"it was contested, and came back", func(t *clockEvidence) { t.priorContest.ahead = ClockTolerance }, ""},
		{"it was contested, and as many agree as differ", func(t *clockEvidence) {
			t.priorContest.ahead, t.voters = 9*m, clockVote{agree: 2, differ: 1, steady: 1, opposed: 1}
		}, ""},
		{"it jumped while it ran", func(t *clockEvidence) { t.lastRun, t.unconfirmed = now.Add(-m), 9*m }, "since it jumped while this node ran"},
		{"it jumped, and was set right", func(t *clockEvidence) { t.lastRun, t.unconfirmed = now.Add(8*m), 9*m }, ""},
		{"it jumped back while it ran", func(t *clockEvidence) { t.lastRun, t.unconfirmed = now.Add(-m), -9*m }, "since it jumped while this node ran"},
		{"it jumped, and the kernel vouches", func(t *clockEvidence) { t.lastRun, t.unconfirmed, t.kernelErr = now.Add(-m), 9*m, nil }, ""},
		{"nothing is known of a majority", func(t *clockEvidence) { t.voters = clockVote{agree: 1, unknown: 2} }, "not heard from a majority"},
		{"nothing is known of a majority, and the kernel vouches", func(t *clockEvidence) { t.voters, t.kernelErr = clockVote{agree: 1, unknown: 2}, nil }, ""},
		{"ahead of steady clocks, and the kernel vouches", func(t *clockEvidence) { t.voters, t.kernelErr = contested, nil }, ""},
		{"ahead of steady clocks, and it is trusted", func(t *clockEvidence) { t.voters, t.trusted = contested, true }, ""},
		{"a majority vouches", func(t *clockEvidence) {
			t.stamp, t.voters = now.Add(-11*m), clockVote{agree: 4, differ: 1, steady: 3, opposed: 1, contest: clockContest{ahead: m}}
		}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			traces := known
			tc.change(&traces)
			err := evaluateStartClock(now, traces)
			if tc.why == "" {
				require.Nil(t, err)
				return
			}
			require.NotNil(t, err)
			require.ErrorContains(t, err, tc.why)
		})
	}
}

// TestJumpsLeftInAClock: what a start keeps of the jumps that nobody confirmed.
func TestJumpsLeftInAClock(t *testing.T) {
	const m = time.Minute
	ran := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name      string
		unvouched time.Duration
		stopped   time.Duration // as the clock shows it
		change    func(*clockEvidence)
		want      time.Duration
	}{
		{"none", 0, 3 * m, nil, 0},
		{"stopped for a while", 4 * m, 3 * m, nil, 4 * m},
		{"set back by some of it", 4 * m, -m, nil, 3 * m},
		{"set back by all of it", 4 * m, -4 * m, nil, 0},
		{"set back by more", 4 * m, -5 * m, nil, 0},
		{"back, stopped at once", -4 * m, 0, nil, -4 * m},
		{"back, stopped for a while", -4 * m, m, nil, -3 * m},
		{"back, stopped for long", -4 * m, 5 * m, nil, 0},
		{"the kernel vouches", 4 * m, 0, func(t *clockEvidence) { t.kernelErr = nil }, 0},
		{"it is trusted", 4 * m, 0, func(t *clockEvidence) { t.trusted = true }, 0},
		{"a majority vouches", 4 * m, 0, func(t *clockEvidence) { t.voters = clockVote{agree: 3, steady: 2, unconfirmed: m} }, m},
	} {
		t.Run(tc.name, func(t *testing.T) {
			traces := clockEvidence{lastRun: ran, unconfirmed: tc.unvouched, kernelErr: errors.New("not synchronised")}
			if tc.change != nil {
				tc.change(&traces)
			}
			require.Equal(t, tc.want, traces.residualJump(ran.Add(tc.stopped)))
		})
	}
	require.Zero(t, clockEvidence{kernelErr: errors.New("not synchronised")}.residualJump(ran))
}

func TestClockBehind(t *testing.T) {
	const s = time.Second
	all := []raft.ServerID{"a", "b", "c", "d", "e"}
	at := func(id raft.ServerID, offset time.Duration) clockSample {
		return clockSample{voter: id, offset: offset}
	}
	for _, tc := range []struct {
		name    string
		voters  int
		samples []clockSample
		want    time.Duration
	}{
		{"alone", 1, nil, 0},
		{"nothing known", 3, nil, 0},
		{"two: the one behind", 2, []clockSample{at("b", -9*s)}, 9 * s},
		{"two: this one is behind", 2, []clockSample{at("b", 9*s)}, 0},
		{"three: the nearer one", 3, []clockSample{at("b", -time.Hour), at("c", -3*s)}, 3 * s},
		{"three: both ahead", 3, []clockSample{at("b", time.Hour), at("c", 3*s)}, -3 * s},
		{"three: one is silent", 3, []clockSample{at("b", -4*s)}, 4 * s},
		{"five: the third", 5, []clockSample{at("b", -s), at("c", -2*s), at("d", -3*s), at("e", -4*s)}, 2 * s},
		{"what is not known for certain", 2, []clockSample{{voter: "b", offset: -s, uncertainty: 2 * s}}, 3 * s},
		{"so slow an answer tells nothing", 2, []clockSample{{voter: "b", offset: -s, uncertainty: 11 * s}}, 0},
		{"centuries behind", 2, []clockSample{at("b", math.MinInt64)}, maxClockOffset},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.Equal(t, tc.want, clockBehind("a", all[:tc.voters], tc.samples))
		})
	}
}
