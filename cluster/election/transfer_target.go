package election

import (
	"context"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// A Candidate is another voter as it last reported itself.
type Candidate struct {
	Applied     uint64 // index of the last entry that it has applied
	Healthy     bool   // nothing is wrong with it
	CanDecide   bool   // it could decide commands if it led
	Offset      time.Duration
	Uncertainty time.Duration // of Offset, its clock against this node's
	Age         time.Duration // since the report
}

// candidateMaxAge is how old a report may be for leadership to go to that voter. Each
// voter is asked once a second.
const candidateMaxAge = 3 * time.Second

// minLeadTime is how long a node leads at least before it transfers leadership, so that
// nodes that each find something wrong with themselves don't pass it round and round.
const minLeadTime = time.Second

// TransferTarget is the voter that leadership should go to: one that reported a moment
// ago that nothing is wrong with it, and whose clock agrees with a majority; of those
// the one that has applied most. "" if there is none.
func (e *Elector) TransferTarget() string { return e.chooseTarget(isHealthy) }

// FallbackTarget is for a leader that can't go on: if there is no TransferTarget, it is
// a voter that can decide, although something is wrong with it.
func (e *Elector) FallbackTarget() string {
	if id := e.chooseTarget(isHealthy); id != "" {
		return id
	}
	return e.chooseTarget(canDecide)
}

// transferCandidates returns the voters to try, in order. The best one may hang since its
// report; then another one that can decide is tried.
func (e *Elector) transferCandidates() []string {
	best := e.FallbackTarget()
	other := e.chooseTarget(func(id string, c *Candidate) bool { return id != best && canDecide(id, c) })
	if other == "" {
		return []string{best, best}
	}
	return []string{best, other, best}
}

func isHealthy(_ string, c *Candidate) bool { return c.Healthy }
func canDecide(_ string, c *Candidate) bool { return c.CanDecide }

func (e *Elector) chooseTarget(will func(string, *Candidate) bool) string {
	return chooseTarget(string(e.ID), e.Voters(), e.Candidates(), will)
}

// chooseTarget chooses among the voters for which will returns true.
func chooseTarget(self string, voters []string, candidates map[string]Candidate, will func(string, *Candidate) bool) (best string) {
	furthest := uint64(0)
	for _, id := range voters {
		c, ok := candidates[id]
		switch {
		case id == self || !ok || c.Age > candidateMaxAge || !will(id, &c):
		case !clockVote(id, self, voters, candidates).MayLead():
		case best == "" || c.Applied > furthest:
			best, furthest = id, c.Applied
		}
	}
	return best
}

// clockVote compares the clock of a candidate with those of the voters, by what this
// node knows of all of them.
func clockVote(id, self string, voters []string, candidates map[string]Candidate) watchdog.ClockVote {
	c := candidates[id]
	ids := make([]raft.ServerID, len(voters))
	for i, v := range voters {
		ids[i] = raft.ServerID(v)
	}
	samples := []watchdog.ClockSample{{Voter: raft.ServerID(self), Offset: -c.Offset, Uncertainty: c.Uncertainty, Age: c.Age}}
	for other, o := range candidates {
		if other != id {
			samples = append(samples, watchdog.ClockSample{
				Voter: raft.ServerID(other), Offset: o.Offset - c.Offset, Uncertainty: o.Uncertainty + c.Uncertainty, Age: o.Age,
			})
		}
	}
	return watchdog.ClockVerdict(raft.ServerID(id), ids, samples, watchdog.ClockTolerance)
}

// MaybeTransfer transfers leadership to a node that is better off. It returns false if
// there is none, to being "", if this node has led for a moment only, or if the
// transfer failed: then this node goes on.
func (e *Elector) MaybeTransfer(to string) bool {
	if leading, _ := e.Get(); to == "" || leading && e.LeadingFor() < minLeadTime {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), stepDownTimeout)
	defer cancel()
	err := e.Transfer(ctx, to)
	if err != nil {
		e.Log.Warn("leadership not transferred", "error", err)
	}
	return err == nil
}
