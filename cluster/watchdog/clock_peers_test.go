package watchdog

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
			offset, uncertainty := ClockOffset(tc.sent, tc.received, now, now.Add(tc.remote))
			require.Equal(t, tc.offset, offset)
			require.Equal(t, tc.uncertainty, uncertainty)
		})
	}
}

// TestClockOffsetHoldsTheTruth: the true offset is always within the uncertainty,
// whenever in between the peer read its clock. The offset must not use Go's monotonic
// clock.
func TestClockOffsetHoldsTheTruth(t *testing.T) {
	sent := time.Now()
	for rtt := time.Duration(0); rtt <= 4*time.Second; rtt += 500 * time.Millisecond {
		for read := time.Duration(0); read <= rtt; read += 250 * time.Millisecond {
			for _, truth := range []time.Duration{-time.Hour, -time.Second, 0, time.Millisecond, time.Hour} {
				remote := sent.Round(0).Add(read + truth)
				offset, uncertainty := ClockOffset(time.Minute, time.Minute+rtt, sent.Add(rtt), remote)
				require.LessOrEqual(t, (offset - truth).Abs(), uncertainty)
			}
		}
	}
}

func TestClockVerdict(t *testing.T) {
	const s = time.Second
	at := func(voter raft.ServerID, offset time.Duration) ClockSample {
		return ClockSample{Voter: voter, Offset: offset, Uncertainty: s, Age: s}
	}
	all := []raft.ServerID{"a", "b", "c", "d", "e"}
	for _, tc := range []struct {
		name    string
		voters  int
		samples []ClockSample
		want    ClockVote
		may     bool
		must    bool
	}{
		{"alone", 1, nil, ClockVote{agree: 1, unknown: 0}, true, false},
		{"alone, with the sample of one that left", 1, []ClockSample{at("b", time.Hour)}, ClockVote{agree: 1, unknown: 0}, true, false},

		{"two, nothing known", 2, nil, ClockVote{agree: 1, unknown: 1}, false, false},
		{"two agree", 2, []ClockSample{at("b", 9*s)}, ClockVote{agree: 2, differ: 0, unknown: 0}, true, false},
		{"two differ: neither leads", 2, []ClockSample{at("b", 12*s)}, ClockVote{agree: 1, differ: 1, unknown: 0}, false, true},

		{"three, nothing known", 3, nil, ClockVote{agree: 1, unknown: 2}, false, false},
		{"three agree", 3, []ClockSample{at("b", -s), at("c", s)}, ClockVote{agree: 3, differ: 0, unknown: 0}, true, false},
		{"three, one agrees, one is cut off", 3, []ClockSample{at("b", 0)}, ClockVote{agree: 2, differ: 0, unknown: 1}, true, false},
		{"three, one differs", 3, []ClockSample{at("b", 0), at("c", time.Hour)}, ClockVote{agree: 2, differ: 1, unknown: 0}, true, false},
		{"three, one differs, one is cut off", 3, []ClockSample{at("b", time.Hour)}, ClockVote{agree: 1, differ: 1, unknown: 1}, false, false},
		{"three, self is the odd one", 3, []ClockSample{at("b", time.Hour), at("c", time.Hour)}, ClockVote{agree: 1, differ: 2, unknown: 0}, false, true},
		{"three, all differ", 3, []ClockSample{at("b", time.Hour), at("c", -time.Hour)}, ClockVote{agree: 1, differ: 2, unknown: 0}, false, true},

		{"five, one agrees", 5, []ClockSample{at("b", 0)}, ClockVote{agree: 2, differ: 0, unknown: 3}, false, false},
		{"five, two agree", 5, []ClockSample{at("b", 0), at("c", 0)}, ClockVote{agree: 3, differ: 0, unknown: 2}, true, false},
		{"five, two differ, two are cut off", 5, []ClockSample{at("b", time.Hour), at("c", time.Hour)}, ClockVote{agree: 1, differ: 2, unknown: 2}, false, false},
		{"five, three differ, one is cut off", 5, []ClockSample{at("b", time.Hour), at("c", time.Hour), at("d", -time.Hour)}, ClockVote{agree: 1, differ: 3, unknown: 1}, false, true},
		{"five, two agree, two differ", 5, []ClockSample{at("b", 0), at("c", 0), at("d", time.Hour), at("e", time.Hour)}, ClockVote{agree: 3, differ: 2, unknown: 0}, true, false},

		{"behind by the limit, for certain", 2, []ClockSample{{Voter: "b", Offset: -10 * s}}, ClockVote{agree: 2, differ: 0, unknown: 0}, true, false},
		{"just beyond the limit, for certain", 2, []ClockSample{{Voter: "b", Offset: -10*s - 1}}, ClockVote{agree: 1, differ: 1, unknown: 0}, false, true},
		{"perhaps beyond the limit", 2, []ClockSample{{Voter: "b", Offset: 9 * s, Uncertainty: 2 * s}}, ClockVote{agree: 1, unknown: 1}, false, false},
		{"perhaps within the limit", 2, []ClockSample{{Voter: "b", Offset: 12 * s, Uncertainty: 2 * s}}, ClockVote{agree: 1, unknown: 1}, false, false},
		{"so slow an answer tells nothing", 2, []ClockSample{{Voter: "b", Uncertainty: 11 * s}}, ClockVote{agree: 1, unknown: 1}, false, false},
		{"as old as a sample may be", 2, []ClockSample{{Voter: "b", Age: clockSampleMaxAge}}, ClockVote{agree: 2, differ: 0, unknown: 0}, true, false},
		{"too old", 2, []ClockSample{{Voter: "b", Age: clockSampleMaxAge + 1}}, ClockVote{agree: 1, unknown: 1}, false, false},
		{"the youngest counts", 2, []ClockSample{{Voter: "b", Offset: time.Hour, Age: 3 * s}, {Voter: "b", Age: s}, {Voter: "b", Offset: time.Hour, Age: 2 * s}}, ClockVote{agree: 2, differ: 0, unknown: 0}, true, false},
		{"two samples are one voter", 5, []ClockSample{at("b", 0), at("b", 0), at("b", 0)}, ClockVote{agree: 2, differ: 0, unknown: 3}, false, false},
		{"own sample says nothing", 3, []ClockSample{at("a", time.Hour)}, ClockVote{agree: 1, unknown: 2}, false, false},
		{"centuries ahead", 2, []ClockSample{{Voter: "b", Offset: math.MaxInt64, Uncertainty: s}}, ClockVote{agree: 1, differ: 1, unknown: 0}, false, true},
		{"centuries behind", 2, []ClockSample{{Voter: "b", Offset: math.MinInt64, Uncertainty: s}}, ClockVote{agree: 1, differ: 1, unknown: 0}, false, true},
		{"no idea at all", 2, []ClockSample{{Voter: "b", Offset: math.MaxInt64, Uncertainty: math.MaxInt64}}, ClockVote{agree: 1, unknown: 1}, false, false},
		{"nonsense", 2, []ClockSample{{Voter: "b", Uncertainty: -s}}, ClockVote{agree: 1, unknown: 1}, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := ClockVerdict("a", all[:tc.voters], tc.samples, ClockTolerance)
			require.Equal(t, tc.want, v)
			require.Equal(t, tc.may, v.MayLead(), "may lead")
			require.Equal(t, tc.must, v.MustStepDown(), "must step down")
		})
	}
}

