package watchdog

import (
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// clockSampleMaxAge is how old a sample may be. Clocks are compared at least three
// times as often, so that one lost answer makes no clock unknown.
const clockSampleMaxAge = 30 * time.Second

// ClockSample is what this node knows of the clock of a voter.
type ClockSample struct {
	Voter       raft.ServerID
	Offset      time.Duration // positive: ahead of this node's
	Uncertainty time.Duration // the offset is off by this much at most
	Age         time.Duration
	// What it said of its clock itself, see ClockReport.
	HasReference       bool
	Ahead, Unconfirmed time.Duration
}

// referenceOffset says how far the time that the voter stands for is ahead of this node's
// clock.
func (s *ClockSample) referenceOffset() time.Duration {
	bounded := func(d time.Duration) time.Duration { return min(max(d, -MaxClockOffset), MaxClockOffset) }
	return bounded(s.Offset) - bounded(s.Ahead)
}

// ClockContest is what voters say of the clock of this node.
type ClockContest struct {
	Ahead       time.Duration // of the time that they stand for
	Unconfirmed time.Duration // the sum of the jumps in that which nobody confirmed
}

// ClockOffset says how far the wall clock of a peer is ahead of this node's. The
// peer read its clock at some moment between sent and received, which this
// node read from its elapsed clock; ownWall is this node's wall clock at
// received. Half of what lies between can be wrong, so an answer that took long
// tells little. Who sends times in milliseconds adds one to the uncertainty.
func ClockOffset(sent, received time.Duration, ownWall, remoteWall time.Time) (offset, uncertainty time.Duration) {
	half := max(received-sent, 0) / 2
	return remoteWall.Round(0).Sub(ownWall.Round(0).Add(-half)), half
}

// ClockVote counts voters by what their clocks say of this node's.
type ClockVote struct {
	agree   int // within the limit for certain; this node among them
	differ  int // beyond the limit for certain
	unknown int // no fresh sample, or too uncertain a one

	// The same of the times that voters stand for; this node is not among them.
	steady, opposed int
	Unconfirmed     time.Duration // the greatest of steady
	contest         ClockContest  // by the nearest of opposed
}

// ClockVerdict compares this node's clock with those of the voters. A leader
// stamps for all, so it must not be the one whose clock is wrong: the majority
// says who that is. Of two voters that differ neither can know, and none leads.
//
// Of a voter with several samples the youngest counts. Samples of nodes that are
// no voters, or none any more, do not.
func ClockVerdict(self raft.ServerID, voters []raft.ServerID, samples []ClockSample, limit time.Duration) ClockVote {
	var v ClockVote
	for _, id := range voters {
		if id == self {
			v.agree++
			continue
		}
		s, ok := youngestSample(id, samples)
		within := func(offset time.Duration) bool { return offset.Abs() <= limit-s.Uncertainty } // this way round it can't overflow
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

// MayLead says that a majority of the voters, this node included, agrees. Who
// does not lead yet waits for that.
func (v ClockVote) MayLead() bool { return v.agree >= v.majority() }

// MustStepDown says that no majority agrees even if all that is unknown did. Who
// leads goes on until then: a cut link is no proof of a wrong clock, and has its
// own rule.
func (v ClockVote) MustStepDown() bool { return v.agree+v.unknown < v.majority() }

// Confirms says that a majority of the voters, this node not among them, stands for
// the time of this node's clock.
func (v ClockVote) Confirms() bool { return v.steady >= v.majority() }

// contests says that of the voters, this node not among them, more stand for
// another time than for that of this node's clock.
func (v ClockVote) contests() bool { return v.opposed > v.steady }

// AcceptsJump says that a jump is small enough, lasts long enough, and is shared by
// enough, to be accepted without confirmation.
func (v ClockVote) AcceptsJump(by, lasts time.Duration) bool {
	return by.Abs() <= clockJumpLimit && lasts >= clockSettleTime && v.MayLead()
}

// majorityKnown says that something is known of the clocks of a majority, this node's
// among them.
func (v ClockVote) majorityKnown() bool { return v.agree+v.differ >= v.majority() }

// ClockBehind returns how far the clocks of a majority are behind this node's at most.
// It takes the majority whose clocks are furthest ahead. The result is negative if they
// are ahead of this node's, and 0 if too few clocks are known. A leader knows enough.
func ClockBehind(self raft.ServerID, voters []raft.ServerID, samples []ClockSample) time.Duration {
	var least []time.Duration // how far ahead of this node's each clock is at least
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
