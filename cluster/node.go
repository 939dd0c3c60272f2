package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-memdb"
	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/election"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// Node is one member of a cluster. Its methods may be called by any goroutine.
type Node struct {
	config Config
	log    *slog.Logger
	core   *machine.State
	id     raft.ServerID

	folder            *integrity.Folder
	credentials       *member.Credentials
	network           *transport.Network
	transport         *transport.Transport
	raft              *raft.Raft
	peers             *transport.Peers
	watchdog          nodeWatchdog
	bootstrapMu       sync.Mutex // held while the first members are written
	bootstrapWait     bootstrapWait
	live              liveness
	rollbackDetector  *integrity.RollbackDetector
	logHandshakesDone chan struct{} // closed when the round of greetings at the start is over

	removing          sync.Mutex              // held while a member is removed, of which there is one at a time
	configMu          tryMutex                // to change raft's configuration
	replaceBlocked    string                  // why a replaced member can't go, as it was last said; of who has removing
	removed           *integrity.Removed
	disconnects       chan string             // ids of members that hung up, to be asked whether this node is one
	incarnation       integrity.Incarnation
	incarnations      *integrity.Incarnations
	duplicate         atomic.Pointer[duplicateReport] // nil while none was heard of
	isolatedDuplicate atomic.Pointer[duplicateReport] // why this process keeps away, nil while it does not
	rolledBack        atomic.Pointer[error]           // set once this node finds that its folder is an older copy: it is isolated and about to end

	queue                   chan *request
	entries                 chan struct{} // one element for each entry under way
	barriers                barriers
	unauthenticatedBarriers barriers // for unauthenticated callers
	leader                  election.Leadership
	exitReason              atomic.Pointer[string] // why this node is about to end, nil while it is not
	lastContact             lastContact

	loggedLeader string    // id of the leader that the log last spoke of; of watchLeadership
	notify       chan bool // leadership, from raft

	withdrawn             atomic.Bool           // the node stops, and has transferred leadership
	transferFailureLogged atomic.Bool           // leadership could not be transferred before the stop, and that was logged
	corrupt               atomic.Pointer[error] // what the last verification found

	closing   chan struct{} // closed first: nothing new
	built     chan struct{} // closed when no entry will be built any more
	stopped   chan struct{} // closed when raft was told to stop: no answers any more
	closeOnce sync.Once
	closeErr  error
	running   sync.WaitGroup // goroutines of this package, but for those of await
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
		return fmt.Errorf("the data is that of node %s, and this node shall be %s: a node keeps its name", name, n.config.Name)
	}
	return nil
}

// Removed is nil, or wraps member.ErrRemoved where this node has learnt that it was
// removed: then it serves nobody.
func (n *Node) Removed() error { return n.removed.Err() }

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
	if err := n.barrier(ctx); err != nil {
		return nil, err
	}
	return n.core.View(), nil
}

// ViewPaced is ViewFresh for an unauthenticated caller. All such callers of a
// cluster share at most 20 Barriers a second, so each waits up to 50 ms longer.
func (n *Node) ViewPaced(ctx context.Context) (*memdb.Txn, error) {
	if err := n.unauthenticatedBarrier(ctx); err != nil {
		return nil, err
	}
	return n.core.View(), nil
}

// Ready returns nil only when a command would be committed now: a leader is
// known and an empty entry went through the log. Anybody may call /readyz, so it is
// paced as ViewPaced is.
func (n *Node) Ready(ctx context.Context) error { return n.unauthenticatedBarrier(ctx) }

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

// Corruption returns what the last verification of the log found, nil if
// nothing.
func (n *Node) Corruption() error {
	if err := n.corrupt.Load(); err != nil {
		return *err
	}
	return nil
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
