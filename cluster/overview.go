package cluster

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/cluster/transport"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

func (n *Node) status() peerStatus {
	_, leader := n.raft.LeaderWithID()
	s := peerStatus{Leader: string(leader), Node: status.Node{
		ID: string(n.id), State: strings.ToLower(n.raft.State().String()),
		Term: n.raft.CurrentTerm(), Applied: n.appliedIndex(), Last: n.raft.LastIndex(),
		Version: n.config.Version, Level: n.core.Supports(),
		DiskFree: n.watchdog.disk.State().Free, Error: n.trouble(),
		ClockUntrusted: n.watchdog.clock.Trouble() != nil,
	}}
	if n.net.credentials != nil {
		s.CertificateExpires, _ = n.net.credentials.Expiry()
	}
	if n.config.TLSExpires != nil {
		s.TLSExpires = n.config.TLSExpires()
	}
	clock, _ := n.watchdog.clock.Report()
	s.Wall, s.HasReference = watchdog.StampOf(clock.Wall), clock.HasReference
	s.Ahead, s.Unconfirmed = clock.Ahead.Milliseconds(), clock.Unconfirmed.Milliseconds()
	s.Incarnation, s.Live = n.checks.duplicates.Self, n.live.get()
	had := n.folder.Marker.Get()
	s.CommittedIndex, s.CommittedTerm, s.Rollbacks = had.Index, had.Term, n.checks.rollback.Rollbacks()
	s.CanDecide = n.canDecide()
	if n.config.Network != nil {
		s.Peers = n.net.network.PeerIDs()
	}
	return s
}

// appliedIndex is the index of the last entry of any kind that is applied: by raft,
// or by this node itself after a start.
func (n *Node) appliedIndex() uint64 { return max(n.raft.AppliedIndex(), n.Applied()) }

// Overview is the cluster as one node sees it.
type Overview struct {
	Name, ID string // of the node that was asked
	Leader   string // name, "" if none is known
	Term     uint64
	Level    uint32 // feature level in use
	Nodes    []status.Node
	// MostMembers is how many nodes have been members at once, as far as the node knows.
	MostMembers int

	StateTime  time.Time     // stamp of the last command that the node applied, zero before the first
	StateAhead time.Duration // how far StateTime is ahead of the clocks of a majority, negative if behind

	Isolated  string // why this node has isolated itself because of its disk; "" if it has not
	Removed   string // that this node was removed, and knows no other node; "" for a member
	Duplicate string // that another process runs as this node, which therefore asked no other node; "" if none does
}

// Overview asks every member for its status. A node that was removed, or found a
// duplicate of itself, asks none. Right after an election some nodes have not heard
// of the leader yet, so if any reports no leader, Overview asks all once more after an
// election timeout.
func (n *Node) Overview(ctx context.Context) Overview {
	o := n.overview(ctx)
	if !o.someLackLeader() {
		return o
	}
	select {
	case <-time.After(transport.ElectionTimeout):
		return n.overview(ctx)
	case <-ctx.Done():
		return o
	}
}

func (o *Overview) someLackLeader() bool {
	return o.Leader != "" && slices.ContainsFunc(o.Nodes, func(s status.Node) bool {
		return s.Role == status.RoleVoter && s.State != status.StateLeader && s.State != status.StateUnreachable && s.Follows == ""
	})
}

func (n *Node) overview(ctx context.Context) Overview {
	if err := n.Removed(); err != nil {
		return Overview{ID: string(n.id), Name: n.Name(), Level: n.core.Level(), Removed: err.Error()}
	}
	if err := n.Duplicate(); err != nil {
		return Overview{ID: string(n.id), Name: n.nameOf(string(n.id)), Level: n.core.Level(), Duplicate: err.Error()}
	}
	all := slices.Clone(n.folder.PeerList.Get().Members)
	slices.SortFunc(all, func(a, b member.Member) int { return strings.Compare(a.Name, b.Name) })
	if len(all) == 0 {
		all = []member.Member{{ID: string(n.id), Name: n.config.Name, Version: n.config.Version}}
	}
	role := make(map[string]string)
	for _, s := range n.raft.GetConfiguration().Configuration().Servers {
		role[string(s.ID)] = status.RoleNonvoter
		if s.Suffrage == raft.Voter {
			role[string(s.ID)] = status.RoleVoter
		}
	}
	o := Overview{ID: string(n.id), Name: n.config.Name, Term: n.raft.CurrentTerm(), Level: n.core.Level()}
	o.MostMembers = n.folder.PeerList.Get().MostMembers
	if at := n.core.StateTime(); at > 0 {
		o.StateTime, o.StateAhead = time.UnixMilli(at), n.watchdog.aheadOfClocks(at, n.watchdog.wallMillis())
	}
	o.Isolated = n.watchdog.isolation()
	o.Nodes = make([]status.Node, len(all))
	refused := make([][]integrity.Rollback, len(all)) // by the node in all that refuses them
	var asking sync.WaitGroup
	for i, m := range all {
		asking.Go(func() {
			o.Nodes[i], refused[i] = n.nodeStatus(ctx, m)
			if o.Nodes[i].Role = role[m.ID]; o.Nodes[i].Role == "" {
				o.Nodes[i].Role = status.RoleNonvoter
			}
		})
	}
	asking.Wait()
	_, leader := n.raft.LeaderWithID()
	furthest := uint64(0)
	for _, s := range o.Nodes {
		furthest = max(furthest, s.Applied)
		if s.ID == string(leader) {
			o.Leader = s.Name
		}
		if s.ID == string(n.id) {
			o.Name = s.Name
		}
	}
	for i := range o.Nodes {
		s := &o.Nodes[i]
		if s.State != status.StateUnreachable {
			s.Lag = furthest - s.Applied
		}
		for _, out := range slices.Concat(refused...) {
			if s.ID == out.ID {
				s.Error = out.Err().Error()
			}
		}
	}
	return o
}

func (n *Node) nodeStatus(ctx context.Context, m member.Member) (s status.Node, refused []integrity.Rollback) {
	p, err := n.statuses.ask(ctx, m.ID)
	if err != nil {
		s = status.Node{
			Name: m.Name, ID: m.ID, Address: m.Address, State: status.StateUnreachable, Version: m.Version, Level: m.Level,
			Error: transport.DescribeDialError(err), HungUp: transport.ClosedByPeer(err), ClockUntrusted: transport.IsCertTimeInvalid(err),
		}
		if why := n.checks.rollback.ExitReason(m.ID); why != "" {
			s.Error = "it ended, and its last report was: " + why
		}
		return s, nil
	}
	s = p.Node
	s.Name, s.ID, s.Address = m.Name, m.ID, m.Address
	if why := n.checks.duplicates.Describe(m.ID); why != "" {
		s.Error = why
	}
	if p.Leader != "" {
		s.Follows = n.nameOf(p.Leader)
	}
	if m.ID != string(n.id) {
		samples, _ := n.statuses.last()
		s.ClockOffset = samples[m.ID].offset.Milliseconds()
	}
	return s, p.Rollbacks
}
