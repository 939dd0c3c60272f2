package transport

import (
	"log/slog"
	"net"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/store"
)

// NewTransport returns a node's transport on the test's connections.
func NewTransport(layer raft.StreamLayer) raft.Transport {
	return New(layer, store.NewLogger(slog.New(slog.DiscardHandler)))
}

// Track registers a connection with a peer.
func (n *Network) Track(peer string, c net.Conn) (net.Conn, error) { return n.track(peer, c) }

// ClampCommitIndex is clampCommitIndex.
var ClampCommitIndex = clampCommitIndex

// Refusals is refusals.
type Refusals struct{ r refusals }

// Count is count.
func (r *Refusals) Count(address string, now time.Time) (source string, times int, tell bool) {
	return r.r.count(address, now)
}

// DescribeHandshakeError is describeHandshakeError.
func DescribeHandshakeError(err error) string { return describeHandshakeError(err) }