// A node that is not a voter does not count itself.
func TestClockVerdictOfNonVoter(t *testing.T) {
	v := ClockVerdict("n", []raft.ServerID{"a", "b"}, []ClockSample{{Voter: "a"}}, ClockTolerance)
	require.Equal(t, ClockVote{agree: 1, unknown: 1}, v)
	require.False(t, v.MayLead())
}

// No vote allows a node to lead and requires it to step down.
func TestClockVoteIsConsistent(t *testing.T) {
	for agree := range 6 {
		for differ := range 6 {
			for unknown := range 6 {
				v := ClockVote{agree: agree, differ: differ, unknown: unknown}
				require.False(t, v.MayLead() && v.MustStepDown(), "%+v", v)
				if unknown == 0 {
					require.NotEqual(t, v.MayLead(), v.MustStepDown(), "%+v", v)
				}
			}
		}
	}
}

// Only voters with the time of this node's clock as reference time confirm it, and this
// node does not count.
func TestClockConfirms(t *testing.T) {
	const s = time.Second
	all := []raft.ServerID{"a", "b", "c", "d", "e"}
	steady := func(id raft.ServerID, offset time.Duration) ClockSample {
		return ClockSample{Voter: id, Offset: offset, Uncertainty: s, HasReference: true}
	}
	jumped := func(id raft.ServerID) ClockSample {
		return ClockSample{Voter: id, Uncertainty: s, HasReference: true, Ahead: time.Hour}
	}
	starting := func(id raft.ServerID) ClockSample { return ClockSample{Voter: id, Uncertainty: s} }
	for _, tc := range []struct {
		name    string
		voters  int
		samples []ClockSample
		want    bool
	}{
		{"alone", 1, nil, false},
		{"two: the other is no majority", 2, []ClockSample{steady("b", 0)}, false},
		{"three, both others", 3, []ClockSample{steady("b", 9*s), steady("c", -9*s)}, true},
		{"three, one of them jumped too", 3, []ClockSample{steady("b", 0), jumped("c")}, false},
		{"three, both jumped to the same time", 3, []ClockSample{jumped("b"), jumped("c")}, false},
		{"three, both are starting", 3, []ClockSample{starting("b"), starting("c")}, false},
		{"three, one jumped away", 3, []ClockSample{steady("b", 0), {Voter: "c", Offset: time.Hour, HasReference: true, Ahead: time.Hour}}, true},
		{"three, one is elsewhere", 3, []ClockSample{steady("b", 0), steady("c", time.Hour)}, false},
		{"three, one is silent", 3, []ClockSample{steady("b", 0)}, false},
		{"five, three of the others", 5, []ClockSample{steady("b", 0), steady("c", 0), steady("d", 0), jumped("e")}, true},
		{"five, two of the others", 5, []ClockSample{steady("b", 0), steady("c", 0), jumped("d"), jumped("e")}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.Equal(t, tc.want, ClockVerdict("a", all[:tc.voters], tc.samples, ClockTolerance).Confirms())
		})
	}
}

