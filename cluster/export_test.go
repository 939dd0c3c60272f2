package cluster

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/tls"
	"io"
	"math"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/join"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// What the tests of this package may see and bend.

// Hooks is hooks.
type Hooks struct {
	Logs                    func(raft.LogStore) raft.LogStore
	Stable                  func(raft.StableStore) raft.StableStore
	Apply                   func(*raft.Raft, []byte) raft.ApplyFuture
	FSM                     func()
	CommitMarker            func()
	Report                  func(error)
	Raft                    func(*raft.Config)
	ServerRemoved           func()
	CampaignInterval        time.Duration
	LeaderLossTimeout       time.Duration
	MembershipCheckInterval time.Duration

	Bootstrap func(begins bool, silent []string) error
}

// WithHooks returns c with hooks.
func WithHooks(c Config, h Hooks) Config {
	c.hooks = hooks{
		logs: h.Logs, stable: h.Stable, apply: h.Apply, fsm: h.FSM, commitMarker: h.CommitMarker, report: h.Report, raft: h.Raft, bootstrap: h.Bootstrap, serverRemoved: h.ServerRemoved, campaignInterval: h.CampaignInterval, leaderLossTimeout: h.LeaderLossTimeout, membershipCheckInterval: h.MembershipCheckInterval,
	}
	return c
}

