package cluster

import (
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// clockSampleMaxAge is how old a sample may be. Clocks are compared at least three
// times as often, so that one lost answer makes no clock unknown.
const clockSampleMaxAge = 30 * time.Second

// clockSample is what this node knows of the clock of a voter.
type clockSample struct {
	voter       raft.ServerID
	offset      time.Duration // positive: ahead of this node's
	uncertainty time.Duration // the offset is off by this much at most
	age         time.Duration
	// What it said of its clock itself, see clockReport.
	hasReference       bool
	ahead, unconfirmed time.Duration
}

// referenceOffset says how far the time that the voter stands for is ahead of this node's
// clock.
func (s *clockSample) referenceOffset() time.Duration {
	bounded := func(d time.Duration) time.Duration { return min(max(d, -maxClockOffset), maxClockOffset) }
	return bounded(s.offset) - bounded(s.ahead)
}

// clockContest is what voters say of the clock of this node.
type clockContest struct {
	ahead       time.Duration // of the time that they stand for
	unconfirmed time.Duration // the sum of the jumps in that which nobody confirmed
}

// clockOffset says how far the wall clock of a peer is ahead of this node's. The
// peer read its clock at some moment between sent and received, which this
// node read from its elapsed clock; ownWall is this node's wall clock at
// received. Half of what lies between can be wrong, so an answer that took long
// tells little. Who sends times in milliseconds adds one to the uncertainty.
func clockOffset(sent, received time.Duration, ownWall, remoteWall time.Time) (offset, uncertainty time.Duration) {
	half := max(received-sent, 0) / 2
	return remoteWall.Round(0).Sub(ownWall.Round(0).Add(-half)), half
}

// clockVote counts voters by what their clocks say of this node's.
type clockVote struct {
	agree   int // within the limit for certain; this node among them
	differ  int // beyond the limit for certain
	unknown int // no fresh sample, or too uncertain a one

	// The same of the times that voters stand for; this node is not among them.
	steady, opposed int
	unconfirmed     time.Duration // the greatest of steady
	contest         clockContest  // by the nearest of opposed
}

// clockVerdict compares this node's clock with those of the voters. A leader
// stamps for all, so it must not be the one whose clock is wrong: the majority
// says who that is. Of two voters that differ neither can know, and none leads.
//
// Of a voter with several samples the youngest counts. Samples of nodes that are
// no voters, or none any more, do not.
func clockVerdict(self raft.ServerID, voters []raft.ServerID, samples []clockSample, limit time.Duration) clockVote {
	var v clockVote
	for _, id := range voters {
		if id == self {
			v.agree++
			continue
		}
		s, ok := youngestSample(id, samples)
		within := func(offset time.Duration) bool { return offset.Abs() <= limit-s.uncertainty } // this way round it can't overflow
		beyond := func(offset time.Duration) bool { return offset.Abs()-s.uncertainty > limit }
		switch {
		case ok && within(s.offset):
			v.agree++
		case ok && beyond(s.offset):
			v.differ++
		default:
			v.unknown++
		}
		switch reference := s.referenceOffset(); {
		case !ok || !s.hasReference:
		case within(reference):
			v.steady++
			if s.unconfirmed.Abs() > v.unconfirmed.Abs() {
				v.unconfirmed = s.unconfirmed
			}
		case beyond(reference):
			if v.opposed == 0 || reference.Abs() < v.contest.ahead.Abs() {
				v.contest = clockContest{-reference, s.unconfirmed}
			}
			v.opposed++
		}
	}
	return v
}

func youngestSample(id raft.ServerID, samples []clockSample) (youngest clockSample, ok bool) {
	for _, s := range samples {
		if s.voter == id && s.age <= clockSampleMaxAge && s.uncertainty >= 0 && (!ok || s.age < youngest.age) {
			youngest, ok = s, true
		}
	}
	return youngest, ok
}

func (v clockVote) majority() int { return (v.agree+v.differ+v.unknown)/2 + 1 }

// mayLead says that a majority of the voters, this node included, agrees. Who
// does not lead yet waits for that.
func (v clockVote) mayLead() bool { return v.agree >= v.majority() }

// mustStepDown says that no majority agrees even if all that is unknown did. Who
// leads goes on until then: a cut link is no proof of a wrong clock, and has its
// own rule.
func (v clockVote) mustStepDown() bool { return v.agree+v.unknown < v.majority() }

// confirms says that a majority of the voters, this node not among them, stands for
// the time of this node's clock.
func (v clockVote) confirms() bool { return v.steady >= v.majority() }

// contests says that of the voters, this node not among them, more stand for
// another time than for that of this node's clock.
func (v clockVote) contests() bool { return v.opposed > v.steady }

// acceptsJump says that a jump is small enough, lasts long enough, and is shared by
// enough, to be accepted without confirmation.
func (v clockVote) acceptsJump(by, lasts time.Duration) bool {
	return by.Abs() <= clockJumpLimit && lasts >= clockSettleTime && v.mayLead()
}

// majorityKnown says that something is known of the clocks of a majority, this node's
// among them.
func (v clockVote) majorityKnown() bool { return v.agree+v.differ >= v.majority() }

// clockBehind returns how far the clocks of a majority are behind this node's at most.
// It takes the majority whose clocks are furthest ahead. The result is negative if they
// are ahead of this node's, and 0 if too few clocks are known. A leader knows enough.
func clockBehind(self raft.ServerID, voters []raft.ServerID, samples []clockSample) time.Duration {
	var least []time.Duration // how far ahead of this node's each clock is at least
	for _, id := range voters {
		if id == self {
			least = append(least, 0)
		} else if s, ok := youngestSample(id, samples); ok && s.uncertainty <= ClockTolerance {
			least = append(least, max(s.offset, -maxClockOffset)-s.uncertainty)
		}
	}
	majority := len(voters)/2 + 1
	if len(least) < majority {
		return 0
	}
	slices.Sort(least)
	return -least[len(least)-majority]
}
