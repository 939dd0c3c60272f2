package transport

import (
	"io"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/store"
)

// Transport is raft's network transport without the fast path for heartbeats.
//
// On the fast path a heartbeat is handled beside raft's main goroutine, and may
// raise the term and the state of a leader that is in the middle of storing an
// entry: hashicorp/raft #695, open. Without a handler every heartbeat takes its
// turn in the main goroutine. The price is that a stalled disk looks like a dead
// node, so the election timeout must be above the worst stall of an fsync.
//
// The pointer is embedded, not the interface: raft finds out by type assertion
// that the transport can pre-vote and be closed.
type Transport struct {
	*raft.NetworkTransport
	// OnAck, if not nil, is called when a node acknowledged the log up to the entry of
	// an index and a term. committed is the index up to which the log was known to be
	// committed.
	OnAck func(id string, index, term, committed uint64)
}

var (
	_ raft.Transport   = (*Transport)(nil)
	_ raft.WithPreVote = (*Transport)(nil)
	_ raft.WithClose   = (*Transport)(nil)
)

// SetHeartbeatHandler keeps the fast path off.
func (*Transport) SetHeartbeatHandler(func(raft.RPC)) {}

// AppendEntries sends one message. See bounded.
func (t *Transport) AppendEntries(id raft.ServerID, target raft.ServerAddress, q *raft.AppendEntriesRequest, r *raft.AppendEntriesResponse) error {
	err := t.NetworkTransport.AppendEntries(id, target, clampCommitIndex(q), r)
	if err == nil {
		t.reportAck(id, q, r)
	}
	return err
}

// reportAck passes on what the answer r to q says about the log of a node. Heartbeats
// have no position of a log, and say nothing about it.
func (t *Transport) reportAck(id raft.ServerID, q *raft.AppendEntriesRequest, r *raft.AppendEntriesResponse) {
	index, term := q.PrevLogEntry, q.PrevLogTerm
	if n := len(q.Entries); n > 0 {
		index, term = q.Entries[n-1].Index, q.Entries[n-1].Term
	}
	if r.Success && index > 0 && t.OnAck != nil {
		t.OnAck(string(id), index, term, q.LeaderCommitIndex)
	}
}

// InstallSnapshot sends a snapshot. All entries that it covers are committed.
func (t *Transport) InstallSnapshot(id raft.ServerID, target raft.ServerAddress, q *raft.InstallSnapshotRequest, r *raft.InstallSnapshotResponse, data io.Reader) error {
	err := t.NetworkTransport.InstallSnapshot(id, target, q, r, data)
	if err == nil && r.Success && t.OnAck != nil {
		t.OnAck(string(id), q.LastLogIndex, q.LastLogTerm, q.LastLogIndex)
	}
	return err
}

// timeoutNowTimeout bounds the message that transfers leadership. raft takes no
// commands while it waits for the answer, whatever its own timeout is, and a node
// whose raft hangs in its disk gives none. It is well below the election timeout,
// so that there is time to ask another one.
const timeoutNowTimeout = ElectionTimeout / 2

// TimeoutNow asks a node to campaign at once.
func (t *Transport) TimeoutNow(id raft.ServerID, target raft.ServerAddress, q *raft.TimeoutNowRequest, _ *raft.TimeoutNowResponse) error {
	done := make(chan error, 1)
	go func() { done <- t.NetworkTransport.TimeoutNow(id, target, q, new(raft.TimeoutNowResponse)) }()
	timer := time.NewTimer(timeoutNowTimeout)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return errNoAnswer
	}
}

// clampCommitIndex keeps a message from committing what its receiver was not compared in.
//
// A follower takes all that it has, up to the leader's commit index, for
// committed, and not just what this message has shown to be the same as the
// leader's (Raft §5.3, "index of last new entry"). The leader chooses the entries
// first and reads its commit index later, after a pause where the follower did
// not answer before. An entry that only the follower has, of an earlier term,
// could so be applied in the place of the leader's.
func clampCommitIndex(q *raft.AppendEntriesRequest) *raft.AppendEntriesRequest {
	q.LeaderCommitIndex = min(q.LeaderCommitIndex, q.PrevLogEntry+uint64(len(q.Entries)))
	return q
}

func New(layer raft.StreamLayer, log *store.Logger) *Transport {
	return &Transport{NetworkTransport: raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream:                layer,
		ServerAddressProvider: addressIsID{},
		MaxPool:               3,
		Timeout:               transportTimeout,
		Logger:                log,
	})}
}

// transportTimeout bounds one message to a peer. A connection through which
// nothing comes any more, because a partition swallowed it, holds up whoever
// uses it for this long after the network is whole again.
const transportTimeout = 3 * time.Second
