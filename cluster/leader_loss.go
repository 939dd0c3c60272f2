package cluster

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// raft misses a leader late, and once in a while very late: each follower looks
// at random moments, a pre-vote is refused by all who still know of a leader, and
// where the only one that can win, since its log is the longest, was refused so,
// all wait for one more election timeout of it. So voters ask each other instead.
// Once a majority has heard from no leader for a while, the one with the longest
// log stands, and the next one a moment later should that not have led to
// anything.
//
// This is the check of raft §9.6 and the pre-vote in one: one who has heard from
// a leader says no, and who reaches no majority does not stand, so that it raises
// no term that would unseat a leader when it comes back. raft's timeouts go on
// beside it.

// leaderLossTimeout is for how long there may be no word from a leader, which sends
// more than five heartbeats in an election timeout.
func leaderLossTimeout(electionTimeout time.Duration) time.Duration { return electionTimeout * 5 / 4 }

// watchLastContact has this node see to another leader when there is no word from one.
func (n *Node) watchLastContact() {
	ctx, cancel := n.untilStopped()
	defer cancel()
	for ctx.Err() == nil {
		patience := n.config.hooks.leaderLossTimeout
		if patience == 0 {
			patience = leaderLossTimeout(n.raft.ReloadableConfig().ElectionTimeout)
		}
		if n.leaderLost(ctx, patience) {
			n.replaceLeader(ctx, patience)
			wait(ctx, n.config.hooks.campaignInterval/4) // this node may be able to stand then
		}
	}
}

// lastContact is when this node began to listen for a leader, and when it last stood
// for election. Both are set from the start.
type lastContact struct{ since, campaigned atomic.Pointer[time.Time] }

func (c *lastContact) open() {
	c.since.Store(new(time.Now()))
	c.campaigned.Store(new(time.Time))
}

// lastLeaderContact is when there was last word from a leader. Who votes waits as long
// for whom it has voted for, and who leads misses nobody.
func (n *Node) lastLeaderContact() time.Time {
	if n.raft.State() == raft.Leader {
		return time.Now()
	}
	heard := n.raft.LastContact()
	if since := *n.lastContact.since.Load(); since.After(heard) {
		return since
	}
	return heard
}

// InTouch says that a View lags by no more than a moment: this node leads, or has
// heard from the leader.
func (n *Node) InTouch() bool {
	leading, _ := n.Leading()
	return leading || time.Since(n.raft.LastContact()) < leaderLossTimeout(transport.ElectionTimeout)
}

// leaderLost waits until there was no word from a leader for that long, and says
// whether that is so: there may be one meanwhile. A process that was paused was
// deaf, so it begins anew.
func (n *Node) leaderLost(ctx context.Context, patience time.Duration) bool {
	due := n.lastLeaderContact().Add(patience)
	if time.Until(due) > 0 {
		if !wait(ctx, time.Until(due)) {
			return false
		}
		if time.Since(due) > patience/2 {
			n.lastContact.since.Store(new(time.Now()))
		}
	}
	return time.Since(n.lastLeaderContact()) >= patience
}

// lossReport is what a voter answers that is asked whether it misses the leader.
type lossReport struct {
	ID          string `cbor:"1,keyasint"`
	LeaderLost  bool   `cbor:"2,keyasint"`
	CanCampaign bool   `cbor:"3,keyasint"` // it can campaign, or does since a moment ago
	Last        uint64 `cbor:"4,keyasint"` // index of its last log entry
}

func (n *Node) lossReport(ctx context.Context, patience time.Duration) lossReport {
	c := lossReport{ID: string(n.id), LeaderLost: n.leaderLost(ctx, patience), Last: n.raft.LastIndex()}
	// A candidate of raft's own waits for its timeout whatever comes.
	c.CanCampaign = n.raft.State() == raft.Follower || time.Since(*n.lastContact.campaigned.Load()) < n.config.hooks.campaignInterval
	c.CanCampaign = c.CanCampaign && !n.withdrawn.Load()
	return c
}

// campaignsBefore says whether a node should stand before another one: without the longest
// log nobody wins for certain. One that is long with entries of an old term, which
// is rare, is refused, and the next node stands.
func (c *lossReport) campaignsBefore(o *lossReport) bool {
	return cmp.Or(cmp.Compare(o.Last, c.Last), cmp.Compare(c.ID, o.ID)) < 0
}

