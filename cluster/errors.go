package cluster

import "errors"

var (
	// ErrUnavailable says that nothing was proposed: there is no leader, the
	// queue is full, the node is closing, or no fresh view could be had. Nothing
	// has changed; retry.
	ErrUnavailable = errors.New("cluster unavailable, nothing was changed; retry")

	// ErrUnknown says that the command was proposed and its outcome can't be
	// known in time: it may or may not have happened, as a whole. Retry, with a
	// command that can tell.
	ErrUnknown = errors.New("cluster can't tell the outcome in time; retry")
)

// ErrEmpty says that the folder belongs to no cluster yet.
var ErrEmpty = errors.New("the data directory belongs to no cluster yet")

// ErrLocked reports that a running process uses the data directory.
var ErrLocked = errors.New("another process uses this data directory")

// ErrDataLost says that a folder lacks data that its node had. The node has
// forgotten its votes and what it acknowledged, and would harm the cluster.
var ErrDataLost = errors.New("the node has lost data that it had, and can't go on under the same name: " +
	"take a new node with an empty folder in its place (mintmark cluster replace), " +
	"or, if it was the only one, restore a backup into an empty folder (mintmark cluster backup restore)")

// ErrWrongClusterKey says that the cluster key of a node is not the one that its data are
// sealed under.
var ErrWrongClusterKey = errors.New("the cluster key of this node (cluster.key, or see --cluster-key-file) is not the one that its data are sealed under: " +
	"put back the one that it had, or a copy of that of another node")

// errClosed is the reason when the node stopped.
var errClosed = errors.New("node closed")