// TestClockConfirmsWithWhatIsUnconfirmed: a confirmed node adopts the greatest sum of
// unconfirmed jumps among the voters that confirm it.
func TestClockConfirmsWithWhatIsUnconfirmed(t *testing.T) {
	v := ClockVerdict("a", []raft.ServerID{"a", "b", "c", "d"}, []ClockSample{
		{Voter: "b", HasReference: true, Unconfirmed: -4 * time.Minute},
		{Voter: "c", HasReference: true, Unconfirmed: time.Minute},
		{Voter: "d", HasReference: true, Unconfirmed: time.Hour, Offset: time.Hour},
	}, ClockTolerance)
	require.Equal(t, -4*time.Minute, v.Unconfirmed)
	require.Equal(t, ClockContest{Ahead: -time.Hour, Unconfirmed: time.Hour}, v.contest)
}

// TestClockContests: only voters with a reference time count, and only if it is certainly
// within the limit or beyond it.
func TestClockContests(t *testing.T) {
	const s = time.Second
	all := []raft.ServerID{"a", "b", "c", "d", "e"}
	steady := func(id raft.ServerID, offset time.Duration) ClockSample {
		return ClockSample{Voter: id, Offset: offset, Uncertainty: s, HasReference: true}
	}
	for _, tc := range []struct {
		name    string
		voters  int
		samples []ClockSample
		want    bool
		ahead   time.Duration
	}{
		{"alone", 1, nil, false, 0},
		{"two: the other differs", 2, []ClockSample{steady("b", -9*time.Minute)}, true, 9 * time.Minute},
		{"three, nothing known", 3, nil, false, 0},
		{"three, one is ahead, one is silent", 3, []ClockSample{steady("c", time.Minute)}, true, -time.Minute},
		{"three, one differs, one is as wrong and is starting", 3, []ClockSample{{Voter: "b", Uncertainty: s}, steady("c", -time.Minute)}, true, time.Minute},
		{"three, both are as wrong and know it", 3, []ClockSample{
			{Voter: "b", Uncertainty: s, HasReference: true, Ahead: time.Minute}, {Voter: "c", Uncertainty: s, HasReference: true, Ahead: time.Minute},
		}, true, time.Minute},
		{"three, one differs that is starting", 3, []ClockSample{{Voter: "b", Offset: -time.Minute, Uncertainty: s}}, false, 0},
		{"three, one of each: a tie", 3, []ClockSample{steady("b", 0), steady("c", -time.Minute)}, false, time.Minute},
		{"three, both differ: the nearest is named", 3, []ClockSample{steady("b", -time.Hour), steady("c", -time.Minute)}, true, time.Minute},
		{"five, two differ, one agrees", 5, []ClockSample{steady("b", -time.Minute), steady("c", -time.Hour), steady("d", s)}, true, time.Minute},
		{"five, two of each", 5, []ClockSample{steady("b", -time.Minute), steady("c", -time.Hour), steady("d", s), steady("e", s)}, false, time.Minute},
		{"perhaps within the limit", 2, []ClockSample{steady("b", 11*s)}, false, 0},
		{"no voter", 2, []ClockSample{steady("c", time.Hour)}, false, 0},
		{"centuries behind", 2, []ClockSample{steady("b", math.MinInt64)}, true, MaxClockOffset},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := ClockVerdict("a", all[:tc.voters], tc.samples, ClockTolerance)
			require.Equal(t, tc.want, v.contests())
			require.Equal(t, tc.ahead, v.contest.Ahead)
		})
	}
}

