package transport

import (
	"io"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// Transport is raft's network transport without the fast path for heartbeats.
//
// On the fast path a heartbeat is handled concurrently with raft's main goroutine, and
// may change the term and the state of a leader that is storing an entry: hashicorp/raft
// #695, open. Without a handler the main goroutine handles every heartbeat. The cost is
// that a stalled disk looks like a dead node, so the election timeout must be longer than
// the worst stall of an fsync.
//
// The pointer is embedded, not the interface: raft detects by type assertion that the
// transport can pre-vote and be closed.
type Transport struct {
	*raft.NetworkTransport
	// OnAck, if not nil, is called when a node acknowledged the log up to the entry with
	// this index and term. committed is the index up to which the log was known to be
	// committed.
	OnAck func(id string, index, term, committed uint64)
}

var (
	_ raft.Transport   = (*Transport)(nil)
	_ raft.WithPreVote = (*Transport)(nil)
	_ raft.WithClose   = (*Transport)(nil)
)

// SetHeartbeatHandler does nothing, which disables the fast path.
func (*Transport) SetHeartbeatHandler(func(raft.RPC)) {}

// AppendEntries sends one message, see clampCommitIndex.
func (t *Transport) AppendEntries(id raft.ServerID, target raft.ServerAddress, q *raft.AppendEntriesRequest, r *raft.AppendEntriesResponse) error {
	err := t.NetworkTransport.AppendEntries(id, target, clampCommitIndex(q), r)
	if err == nil {
		t.reportAck(id, q, r)
	}
	return err
}

// reportAck reports a node's log position from r, the answer to q. Heartbeats have no log
// position and report nothing.
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

// timeoutNowTimeout bounds the message that transfers leadership. raft takes no commands
// while it waits for the answer, regardless of its own timeout, and a node whose raft
// hangs in its disk does not answer. It is well below the election timeout, so that there
// is time to try another node.
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

// clampCommitIndex limits the commit index of a message to the entries that the message
// verifies.
//
// A follower treats all its entries up to the leader's commit index as committed, not
// only those that the message has verified against the leader's log (Raft §5.3, "index of
// last new entry"). The leader selects the entries first and reads its commit index
// later, after a pause if the follower did not answer before. So an entry of an earlier
// term that only the follower has could be applied instead of the leader's.
func clampCommitIndex(q *raft.AppendEntriesRequest) *raft.AppendEntriesRequest {
	q.LeaderCommitIndex = min(q.LeaderCommitIndex, q.PrevLogEntry+uint64(len(q.Entries)))
	return q
}

func New(layer raft.StreamLayer, log hclog.Logger) *Transport {
	return &Transport{NetworkTransport: raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream:                layer,
		ServerAddressProvider: addressIsID{},
		MaxPool:               3,
		Timeout:               transportTimeout,
		Logger:                log,
	})}
}

// transportTimeout bounds one message to a peer. A connection that was broken by a
// partition blocks its user for this long after the network has recovered.
const transportTimeout = 3 * time.Second
