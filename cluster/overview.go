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
	"github.com/mintmark-auth/mintmark/cluster/transport"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// Roles and states of a node in an Overview.
const (
	RoleVoter    = "voter"
	RoleNonvoter = "nonvoter" // it catches up, or is not in raft's configuration yet

	StateLeader      = "leader"
	StateFollower    = "follower"
	StateCandidate   = "candidate"
	StateUnreachable = "unreachable"
)

func (n *Node) status() peerStatus {
	_, leader := n.raft.LeaderWithID()
	s := peerStatus{
		ID: string(n.id), State: strings.ToLower(n.raft.State().String()), Leader: string(leader),
		Term: n.raft.CurrentTerm(), Applied: n.appliedIndex(), Last: n.raft.LastIndex(),
		Version: n.config.Version, Level: n.core.Supports(),
	}
	if n.net.credentials != nil {
		expires, _ := n.net.credentials.Expiry()
		s.Expires = expires.UnixMilli()
	}
	if n.config.TLSExpires != nil {
		if at := n.config.TLSExpires(); !at.IsZero() {
			s.TLSExpires = at.UnixMilli()
		}
	}
	clock, _ := n.watchdog.clock.Report()
	s.Steady = n.watchdog.clock.Trouble() == nil
	s.Wall, s.HasReference = watchdog.StampOf(clock.Wall), clock.HasReference
	s.Ahead, s.Unconfirmed = clock.Ahead.Milliseconds(), clock.Unconfirmed.Milliseconds()
	s.Incarnation, s.Live = n.checks.duplicates.Self, n.live.get()
	had := n.folder.Marker.Get()
	s.CommittedIndex, s.CommittedTerm, s.Rollbacks = had.Index, had.Term, n.checks.rollback.Rollbacks()
	s.Free, s.Trouble, s.CanDecide = n.watchdog.disk.State().Free, n.trouble(), n.canDecide()
	if n.config.Network != nil {
		s.Peers = n.net.network.PeerIDs()
	}
	return s
}

// appliedIndex is the index of the last entry of any kind that is applied: by raft,
// or by this node itself after a start.
func (n *Node) appliedIndex() uint64 { return max(n.raft.AppliedIndex(), n.Applied()) }

// NodeStatus is one node of an Overview.
type NodeStatus struct {
	Name, ID, Address  string
	Role, State        string
	Term               uint64
	Applied, Last, Lag uint64 // entries of raft's log; Lag is behind the furthest node
	Version            string
	Level              uint32
	ClockOffset        time.Duration // against the node that was asked
	CertificateExpires time.Time
	TLSExpires         time.Time // of the certificate for clients; zero if the node has none
	Free               uint64    // bytes left for its data; 0 if unknown
	Follows            string    // name of the leader that it follows, "" if it knows none
	Err                string    // why it can't be reached, or what is wrong with it, for operators
	// HungUp reports that the node could not be asked because it closed the connection:
	// it has isolated itself, or is stopping.
	HungUp bool
	// ClockUntrusted reports that the node's clock jumped or is not believed yet, or that
	// the node can't be reached because its certificate is not valid by the clock of
	// the node that was asked.
	ClockUntrusted bool
}

// Overview is the cluster as one node sees it.
type Overview struct {
	Name, ID string // of the node that was asked
	Leader   string // name, "" if none is known
	Term     uint64
	Level    uint32 // feature level in use
	Nodes    []NodeStatus
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
	return o.Leader != "" && slices.ContainsFunc(o.Nodes, func(s NodeStatus) bool {
		return s.Role == RoleVoter && s.State != StateLeader && s.State != StateUnreachable && s.Follows == ""
	})
}

func (n *Node) overview(ctx context.Context) Overview {
	if err := n.Removed(); err != nil {
		name := n.config.Name
		if me, ok := n.folder.PeerList.Member(string(n.id)); ok {
			name = me.Name
		}
		return Overview{ID: string(n.id), Name: name, Level: n.core.Level(), Removed: err.Error()}
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
		role[string(s.ID)] = RoleNonvoter
		if s.Suffrage == raft.Voter {
			role[string(s.ID)] = RoleVoter
		}
	}
	o := Overview{ID: string(n.id), Name: n.config.Name, Term: n.raft.CurrentTerm(), Level: n.core.Level()}
	o.MostMembers = n.folder.PeerList.Get().MostMembers
	if at := n.core.StateTime(); at > 0 {
		o.StateTime, o.StateAhead = time.UnixMilli(at), n.watchdog.aheadOfClocks(at, n.watchdog.wallMillis())
	}
	o.Isolated = n.watchdog.isolation()
	o.Nodes = make([]NodeStatus, len(all))
	refused := make([][]integrity.Rollback, len(all)) // by the node in all that refuses them
	var asking sync.WaitGroup
	for i, m := range all {
		asking.Go(func() {
			o.Nodes[i], refused[i] = n.nodeStatus(ctx, m)
			if o.Nodes[i].Role = role[m.ID]; o.Nodes[i].Role == "" {
				o.Nodes[i].Role = RoleNonvoter
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
		if s.State != StateUnreachable {
			s.Lag = furthest - s.Applied
		}
		for _, out := range slices.Concat(refused...) {
			if s.ID == out.ID {
				s.Err = out.Err().Error()
			}
		}
	}
	return o
}

func (n *Node) nodeStatus(ctx context.Context, m member.Member) (s NodeStatus, refused []integrity.Rollback) {
	s = NodeStatus{
		Name: m.Name, ID: m.ID, Address: m.Address, State: StateUnreachable, Version: m.Version, Level: m.Level,
	}
	p, err := n.statuses.ask(ctx, m.ID)
	if err != nil {
		s.Err, s.HungUp, s.ClockUntrusted = transport.DescribeDialError(err), transport.ClosedByPeer(err), transport.IsCertTimeInvalid(err)
		if why := n.checks.rollback.ExitReason(m.ID); why != "" {
			s.Err = "it ended, and its last report was: " + why
		}
		return s, nil
	}
	s.State, s.Term, s.Applied, s.Last = p.State, p.Term, p.Applied, p.Last
	s.Version, s.Level, s.Free, s.Err, s.ClockUntrusted = p.Version, p.Level, p.Free, p.Trouble, !p.Steady
	if why := n.checks.duplicates.Describe(m.ID); why != "" {
		s.Err = why
	}
	if p.Leader != "" {
		s.Follows = n.nameOf(p.Leader)
	}
	if p.Expires > 0 {
		s.CertificateExpires = time.UnixMilli(p.Expires)
	}
	if p.TLSExpires > 0 {
		s.TLSExpires = time.UnixMilli(p.TLSExpires)
	}
	if m.ID != string(n.id) {
		samples, _ := n.statuses.last()
		s.ClockOffset = samples[m.ID].offset
	}
	return s, p.Rollbacks
}