// TestEvaluateStartClock checks the rule for the clock at a start.
func TestEvaluateStartClock(t *testing.T) {
	const m = time.Minute
	now := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	known := ClockEvidence{Stamp: now.Add(-m), KernelErr: errors.New("not synchronised"), Voters: ClockVote{agree: 1}}
	contested := ClockVote{agree: 1, differ: 1, unknown: 1, opposed: 1, contest: ClockContest{Ahead: 9 * m}}
	for _, tc := range []struct {
		name   string
		change func(*ClockEvidence)
		why    string // "" if the clock is accepted
	}{
		{"soon after the newest decision", func(*ClockEvidence) {}, ""},
		{"an empty folder", func(t *ClockEvidence) { t.Stamp = time.Time{} }, ""},
		{"an empty folder, and others differ", func(t *ClockEvidence) { t.Stamp, t.Voters = time.Time{}, contested }, ""},
		{"10 minutes after it", func(t *ClockEvidence) { t.Stamp = now.Add(-10 * m) }, ""},
		{"longer after it", func(t *ClockEvidence) { t.Stamp = now.Add(-11 * m) }, "is 11m0s ahead of the newest decision"},
		{"longer after it, and it ran since", func(t *ClockEvidence) { t.Stamp, t.LastRun = now.Add(-11*m), now.Add(-m) }, ""},
		{"longer after it ran", func(t *ClockEvidence) { t.Stamp, t.LastRun = now.Add(-12*m), now.Add(-11*m) }, "is 11m0s ahead of when it last ran"},
		{"10 s before it", func(t *ClockEvidence) { t.Stamp = now.Add(ClockTolerance) }, ""},
		{"longer before it", func(t *ClockEvidence) { t.Stamp = now.Add(m) }, "is 1m0s behind the newest decision"},

		{"ahead of steady clocks", func(t *ClockEvidence) { t.Voters = contested }, "is 9m0s ahead of the clocks of nodes that run steadily"},
		{"behind steady clocks", func(t *ClockEvidence) { t.Voters = contested; t.Voters.contest.Ahead = -m }, "is 1m0s behind the clocks of nodes that run steadily"},
		{"as many agree as differ", func(t *ClockEvidence) {
			t.Voters = ClockVote{agree: 2, differ: 1, steady: 1, opposed: 1, contest: ClockContest{Ahead: m}}
		}, ""},
		{"it was contested, and the others are silent", func(t *ClockEvidence) { t.PriorContest.Ahead = 9 * m }, "is 9m0s ahead of the clocks of nodes"},
		{"it was contested, and came back", func(t *ClockEvidence) { t.PriorContest.Ahead = ClockTolerance }, ""},
		{"it was contested, and as many agree as differ", func(t *ClockEvidence) {
			t.PriorContest.Ahead, t.Voters = 9*m, ClockVote{agree: 2, differ: 1, steady: 1, opposed: 1}
		}, ""},
		{"it jumped while it ran", func(t *ClockEvidence) { t.LastRun, t.Unconfirmed = now.Add(-m), 9*m }, "since it jumped while this node ran"},
		{"it jumped, and was set right", func(t *ClockEvidence) { t.LastRun, t.Unconfirmed = now.Add(8*m), 9*m }, ""},
		{"it jumped back while it ran", func(t *ClockEvidence) { t.LastRun, t.Unconfirmed = now.Add(-m), -9*m }, "since it jumped while this node ran"},
		{"it jumped, and the kernel vouches", func(t *ClockEvidence) { t.LastRun, t.Unconfirmed, t.KernelErr = now.Add(-m), 9*m, nil }, ""},
		{"nothing is known of a majority", func(t *ClockEvidence) { t.Voters = ClockVote{agree: 1, unknown: 2} }, "not heard from a majority"},
		{"nothing is known of a majority, and the kernel vouches", func(t *ClockEvidence) { t.Voters, t.KernelErr = ClockVote{agree: 1, unknown: 2}, nil }, ""},
		{"ahead of steady clocks, and the kernel vouches", func(t *ClockEvidence) { t.Voters, t.KernelErr = contested, nil }, ""},
		{"ahead of steady clocks, and it is trusted", func(t *ClockEvidence) { t.Voters, t.Trusted = contested, true }, ""},
		{"a majority vouches", func(t *ClockEvidence) {
			t.Stamp, t.Voters = now.Add(-11*m), ClockVote{agree: 4, differ: 1, steady: 3, opposed: 1, contest: ClockContest{Ahead: m}}
		}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			traces := known
			tc.change(&traces)
			err := EvaluateStartClock(now, traces)
			if tc.why == "" {
				require.Nil(t, err)
				return
			}
			require.NotNil(t, err)
			require.ErrorContains(t, err, tc.why)
		})
	}
}

