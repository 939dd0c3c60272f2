package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/hashicorp/go-memdb"
	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/election"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// Node is one member of a cluster. Its methods may be called by any goroutine. Open sets
// its fields, which do not change afterwards; each part guards its own state.
type Node struct {
	config Config
	log    *slog.Logger
	id     raft.ServerID
	folder *integrity.Folder
	core   *machine.State
	raft   *raft.Raft
	net    *connections
	lifecycle

	checks      selfChecks        // whether this node may serve
	statuses    *peerStatuses     // the status of each other member
	watchdog    *nodeWatchdog     // whether clock and disk can be trusted
	leader      *election.Elector // who leads
	live        liveness          // until when commands could be decided
	pipeline    pipeline          // commands on their way into the log
	barriers    nodeBarriers      // fresh views
	bootstrap   *staticBootstrap  // the first members
	changes     memberChanges     // one change of the members at a time
	membership  *membershipCheck  // whether this node was removed
	authorities *Authorities      // of the members' certificates
	secrets     *SecretExchange   // passed between members
}

// connections are this node's connections with other nodes.
type connections struct {
	credentials *member.Credentials // nil without a network
	network     *transport.Network
	raft        *transport.Transport
	peers       *transport.Peers
}

// ID is the name of this node, chosen at random when its folder was empty.
func (n *Node) ID() string { return string(n.id) }

// Name is what the cluster calls this node, and before it is a member what the
// node calls itself.
func (n *Node) Name() string {
	if m, ok := n.folder.PeerList.Member(string(n.id)); ok {
		return m.Name
	}
	return n.config.Name
}

// checkName refuses a folder that belongs to another node than the one that is
// meant: one started on it would answer for the other.
func (n *Node) checkName() error {
	if name := n.Name(); n.config.ExplicitName && name != n.config.Name {
		return fmt.Errorf("the data folder belongs to node %s, and the name of this node is %s", name, n.config.Name)
	}
	return nil
}

// View returns the state as this node has it, which may be behind that of the
// cluster. It never blocks and needs no end. The watch channels of memdb do not
// fire: use Changed.
func (n *Node) View() *memdb.Txn { return n.core.View() }

// ViewAt returns a view in which the log was applied up to index, as Propose
// returned it.
func (n *Node) ViewAt(ctx context.Context, index uint64) (*memdb.Txn, error) {
	if err := n.core.Wait(ctx, n.stopped, index); err != nil {
		return nil, fmt.Errorf("wait for index %d: %w: %w", index, ErrUnavailable, err)
	}
	return n.core.View(), nil
}

// ViewFresh returns a view that holds everything that was acknowledged, by any
// node, before the call. Calls that wait together share one Barrier.
func (n *Node) ViewFresh(ctx context.Context) (*memdb.Txn, error) {
	if err := n.waitBarrier(ctx, &n.barriers.all); err != nil {
		return nil, err
	}
	return n.core.View(), nil
}

// ViewPaced is ViewFresh for an unauthenticated caller. All such callers of a
// cluster share at most 20 Barriers a second, so each waits up to 50 ms longer.
func (n *Node) ViewPaced(ctx context.Context) (*memdb.Txn, error) {
	if err := n.waitBarrier(ctx, &n.barriers.unauthenticated); err != nil {
		return nil, err
	}
	return n.core.View(), nil
}

// Ready returns nil only when a command would be committed now: a leader is
// known and an empty entry went through the log. Anybody may call /readyz, so it is
// paced as ViewPaced is.
func (n *Node) Ready(ctx context.Context) error {
	return n.waitBarrier(ctx, &n.barriers.unauthenticated)
}

// Changed returns a channel that is closed at the next change of table, and
// after a restore. Ask for it before the view that is to be kept up to date.
func (n *Node) Changed(table string) <-chan struct{} { return n.core.Changed(table) }

// Applied is the index of the last log entry whose commands a View shows.
func (n *Node) Applied() uint64 { return n.core.Applied() }

// Checksum returns the SHA-256 of the whole state, all tables in order of id,
// and the index it belongs to. The same commands give the same checksum on every
// node, live, replayed or restored. It reads every row.
func (n *Node) Checksum() (sum [32]byte, applied uint64) {
	sum, applied, err := n.core.Checksum()
	if err != nil {
		panic(fmt.Sprintf("cluster: checksum: %v", err)) // rows of this state were encoded before
	}
	return sum, applied
}

// Snapshot writes a snapshot now and drops the log that it replaces, but for
// Config.TrailingLogs.
func (n *Node) Snapshot() error {
	err := transport.Await(n.raft.Snapshot(), n.stopped)
	if errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	return nil
}

// Authorities are the authorities that certificates of members may be from.
func (n *Node) Authorities() *Authorities { return n.authorities }

// Secrets passes secrets between members, outside the log.
func (n *Node) Secrets() *SecretExchange { return n.secrets }