// try is for values that no test doubts.
func try[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Seq is how many commands were applied.
func (n *Node) Seq() uint64 { return n.core.Seq() }

// BarriersPassed is how many Barriers went through the log for a view.
func (n *Node) BarriersPassed() (passed uint64) {
	for _, b := range []*barriers{&n.barriers, &n.unauthenticatedBarriers} {
		b.mu.Lock()
		passed += b.passed
		b.mu.Unlock()
	}
	return passed
}

// SetUnauthenticatedPace changes the time between their Barriers.
func (n *Node) SetUnauthenticatedPace(pace time.Duration) {
	n.unauthenticatedBarriers.mu.Lock()
	defer n.unauthenticatedBarriers.mu.Unlock()
	n.unauthenticatedBarriers.pace = pace
}

// UnauthenticatedBarrierWaits is BarrierWaits for those who proved nothing.
func (n *Node) UnauthenticatedBarrierWaits() bool {
	n.unauthenticatedBarriers.mu.Lock()
	defer n.unauthenticatedBarriers.mu.Unlock()
	return n.unauthenticatedBarriers.next != nil
}

// BarrierWaits says whether somebody waits for the Barrier after the one under way.
func (n *Node) BarrierWaits() bool {
	n.barriers.mu.Lock()
	defer n.barriers.mu.Unlock()
	return n.barriers.next != nil
}

// Raft is the node's raft.
func (n *Node) Raft() *raft.Raft { return n.raft }

// Logs is what raft reads its log from.
func (n *Node) Logs() raft.LogStore { return n.folder.Store.Logs }

// Transport is what raft talks through.
func (n *Node) Transport() raft.Transport { return n.transport }

// RestoreNow replaces the state of a running node, as an installed snapshot does.
func (n *Node) RestoreNow(r io.Reader) error { return n.core.Restore(r) }

// Await is await.
func Await(f raft.Future, stop <-chan struct{}) error { return transport.Await(f, stop) }

// Isolate cuts a node off from the others, or lets it back.
func Isolate(n *Node, on bool) { _ = n.network.Isolate(transport.IsolationTest, on) }

// Closing says whether the node is on its way down.
func (n *Node) Closing() bool { return n.isClosing() }

// SimulateKill is what the others see of a node whose process was killed: connections
// break, and its port refuses new ones.
func SimulateKill(n *Node) {
	n.network.Isolate(transport.IsolationTest, true)
	_ = n.config.Network.Listener.Close()
}

// CountLeaderLost is how many voters miss the leader for so long, as this node hears; 0
// where they are no majority.
func CountLeaderLost(ctx context.Context, n *Node, patience time.Duration) int {
	return len(n.lossReports(ctx, patience))
}

// BootstrapAnswer is bootstrapAnswer: of a node that waits with its Birth, of one
// that has begun with those of the members in order.
type BootstrapAnswer struct {
	Started     bool
	InstanceID  string
	InstanceIDs []string
}

// DecideBootstrap is judge, with births as text, and those of the members in order.
func DecideBootstrap(self, instanceID string, all []string, answers map[string]BootstrapAnswer) ([]string, error) {
	list := mapped(all, func(id string) member.Member { return member.Member{ID: id, Name: id} })
	given := make(map[string]bootstrapAnswer)
	for id, a := range answers {
		instanceIDs := map[string][]byte{id: []byte(a.InstanceID)}
		for i, b := range a.InstanceIDs {
			instanceIDs[all[i]] = []byte(b)
		}
		given[id] = bootstrapAnswer{a.Started, instanceIDs}
	}
	instanceIDs, err := decideBootstrap(self, []byte(instanceID), list, given)
	if err != nil || instanceIDs == nil {
		return nil, err
	}
	return mapped(all, func(id string) string { return string(instanceIDs[id]) }), nil
}

// ReadCommitMarker is what is noted beside the log of a folder.
func ReadCommitMarker(dir string) uint64 { return try(integrity.ReadOptionalCommitMarker(dir)).Index }

// WriteCommitMarker notes there that the log was committed up to index.
func WriteCommitMarker(dir string, index uint64) {
	if err := integrity.WriteCommitMarker(dir, integrity.Position{Index: index}); err != nil {
		panic(err)
	}
}

// Disk is DiskProber.
type Disk interface {
	Probe() error
	Space() (free, total uint64, err error)
}

// WithDisk returns c with another disk to watch.
func WithDisk(c Config, d Disk) Config {
	c.hooks.disk = testDisk{d}
	return c
}

type testDisk struct{ Disk }

func (testDisk) Close() {}

// ServeProposal is what a leader answers another node that forwards a command
// which has been under way for that long, as a text.
func ServeProposal(n *Node, cmd command.Command, id command.ID, connected bool, waited time.Duration) string {
	var buf bytes.Buffer
	s := try(n.core.Encode(cmd, id, false, &buf))
	ctx, cancel := context.WithTimeout(context.Background(), n.config.ProposeTimeout-waited)
	defer cancel()
	r := n.serveProposal(ctx, machine.AppendCommand(nil, &s), connected)
	return []string{"ok", "unavailable", "unknown", "failed", "not leading", "confirm"}[r.Status]
}

// KeyOf is a node's own key.
func KeyOf(n *Node) *ecdsa.PrivateKey { return n.credentials.Key }

// CertificateFrom is a certificate for any id and key, of the authority of n.
func CertificateFrom(n *Node, id string, key *ecdsa.PrivateKey, at time.Time) *tls.Certificate {
	return try(n.folder.PeerList.Authority().Issue(rand.Reader, n.config.Secrets, id, key, at))
}

// Reported says whether a node has told the cluster of itself.
func Reported(n *Node) bool {
	me, ok := n.folder.PeerList.Member(string(n.id))
	return ok && me.Issuer != ""
}

// HasPeer says whether a node listens to a peer.
func HasPeer(n *Node, id string) bool {
	s := n.status()
	return s.hasPeer(id)
}

// CheckMembership asks all others.
func CheckMembership(n *Node) {
	n.checkMembership(mapped(n.knownPeers(), func(m member.Member) string { return m.ID }))
}

// SilentMembers is how many members have not been heard of for a while.
func SilentMembers(n *Node) int { return len(n.silentMembers(nil)) }

// Admit is what a node does for somebody who joins.
func Admit(ctx context.Context, n *Node, token, id, address string, key []byte) (refused string, secret []byte) {
	_, presented, err := member.ParseToken(token)
	if err != nil {
		return err.Error(), nil
	}
	a := n.admit(ctx, join.Request{Secret: presented, ID: id, Address: address, Level: n.core.Supports()}, key)
	return a.Refused, a.Secret
}

// ForgetPeer takes a member off the list by which a node dials.
func ForgetPeer(n *Node, name string) {
	l := n.folder.PeerList.Get()
	l.Members = slices.DeleteFunc(slices.Clone(l.Members), func(m member.Member) bool { return m.Name == name })
	l.Seq = math.MaxUint64 // for good
	if err := n.folder.PeerList.Set(l); err != nil {
		panic(err)
	}
}

// GuessLeader has a node take another one for the leader, as it does when that one
// says so and raft knows of none. It says whether raft did not.
func GuessLeader(n *Node, id string) bool {
	n.leader.GuessLeader(id)
	guess, _ := n.leader.LeaderUnknown()
	return guess == id
}

// PeerSample is what a peer said of itself.
type PeerSample struct {
	Age, Offset time.Duration
	Applied     uint64
	Trouble     string
	CanDecide   bool
}

// ChooseTransferTarget is chooseTransferTarget among those that are fine, and among those
// that can decide.
func ChooseTransferTarget(self string, voters []string, peers map[string]PeerSample) (fine, decides string) {
	const now = time.Hour
	m := make(map[string]peerSample)
	for id, p := range peers {
		m[id] = peerSample{status: peerStatus{Applied: p.Applied, Trouble: p.Trouble, CanDecide: p.CanDecide}, offset: p.Offset, at: now - p.Age}
	}
	return chooseTransferTarget(self, voters, m, now, isHealthy), chooseTransferTarget(self, voters, m, now, canDecide)
}

// SetPeerListLevel has the list of peers in the folder of a node that is stopped say
// another feature level, and returns what it said.
func SetPeerListLevel(dir string, level uint32) (was uint32) {
	r := try(member.OpenPeerList(dir))
	l := r.Get()
	was, l.Level = l.Level, level
	if err := r.Replace(l); err != nil {
		panic(err)
	}
	return was
}

// HandleRollback tells a node that it lacks an entry that a peer remembers.
func HandleRollback(n *Node, by string, index uint64) {
	_ = n.handleRollback(by, integrity.Position{Index: index})
}

// KnownPosition is the index of the newest entry that n knows another one to have had.
func KnownPosition(n *Node, id string) uint64 { return n.rollbackDetector.KnownPosition(id).Index }

// RecordAck has n note what another one acknowledged.
func RecordAck(n *Node, id string, index, term, committed uint64) {
	n.rollbackDetector.RecordAck(id, integrity.Position{Index: index, Term: term}, committed)
}

// UnconfirmedJumps is the sum of the jumps of a node's clock that nobody confirmed.
func UnconfirmedJumps(n *Node) time.Duration {
	v, _ := n.watchdog.clock.Report()
	return v.Unconfirmed
}

// WrittenJumps is the sum of the jumps of a node's clock that its folder holds.
func WrittenJumps(n *Node) time.Duration {
	_, sum := n.readLastRun()
	return sum
}

// ClockConfirmed says whether a node knows that a majority of the others believe their
// clocks, and agree with its own.
func ClockConfirmed(n *Node) bool { return n.clockVote(n.Voters()).Confirms() }

// Live is until when commands could be decided, as a node knows it.
func Live(n *Node) int64 { return n.live.get() }

// RecordLive has a node that leads decide at a time.
func RecordLive(n *Node, at int64) { n.recordLive(at) }

// HookLogHandshake has f called before a node greets the voters at its start.
func HookLogHandshake(c *Config, f func()) { c.hooks.logHandshake = f }

// HasEntry reports whether a node takes an entry for one that it has.
func HasEntry(n *Node, index, term uint64) bool {
	return n.folder.HasEntry(integrity.Position{Index: index, Term: term})
}
