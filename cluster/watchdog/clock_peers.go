package watchdog

import (
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// clockSampleMaxAge is the greatest age of a sample. Clocks are compared at least three
// times as often, so that one lost answer makes no clock unknown.
const clockSampleMaxAge = 30 * time.Second

// ClockSample is this node's knowledge of the clock of a voter.
type ClockSample struct {
	Voter       raft.ServerID
	Offset      time.Duration // positive: ahead of this node's
	Uncertainty time.Duration // greatest error of the offset
	Age         time.Duration
	// The voter's own report, see ClockReport.
	HasReference       bool
	Ahead, Unconfirmed time.Duration
}

// referenceOffset returns how far the voter's reference time is ahead of this node's
// clock.
func (s *ClockSample) referenceOffset() time.Duration {
	bounded := func(d time.Duration) time.Duration { return min(max(d, -MaxClockOffset), MaxClockOffset) }
	return bounded(s.Offset) - bounded(s.Ahead)
}

// ClockContest describes voters that contest the clock of this node.
type ClockContest struct {
	Ahead       time.Duration // how far this node's clock is ahead of their reference time
	Unconfirmed time.Duration // sum of the unconfirmed jumps in their reference time
}

// ClockOffset returns how far the wall clock of a peer is ahead of this node's. The peer
// read its clock at some time between sent and received, which this node read from its
// elapsed clock; ownWall is this node's wall clock at received. The uncertainty is half
// the time between the two, so a slow answer has little value. Callers that send times in
// milliseconds add one to the uncertainty.
func ClockOffset(sent, received time.Duration, ownWall, remoteWall time.Time) (offset, uncertainty time.Duration) {
	half := max(received-sent, 0) / 2
	return remoteWall.Round(0).Sub(ownWall.Round(0).Add(-half)), half
}

// ClockVote counts voters by the comparison of their clocks with this node's.
type ClockVote struct {
	agree   int // certainly within the limit, including this node
	differ  int // certainly beyond the limit
	unknown int // no fresh sample, or one with too great an uncertainty

	// The same for the reference times of voters, without this node.
	steady, opposed int
	Unconfirmed     time.Duration // greatest sum among the steady voters
	contest         ClockContest  // by the nearest of the opposed voters
}

// ClockVerdict compares this node's clock with those of the voters. A leader stamps for
// all, so its clock must not be the wrong one, which the majority determines. Of two
// voters that differ, neither can know which is wrong, and neither leads.
//
// If a voter has several samples, the youngest counts. Samples of nodes that are not
// voters don't count.
func ClockVerdict(self raft.ServerID, voters []raft.ServerID, samples []ClockSample, limit time.Duration) ClockVote {
	var v ClockVote
	for _, id := range voters {
		if id == self {
			v.agree++
			continue
		}
		s, ok := youngestSample(id, samples)
		within := func(offset time.Duration) bool { return offset.Abs() <= limit-s.Uncertainty } // written this way, it can't overflow
		beyond := func(offset time.Duration) bool { return offset.Abs()-s.Uncertainty > limit }
		switch {
		case ok && within(s.Offset):
			v.agree++
		case ok && beyond(s.Offset):
			v.differ++
		default:
			v.unknown++
		}
		switch reference := s.referenceOffset(); {
		case !ok || !s.HasReference:
		case within(reference):
			v.steady++
			if s.Unconfirmed.Abs() > v.Unconfirmed.Abs() {
				v.Unconfirmed = s.Unconfirmed
			}
		case beyond(reference):
			if v.opposed == 0 || reference.Abs() < v.contest.Ahead.Abs() {
				v.contest = ClockContest{-reference, s.Unconfirmed}
			}
			v.opposed++
		}
	}
	return v
}

func youngestSample(id raft.ServerID, samples []ClockSample) (youngest ClockSample, ok bool) {
	for _, s := range samples {
		if s.Voter == id && s.Age <= clockSampleMaxAge && s.Uncertainty >= 0 && (!ok || s.Age < youngest.Age) {
			youngest, ok = s, true
		}
	}
	return youngest, ok
}

func (v ClockVote) majority() int { return (v.agree+v.differ+v.unknown)/2 + 1 }

// MayLead reports whether a majority of the voters, including this node, agrees. A node
// that does not lead waits for that before it campaigns.
func (v ClockVote) MayLead() bool { return v.agree >= v.majority() }

// MustStepDown reports whether no majority agrees even if all unknown voters did. A
// leader leads until then: a broken link is no proof of a wrong clock, and has a rule of
// its own.
func (v ClockVote) MustStepDown() bool { return v.agree+v.unknown < v.majority() }

// Confirms reports whether a majority of the voters, without this node, have the time of
// this node's clock as reference time.
func (v ClockVote) Confirms() bool { return v.steady >= v.majority() }

// contests reports whether, of the voters without this node, more have another reference
// time than have that of this node's clock.
func (v ClockVote) contests() bool { return v.opposed > v.steady }

// AcceptsJump reports whether a jump is small enough, has lasted long enough, and is
// shared by enough voters, to be accepted without confirmation.
func (v ClockVote) AcceptsJump(by, lasts time.Duration) bool {
	return by.Abs() <= clockJumpLimit && lasts >= clockSettleTime && v.MayLead()
}

// majorityKnown reports whether the clocks of a majority, including this node's, are
// known.
func (v ClockVote) majorityKnown() bool { return v.agree+v.differ >= v.majority() }

// ClockBehind returns the most that the clocks of a majority can be behind this node's.
// It uses the majority whose clocks are furthest ahead. The result is negative if they
// are ahead of this node's, and 0 if too few clocks are known; a leader knows enough.
func ClockBehind(self raft.ServerID, voters []raft.ServerID, samples []ClockSample) time.Duration {
	var least []time.Duration // the least that each clock is ahead of this node's
	for _, id := range voters {
		if id == self {
			least = append(least, 0)
		} else if s, ok := youngestSample(id, samples); ok && s.Uncertainty <= ClockTolerance {
			least = append(least, max(s.Offset, -MaxClockOffset)-s.Uncertainty)
		}
	}
	majority := len(voters)/2 + 1
	if len(least) < majority {
		return 0
	}
	slices.Sort(least)
	return -least[len(least)-majority]
}
