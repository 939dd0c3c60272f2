package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/election"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/cluster/transport"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// statusTimeout is how long a member may take to report its status.
const statusTimeout = time.Second

// unreachableAfter is how long a member may be silent before it counts as unreachable.
const unreachableAfter = 3 * watchdogInterval

// peerStatus is what a node reports of itself.
type peerStatus struct {
	status.Node

	Leader string `cbor:"3,keyasint,omitempty"` // as far as it knows
	Wall   int64  `cbor:"7,keyasint"`           // its clock, ms
	// Peers are the ids of the members that it accepts as peers, or is connected with.
	Peers []string `cbor:"13,keyasint,omitempty"`
	// CanDecide reports that it could decide commands if it led, whatever Error says.
	CanDecide bool `cbor:"14,keyasint,omitempty"`
	// Incarnation, Token and Duplicate find duplicate processes: see statusQuery.
	Incarnation integrity.Incarnation  `cbor:"15,keyasint"`
	Token       int64                  `cbor:"16,keyasint,omitempty"`
	Duplicate   *integrity.Incarnation `cbor:"17,keyasint,omitempty"` // runs as the node that asks, beside it
	// Index and term of the newest entry that it has and knows to be committed.
	CommittedIndex uint64               `cbor:"19,keyasint,omitempty"`
	CommittedTerm  uint64               `cbor:"20,keyasint,omitempty"`
	Rollbacks      []integrity.Rollback `cbor:"21,keyasint,omitempty"` // members that it refuses
	// DuplicateUnseen is how long ago Duplicate was last heard from, ms.
	DuplicateUnseen int64 `cbor:"22,keyasint,omitempty"`
	// Live is the last moment at which commands could be decided, as far as the node
	// knows, in ms since the Unix epoch: see live.go.
	Live int64 `cbor:"23,keyasint,omitempty"`
	// HasReference, Ahead and Unconfirmed are its watchdog.ClockReport, times in ms.
	HasReference bool  `cbor:"24,keyasint,omitempty"`
	Ahead        int64 `cbor:"25,keyasint,omitempty"`
	Unconfirmed  int64 `cbor:"26,keyasint,omitempty"`
}

// hasPeer reports whether a node still accepts a peer.
func (s *peerStatus) hasPeer(id string) bool { return slices.Contains(s.Peers, id) }

// statusQuery is the body of OpStatus.
type statusQuery struct {
	Incarnation integrity.Incarnation `cbor:"1,keyasint"`
	// Token is the last that this node got from the process TokenOf of the member that
	// is asked. It shows that this query was not sent before that token.
	Token   int64  `cbor:"2,keyasint,omitempty"`
	TokenOf uint64 `cbor:"3,keyasint,omitempty"`
	// ExitReason is why the node that asks is about to end, see reportExit.
	ExitReason string `cbor:"4,keyasint,omitempty"`
}

// peerSample is one answer of a peer.
type peerSample struct {
	status              peerStatus
	offset, uncertainty time.Duration
	at                  time.Duration // elapsed
}

// peerStatuses exchanges statuses with the other members, and keeps the last of each. Its
// fields but those below mu are set before it is used.
type peerStatuses struct {
	self      string
	own       func() peerStatus
	peers     *transport.Peers
	list      *member.PeerList
	networked bool // whether there are other members
	log       *slog.Logger
	nameOf    func(id string) string
	now       func() time.Time
	elapsed   func() time.Duration
	checks    *selfChecks
	live      *liveness
	exit      atomic.Pointer[string] // why this node is about to end, nil while it is not

	mu        sync.Mutex            // guards the rest
	samples   map[string]peerSample // the last status of each other member
	roundDone chan struct{}         // closed at the end of the present round of status queries
}

