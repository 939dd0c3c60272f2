package cluster

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/election"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/join"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// MaxEntriesInFlight is the limit of log entries under way at the same time.
const MaxEntriesInFlight = maxEntriesInFlight

// Access to a node's internals for the tests of this package.

type Hooks = hooks

// WithHooks returns c with hooks.
func WithHooks(c Config, h Hooks) Config {
	c.hooks = h
	return c
}

// WithDisk returns c with d as the probe of its disk.
func WithDisk(c Config, d watchdog.DiskProber) Config {
	c.hooks.Disk = d
	return c
}

func (n *Node) Raft() *raft.Raft             { return n.raft }
func (n *Node) Transport() raft.Transport    { return n.net.raft }
func (n *Node) Logs() raft.LogStore          { return n.folder.Store.Logs }
func (n *Node) Folder() *integrity.Folder    { return n.folder }
func (n *Node) Log() *integrity.LogHandshake { return n.checks.rollback }
func (n *Node) Elector() *election.Elector   { return n.leader }
func (n *Node) Clock() *watchdog.Clock       { return n.watchdog.clock }
func (n *Node) Barriers() *nodeBarriers      { return &n.barriers }
func (n *Node) RestoreNow(r io.Reader) error { return n.core.Restore(r) }
func (n *Node) Seq() uint64                  { return n.core.Seq() }
func (n *Node) Closing() bool                { return n.isClosing() }
func Live(n *Node) int64                     { return n.live.get() }
func RecordLive(n *Node, at int64)           { n.live.recordLive(at) }
func CollectLive(n *Node) bool               { return n.live.collect() }
func SilentMembers(n *Node) int              { return len(n.statuses.silent(nil)) }
func CheckMembership(n *Node)                { n.membership.check(n.statuses.others()) }
func ClockConfirmed(n *Node) bool            { return n.statuses.clockVote(n.Voters()).Confirms() }
func Isolate(n *Node, on bool)               { n.net.network.Isolate(transport.IsolationTest, on) }

// MarkRemoved has a node learn that it was removed.
func MarkRemoved(n *Node) { n.checks.removed.Mark("n2") }

// ReportDuplicate has a node learn that an earlier process of it runs.
func ReportDuplicate(n *Node) { n.checks.duplicates.Report("n2", integrity.Incarnation{}, 0) }

// HasPeer reports whether a node accepts a peer.
func HasPeer(n *Node, id string) bool {
	s := n.status()
	return s.hasPeer(id)
}

// Passed returns how many Barriers went through the log for a view.
func (b *nodeBarriers) Passed() (passed uint64) {
	for _, one := range []*barriers{&b.all, &b.unauthenticated} {
		one.mu.Lock()
		passed += one.passed
		one.mu.Unlock()
	}
	return passed
}

// Waits reports whether a caller waits for the next Barrier.
func (b *nodeBarriers) Waits(unauthenticated bool) bool {
	one := &b.all
	if unauthenticated {
		one = &b.unauthenticated
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	return one.next != nil
}

// SetPace changes the time between the Barriers of unauthenticated callers.
func (b *nodeBarriers) SetPace(pace time.Duration) {
	b.unauthenticated.mu.Lock()
	defer b.unauthenticated.mu.Unlock()
	b.unauthenticated.pace = pace
}

// ServeProposal returns the leader's reply status to a forwarded command that has been
// under way for waited.
func ServeProposal(n *Node, cmd command.Command, id command.ID, connected bool, waited time.Duration) (status byte) {
	var buf bytes.Buffer
	s, err := n.core.Encode(cmd, id, false, &buf)
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), n.config.ProposeTimeout-waited)
	defer cancel()
	return n.serveProposal(ctx, machine.AppendCommand(nil, &s), connected).Status
}

// Admit returns a node's reply to a join request.
func Admit(ctx context.Context, n *Node, token, id, address string, key []byte) (refused string, secret []byte) {
	_, presented, err := member.ParseToken(token)
	if err != nil {
		return err.Error(), nil
	}
	a := n.admit(ctx, join.Request{Secret: presented, ID: id, Address: address, Level: n.core.Supports()}, key)
	return a.Refused, a.Secret
}
