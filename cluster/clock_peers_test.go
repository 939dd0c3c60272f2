package cluster

import (
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
		{"alone", 1, nil, clockVote{1, 0, 0}, true, false},
		{"alone, with the sample of one that left", 1, []clockSample{at("b", time.Hour)}, clockVote{1, 0, 0}, true, false},

		{"two, nothing known", 2, nil, clockVote{1, 0, 1}, false, false},
		{"two agree", 2, []clockSample{at("b", 9*s)}, clockVote{2, 0, 0}, true, false},
		{"two differ: neither leads", 2, []clockSample{at("b", 12*s)}, clockVote{1, 1, 0}, false, true},

		{"three, nothing known", 3, nil, clockVote{1, 0, 2}, false, false},
		{"three agree", 3, []clockSample{at("b", -s), at("c", s)}, clockVote{3, 0, 0}, true, false},
		{"three, one agrees, one is cut off", 3, []clockSample{at("b", 0)}, clockVote{2, 0, 1}, true, false},
		{"three, one differs", 3, []clockSample{at("b", 0), at("c", time.Hour)}, clockVote{2, 1, 0}, true, false},
		{"three, one differs, one is cut off", 3, []clockSample{at("b", time.Hour)}, clockVote{1, 1, 1}, false, false},
		{"three, self is the odd one", 3, []clockSample{at("b", time.Hour), at("c", time.Hour)}, clockVote{1, 2, 0}, false, true},
		{"three, all differ", 3, []clockSample{at("b", time.Hour), at("c", -time.Hour)}, clockVote{1, 2, 0}, false, true},

		{"five, one agrees", 5, []clockSample{at("b", 0)}, clockVote{2, 0, 3}, false, false},
		{"five, two agree", 5, []clockSample{at("b", 0), at("c", 0)}, clockVote{3, 0, 2}, true, false},
		{"five, two differ, two are cut off", 5, []clockSample{at("b", time.Hour), at("c", time.Hour)}, clockVote{1, 2, 2}, false, false},
		{"five, three differ, one is cut off", 5, []clockSample{at("b", time.Hour), at("c", time.Hour), at("d", -time.Hour)}, clockVote{1, 3, 1}, false, true},
		{"five, two agree, two differ", 5, []clockSample{at("b", 0), at("c", 0), at("d", time.Hour), at("e", time.Hour)}, clockVote{3, 2, 0}, true, false},

		{"behind by the limit, for certain", 2, []clockSample{{"b", -10 * s, 0, 0}}, clockVote{2, 0, 0}, true, false},
		{"just beyond the limit, for certain", 2, []clockSample{{"b", -10*s - 1, 0, 0}}, clockVote{1, 1, 0}, false, true},
		{"perhaps beyond the limit", 2, []clockSample{{"b", 9 * s, 2 * s, 0}}, clockVote{1, 0, 1}, false, false},
		{"perhaps within the limit", 2, []clockSample{{"b", 12 * s, 2 * s, 0}}, clockVote{1, 0, 1}, false, false},
		{"so slow an answer tells nothing", 2, []clockSample{{"b", 0, 11 * s, 0}}, clockVote{1, 0, 1}, false, false},
		{"as old as a sample may be", 2, []clockSample{{"b", 0, 0, clockSampleLife}}, clockVote{2, 0, 0}, true, false},
		{"too old", 2, []clockSample{{"b", 0, 0, clockSampleLife + 1}}, clockVote{1, 0, 1}, false, false},
		{"the youngest counts", 2, []clockSample{{"b", time.Hour, 0, 3 * s}, {"b", 0, 0, s}, {"b", time.Hour, 0, 2 * s}}, clockVote{2, 0, 0}, true, false},
		{"two samples are one voter", 5, []clockSample{at("b", 0), at("b", 0), at("b", 0)}, clockVote{2, 0, 3}, false, false},
		{"own sample says nothing", 3, []clockSample{at("a", time.Hour)}, clockVote{1, 0, 2}, false, false},
		{"centuries ahead", 2, []clockSample{{"b", math.MaxInt64, s, 0}}, clockVote{1, 1, 0}, false, true},
		{"centuries behind", 2, []clockSample{{"b", math.MinInt64, s, 0}}, clockVote{1, 1, 0}, false, true},
		{"no idea at all", 2, []clockSample{{"b", math.MaxInt64, math.MaxInt64, 0}}, clockVote{1, 0, 1}, false, false},
		{"nonsense", 2, []clockSample{{"b", 0, -s, 0}}, clockVote{1, 0, 1}, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := clockVerdict("a", all[:tc.voters], tc.samples, clockLimitPeers)
			require.Equal(t, tc.want, v)
			require.Equal(t, tc.may, v.mayLead(), "may lead")
			require.Equal(t, tc.must, v.mustStepDown(), "must step down")
		})
	}
}

// A node that is no voter does not count itself.
func TestClockVerdictOfNonVoter(t *testing.T) {
	v := clockVerdict("n", []raft.ServerID{"a", "b"}, []clockSample{{voter: "a"}}, clockLimitPeers)
	require.Equal(t, clockVote{1, 0, 1}, v)
	require.False(t, v.mayLead())
}

// Nobody may lead and have to step down, whatever the votes.
func TestClockVoteIsConsistent(t *testing.T) {
	for agree := range 6 {
		for differ := range 6 {
			for unknown := range 6 {
				v := clockVote{agree, differ, unknown}
				require.False(t, v.mayLead() && v.mustStepDown(), "%+v", v)
				if unknown == 0 {
					require.NotEqual(t, v.mayLead(), v.mustStepDown(), "%+v", v)
				}
			}
		}
	}
}
