package election

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// raft detects the loss of a leader late, and sometimes very late: each follower checks
// at random moments, a pre-vote is refused by all who still know of a leader, and
// if the only node that can win, since its log is the longest, was refused that way,
// all wait for one more election timeout of it. So voters ask each other instead.
// Once a majority has heard from no leader for a while, the node with the longest
// log campaigns, and the next one a moment later if there is still no leader.
//
// This combines the check of raft §9.6 with pre-vote: a node that has heard from a leader
// answers no, and a node that reaches no majority does not campaign, so that it does not
// raise a term that would depose a leader when it is connected again. raft's timeouts stay
// in effect.

// leaderLossTimeout is how long a node may hear from no leader. A leader sends more than
// five heartbeats in an election timeout.
func leaderLossTimeout(electionTimeout time.Duration) time.Duration { return electionTimeout * 5 / 4 }

// WatchLastContact replaces a leader that a majority does not hear from, until raft is
// told to stop.
func (e *Elector) WatchLastContact() {
	ctx, cancel := e.untilStopped()
	defer cancel()
	for ctx.Err() == nil {
		patience := e.LossTimeout
		if patience == 0 {
			patience = leaderLossTimeout(e.raft.ReloadableConfig().ElectionTimeout)
		}
		if e.leaderLost(ctx, patience) {
			e.replaceLeader(ctx, patience)
			wait(ctx, e.CampaignInterval/4) // this node may be able to campaign then
		}
	}
}

// lastLeaderContact is when this node last heard from a leader, which includes a
// candidate that it voted for. A leader hears from itself.
func (e *Elector) lastLeaderContact() time.Time {
	if e.raft.State() == raft.Leader {
		return time.Now()
	}
	heard := e.raft.LastContact()
	if since := *e.listeningSince.Load(); since.After(heard) {
		return since
	}
	return heard
}

// InTouch reports that the state of this node lags by no more than a moment: it leads,
// or has heard from the leader.
func (e *Elector) InTouch() bool {
	leading, _ := e.Get()
	return leading || time.Since(e.raft.LastContact()) < leaderLossTimeout(transport.ElectionTimeout)
}

// leaderLost waits until this node could have heard from no leader for that long, and
// reports whether it has not. A process that was paused could hear nothing, so it
// begins anew.
func (e *Elector) leaderLost(ctx context.Context, patience time.Duration) bool {
	due := e.lastLeaderContact().Add(patience)
	if time.Until(due) > 0 {
		if !wait(ctx, time.Until(due)) {
			return false
		}
		if time.Since(due) > patience/2 {
			e.listeningSince.Store(new(time.Now()))
		}
	}
	return time.Since(e.lastLeaderContact()) >= patience
}

// A LossReport is what a voter answers to OpLeaderLoss.
type LossReport struct {
	ID          string `cbor:"1,keyasint"`
	LeaderLost  bool   `cbor:"2,keyasint"`
	CanCampaign bool   `cbor:"3,keyasint"` // it can campaign, or does since a moment ago
	Last        uint64 `cbor:"4,keyasint"` // index of its last log entry
}

func (e *Elector) lossReport(ctx context.Context, patience time.Duration) LossReport {
	c := LossReport{ID: string(e.ID), LeaderLost: e.leaderLost(ctx, patience), Last: e.raft.LastIndex()}
	// A node that raft made a candidate waits for raft's timeout in any case.
	c.CanCampaign = e.raft.State() == raft.Follower || time.Since(*e.campaigned.Load()) < e.CampaignInterval
	c.CanCampaign = c.CanCampaign && !e.withdrawn.Load()
	return c
}

// campaignsBefore reports whether a node should campaign before another one: only the
// longest log wins for certain. A log that is long with entries of an old term, which
// is rare, is refused votes, and the next node campaigns.
func (r *LossReport) campaignsBefore(o *LossReport) bool {
	return cmp.Or(cmp.Compare(o.Last, r.Last), cmp.Compare(r.ID, o.ID)) < 0
}

// ServeLossReport answers OpLeaderLoss.
func (e *Elector) ServeLossReport(ctx context.Context, body []byte) transport.Reply {
	if len(body) != 4 {
		return transport.Reply{Status: transport.ReplyFailed, Body: []byte("decode loss report request: no time")}
	}
	c := e.lossReport(ctx, time.Duration(binary.BigEndian.Uint32(body))*time.Millisecond)
	b, err := machine.Marshal(c)
	if err != nil {
		return transport.Reply{Status: transport.ReplyFailed, Body: fmt.Appendf(nil, "encode loss report: %v", err)}
	}
	return transport.Reply{Status: transport.ReplyOK, Body: b}
}

func (e *Elector) askLossReport(ctx context.Context, id string, patience time.Duration) (c LossReport, err error) {
	if id == string(e.ID) {
		return e.lossReport(ctx, patience), nil
	}
	question := binary.BigEndian.AppendUint32(nil, uint32(patience.Milliseconds()))
	answer, err := e.Peers.Ask(ctx, id, nil, transport.OpLeaderLoss, question, patience+e.CallTimeout)
	switch {
	case err != nil:
		return c, err
	case answer.Status != transport.ReplyOK:
		return c, fmt.Errorf("ask for loss report: %s", answer.Body)
	}
	if err := machine.Unmarshal(answer.Body, &c); err != nil {
		return c, fmt.Errorf("decode loss report: %w", err)
	}
	return c, nil
}

// LossReports asks all voters, until a majority lost the leader, and returns the reports
// of that majority; nil if there is none.
func (e *Elector) LossReports(ctx context.Context, patience time.Duration) []LossReport {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	voters := e.Voters()
	if !slices.Contains(voters, string(e.ID)) {
		return nil
	}
	answers := make(chan LossReport, len(voters))
	for _, id := range voters {
		go func() {
			c, _ := e.askLossReport(ctx, id, patience) // a voter that does not answer lost nothing
			answers <- c
		}()
	}
	var missing []LossReport
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
func (e *Elector) replaceLeader(ctx context.Context, patience time.Duration) {
	lost := e.Route().Leader
	missing := e.LossReports(ctx, patience)
	mine := e.lossReport(ctx, patience)
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
	if e.newLeaderWithin(ctx, lost, time.Duration(turn)*e.CampaignInterval) {
		return
	}
	if e.raft.State() == raft.Follower && time.Since(e.lastLeaderContact()) >= patience && ctx.Err() == nil {
		e.Log.Info("leader lost by a majority, campaigning", "leader", e.NameOf(lost))
		e.campaigned.Store(new(time.Now()))
		e.Campaign()
	}
	e.newLeaderWithin(ctx, lost, time.Duration(others+1-turn)*e.CampaignInterval)
}

// newLeaderWithin waits for a moment at most until this node has heard of another leader
// than before, or leads.
func (e *Elector) newLeaderWithin(ctx context.Context, before string, moment time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	for {
		w := e.Route()
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

// Campaign has this node ask for votes now, as if its leader had transferred leadership
// to it (raft §3.10): voters then don't refuse because they knew of a leader a moment
// ago.
func (e *Elector) Campaign() {
	if e.withdrawn.Load() {
		return
	}
	err := e.Transport.TimeoutNow(e.ID, e.Transport.LocalAddr(), &raft.TimeoutNowRequest{
		RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(e.ID)},
	}, &raft.TimeoutNowResponse{})
	if err != nil {
		e.Log.Warn("campaign not started, waiting for the election timeout", "error", err)
	}
}