// ask asks a member for its status.
func (p *peerStatuses) ask(ctx context.Context, id string) (peerStatus, error) {
	if id == p.self {
		return p.own(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	duplicates := p.checks.duplicates
	k := duplicates.Token(id)
	q := statusQuery{Incarnation: duplicates.Self, Token: k.Value, TokenOf: k.Incarnation}
	if why := p.exit.Load(); why != nil {
		q.ExitReason = *why
	}
	question, err := machine.Marshal(q)
	if err != nil {
		return peerStatus{}, fmt.Errorf("encode status query: %w", err)
	}
	sent, asked := p.elapsed(), duplicates.Now()
	answer, err := p.peers.Ask(ctx, id, nil, transport.OpStatus, question, statusTimeout)
	if err != nil {
		return peerStatus{}, err
	}
	if answer.Status != transport.ReplyOK {
		return peerStatus{}, replyError(answer)
	}
	var s peerStatus
	if err := machine.Unmarshal(answer.Body, &s); err != nil {
		return peerStatus{}, fmt.Errorf("decode status: %w", err)
	}
	p.record(s, sent, p.elapsed())
	duplicates.SetToken(id, integrity.StatusToken{Value: s.Token, Incarnation: s.Incarnation.Number})
	duplicates.Observe(id, s.Incarnation, asked)
	if s.Duplicate != nil {
		duplicates.Report(id, *s.Duplicate, time.Duration(s.DuplicateUnseen)*time.Millisecond)
	}
	p.live.advance(s.Live)
	p.checks.rollback.RecordApplied(id, integrity.Position{Index: s.CommittedIndex, Term: s.CommittedTerm})
	return s, nil
}

// serve answers OpStatus.
func (p *peerStatuses) serve(peer string, body []byte) transport.Reply {
	var q statusQuery
	s := p.own()
	if err := machine.Unmarshal(body, &q); err != nil {
		return transport.Reply{Status: transport.ReplyFailed, Body: fmt.Appendf(nil, "decode status query: %v", err)}
	}
	duplicates := p.checks.duplicates
	since := time.Duration(-1)
	if q.TokenOf == duplicates.Self.Number {
		since = time.Duration(q.Token)
	}
	duplicates.Observe(peer, q.Incarnation, since)
	if p.checks.rollback.RecordStatusRequest(peer, q.Incarnation, q.ExitReason) {
		p.log.Error("another node reported its failure", "name", p.nameOf(peer), "error", q.ExitReason)
	}
	if other, unseen, ok := duplicates.DuplicateOf(peer, q.Incarnation); ok {
		s.Duplicate, s.DuplicateUnseen = &other, unseen.Milliseconds()
	}
	s.Token = int64(duplicates.Now())
	b, err := machine.Marshal(s)
	if err != nil {
		return transport.Reply{Status: transport.ReplyFailed, Body: []byte(err.Error())}
	}
	return transport.Reply{Status: transport.ReplyOK, Body: b}
}

// record records the status of a peer, which it sent between two readings of the
// elapsed clock.
func (p *peerStatuses) record(s peerStatus, sent, received time.Duration) {
	offset, uncertainty := watchdog.ClockOffset(sent, received, p.now(), time.UnixMilli(s.Wall))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.samples[s.ID] = peerSample{s, offset, uncertainty + time.Millisecond, received}
}

// others are the ids of the other members, none without a network.
func (p *peerStatuses) others() (ids []string) {
	if !p.networked {
		return nil
	}
	for _, m := range p.list.Get().Members {
		if m.ID != p.self {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// poll asks all other members for their status.
func (p *peerStatuses) poll() {
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	var asking sync.WaitGroup
	for _, id := range p.others() {
		asking.Go(func() { _, _ = p.ask(ctx, id) })
	}
	asking.Wait()
}

// nextRound returns a channel that is closed when all other members have next been asked
// for their status by the watchdog.
func (p *peerStatuses) nextRound() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.roundDone
}

func (p *peerStatuses) endRound() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.roundDone)
	p.roundDone = make(chan struct{})
}

// last returns the last status of each other member that this node had one of.
func (p *peerStatuses) last() (samples map[string]peerSample, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	samples = make(map[string]peerSample, len(p.samples))
	for id, s := range p.samples {
		samples[id] = s
	}
	return samples, p.elapsed()
}

// drop is called when the samples were compared with a clock that is no longer this
// node's.
func (p *peerStatuses) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.samples)
}

// clockVote compares this node's clock with the voters', by what they last reported.
func (p *peerStatuses) clockVote(voters []string) watchdog.ClockVote {
	return watchdog.ClockVerdict(raft.ServerID(p.self), serverIDs(voters), p.clockSamples(), watchdog.ClockTolerance)
}

func (p *peerStatuses) clockSamples() (all []watchdog.ClockSample) {
	samples, now := p.last()
	for id, s := range samples {
		all = append(all, watchdog.ClockSample{
			Voter: raft.ServerID(id), Offset: s.offset, Uncertainty: s.uncertainty, Age: now - s.at, HasReference: s.status.HasReference,
			Ahead: time.Duration(s.status.Ahead) * time.Millisecond, Unconfirmed: time.Duration(s.status.Unconfirmed) * time.Millisecond,
		})
	}
	return all
}

// candidates describes the other members to the election.
func (p *peerStatuses) candidates() map[string]election.Candidate {
	samples, now := p.last()
	all := make(map[string]election.Candidate, len(samples))
	for id, s := range samples {
		all[id] = election.Candidate{
			Applied: s.status.Applied, Healthy: s.status.Error == "", CanDecide: s.status.CanDecide,
			Offset: s.offset, Uncertainty: s.uncertainty, Age: now - s.at,
		}
	}
	return all
}

// silent are the members that have not answered for a while, without those in known;
// none if this node was removed.
func (p *peerStatuses) silent(known []string) (ids []string) {
	if p.checks.removed.Err() != nil {
		return nil
	}
	list := p.list.Get().Members
	samples, now := p.last()
	for i := range list {
		id := list[i].ID
		s, heard := samples[id]
		if id != p.self && (!heard || now-s.at > unreachableAfter) && !slices.Contains(known, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// reachability is what was logged of which members can't be reached.
type reachability struct {
	began  time.Duration   // when this node began to ask
	silent map[string]bool // by id
}

// logReachability logs once that a member can't be reached, and once that it can again.
// raft logs that many times a second. It is called when the members were asked.
func (p *peerStatuses) logReachability(r *reachability) {
	samples, now := p.last()
	for _, m := range p.list.Get().Members {
		if m.ID == p.self {
			continue
		}
		heard := r.began
		if s, ok := samples[m.ID]; ok {
			heard = s.at
		}
		silent := now-heard > unreachableAfter
		switch {
		case silent && !r.silent[m.ID]:
			p.log.Warn("node unreachable", "name", m.Name, "address", m.Address)
		case !silent && r.silent[m.ID]:
			p.log.Info("node reachable again", "name", m.Name)
		}
		r.silent[m.ID] = silent
	}
}

// reportExit reports to the other members why this node is about to end, so that
// their operators need not look for it in the log of a node that is gone. A
// connection that broke unnoticed while this node hung costs the first try.
func (p *peerStatuses) reportExit(err error) {
	p.exit.Store(new(err.Error()))
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	var reporting sync.WaitGroup
	for _, id := range p.others() {
		reporting.Go(func() {
			if _, err := p.ask(ctx, id); err != nil {
				_, _ = p.ask(ctx, id)
			}
		})
	}
	reporting.Wait()
}

func serverIDs(ids []string) []raft.ServerID {
	out := make([]raft.ServerID, len(ids))
	for i, id := range ids {
		out[i] = raft.ServerID(id)
	}
	return out
}