// TestJumpsLeftInAClock checks the part of unconfirmed jumps that remains at a start.
func TestJumpsLeftInAClock(t *testing.T) {
	const m = time.Minute
	ran := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name        string
		unconfirmed time.Duration
		stopped     time.Duration // by the clock
		change      func(*ClockEvidence)
		want        time.Duration
	}{
		{"none", 0, 3 * m, nil, 0},
		{"stopped for a while", 4 * m, 3 * m, nil, 4 * m},
		{"set back by some of it", 4 * m, -m, nil, 3 * m},
		{"set back by all of it", 4 * m, -4 * m, nil, 0},
		{"set back by more", 4 * m, -5 * m, nil, 0},
		{"back, stopped at once", -4 * m, 0, nil, -4 * m},
		{"back, stopped for a while", -4 * m, m, nil, -3 * m},
		{"back, stopped for long", -4 * m, 5 * m, nil, 0},
		{"the kernel vouches", 4 * m, 0, func(t *ClockEvidence) { t.KernelErr = nil }, 0},
		{"it is trusted", 4 * m, 0, func(t *ClockEvidence) { t.Trusted = true }, 0},
		{"a majority vouches", 4 * m, 0, func(t *ClockEvidence) { t.Voters = ClockVote{agree: 3, steady: 2, Unconfirmed: m} }, m},
	} {
		t.Run(tc.name, func(t *testing.T) {
			traces := ClockEvidence{LastRun: ran, Unconfirmed: tc.unconfirmed, KernelErr: errors.New("not synchronised")}
			if tc.change != nil {
				tc.change(&traces)
			}
			require.Equal(t, tc.want, traces.ResidualJump(ran.Add(tc.stopped)))
		})
	}
	require.Zero(t, ClockEvidence{KernelErr: errors.New("not synchronised")}.ResidualJump(ran))
}

func TestClockBehind(t *testing.T) {
	const s = time.Second
	all := []raft.ServerID{"a", "b", "c", "d", "e"}
	at := func(id raft.ServerID, offset time.Duration) ClockSample {
		return ClockSample{Voter: id, Offset: offset}
	}
	for _, tc := range []struct {
		name    string
		voters  int
		samples []ClockSample
		want    time.Duration
	}{
		{"alone", 1, nil, 0},
		{"nothing known", 3, nil, 0},
		{"two: the one behind", 2, []ClockSample{at("b", -9*s)}, 9 * s},
		{"two: this one is behind", 2, []ClockSample{at("b", 9*s)}, 0},
		{"three: the nearer one", 3, []ClockSample{at("b", -time.Hour), at("c", -3*s)}, 3 * s},
		{"three: both ahead", 3, []ClockSample{at("b", time.Hour), at("c", 3*s)}, -3 * s},
		{"three: one is silent", 3, []ClockSample{at("b", -4*s)}, 4 * s},
		{"five: the third", 5, []ClockSample{at("b", -s), at("c", -2*s), at("d", -3*s), at("e", -4*s)}, 2 * s},
		{"what is not known for certain", 2, []ClockSample{{Voter: "b", Offset: -s, Uncertainty: 2 * s}}, 3 * s},
		{"so slow an answer tells nothing", 2, []ClockSample{{Voter: "b", Offset: -s, Uncertainty: 11 * s}}, 0},
		{"centuries behind", 2, []ClockSample{at("b", math.MinInt64)}, MaxClockOffset},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.Equal(t, tc.want, ClockBehind("a", all[:tc.voters], tc.samples))
		})
	}
}