// serveLossReport answers OpLeaderLoss.
func (n *Node) serveLossReport(ctx context.Context, body []byte) transport.Reply {
	if len(body) != 4 {
		return transport.Reply{Status: transport.ReplyFailed, Body: []byte("a question without a time")}
	}
	c := n.lossReport(ctx, time.Duration(binary.BigEndian.Uint32(body))*time.Millisecond)
	b, err := machine.Marshal(c)
	if err != nil {
		return transport.Reply{Status: transport.ReplyFailed, Body: fmt.Appendf(nil, "encode loss report: %v", err)}
	}
	return transport.Reply{Status: transport.ReplyOK, Body: b}
}

func (n *Node) askLossReport(ctx context.Context, id string, patience time.Duration) (c lossReport, err error) {
	if id == string(n.id) {
		return n.lossReport(ctx, patience), nil
	}
	question := binary.BigEndian.AppendUint32(nil, uint32(patience.Milliseconds()))
	answer, err := n.peers.Ask(ctx, id, nil, transport.OpLeaderLoss, question, patience+statusTimeout)
	switch {
	case err != nil:
		return c, err
	case answer.Status != transport.ReplyOK:
		return c, replyError(answer)
	}
	if err := machine.Unmarshal(answer.Body, &c); err != nil {
		return c, fmt.Errorf("decode loss report: %w", err)
	}
	return c, nil
}

// lossReports asks the other voters, until those that miss the leader are a majority
// with this node. It returns nothing where they are none.
func (n *Node) lossReports(ctx context.Context, patience time.Duration) []lossReport {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	voters := n.Voters()
	if !slices.Contains(voters, string(n.id)) {
		return nil
	}
	answers := make(chan lossReport, len(voters))
	for _, id := range voters {
		go func() {
			c, _ := n.askLossReport(ctx, id, patience) // who does not answer misses nobody
			answers <- c
		}()
	}
	var missing []lossReport
	for range voters {
		if c := <-answers; c.LeaderLost {
			missing = append(missing, c)
		}
		if len(missing) > len(voters)/2 {
			return missing
		}
	}
	return nil
}

// replaceLeader has this node campaign in its turn, if a majority of
// the voters has heard from no leader for that long.
func (n *Node) replaceLeader(ctx context.Context, patience time.Duration) {
	lost := n.leader.Route().Leader
	missing := n.lossReports(ctx, patience)
	mine := n.lossReport(ctx, patience)
	if missing == nil || !mine.CanCampaign {
		return
	}
	turn, others := 0, 0
	for _, c := range missing {
		if c.CanCampaign && c.ID != mine.ID {
			others++
			if c.campaignsBefore(&mine) {
				turn++
			}
		}
	}
	if n.newLeaderWithin(ctx, lost, time.Duration(turn)*n.config.hooks.campaignInterval) {
		return
	}
	if n.raft.State() == raft.Follower && time.Since(n.lastLeaderContact()) >= patience && ctx.Err() == nil {
		n.log.Info("cluster: a majority misses the leader, this node stands for election", "leader", n.nameOf(lost))
		n.lastContact.campaigned.Store(new(time.Now()))
		n.campaign()
	}
	n.newLeaderWithin(ctx, lost, time.Duration(others+1-turn)*n.config.hooks.campaignInterval)
}

// newLeaderWithin waits for a moment at most until this node has heard of a leader that
// is another one than before, or leads.
func (n *Node) newLeaderWithin(ctx context.Context, before string, moment time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	for {
		w := n.leader.Route()
		if w.Leader != "" && w.Leader != before {
			return true
		}
		select {
		case <-w.LeaderChanged:
		case <-ctx.Done():
			return false
		}
	}
}

// campaign has this node ask for votes now, as one that was asked by its leader to
// take over does (raft §3.10): the others don't hold against it that they knew of
// a leader a moment ago.
func (n *Node) campaign() {
	if n.withdrawn.Load() {
		return
	}
	err := n.transport.TimeoutNow(n.id, n.transport.LocalAddr(), &raft.TimeoutNowRequest{
		RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(n.id)},
	}, &raft.TimeoutNowResponse{})
	if err != nil {
		n.log.Warn("cluster: the node waits for the election timeout", "error", err)
	}
}
