package transport

import (
	"log/slog"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/store"
)

// NewTransport is a node's transport on connections of the test's.
func NewTransport(layer raft.StreamLayer) raft.Transport {
	return New(layer, store.NewLogger(slog.New(slog.DiscardHandler)))
}

// ClampCommitIndex is bounded.
var ClampCommitIndex = clampCommitIndex

// Refusals is refusals.
type Refusals struct{ r refusals }

// Count is note.
func (r *Refusals) Count(address string, now time.Time) (source string, times int, tell bool) {
	return r.r.count(address, now)
}

// DescribeHandshakeError is what the log says of a connection that was refused.
func DescribeHandshakeError(err error) string { return describeHandshakeError(err) }
