package cluster

import "errors"

var (
	// ErrUnavailable means that nothing was proposed: there is no leader, the
	// queue is full, the node is closing, or a fresh view could not be read.
	// Nothing has changed, so the caller may retry.
	ErrUnavailable = errors.New("cluster unavailable, nothing was changed")

	// ErrUnknown means that the command was proposed, and its outcome was not
	// known in time: it is applied as a whole, possibly later, or not at all. The caller may retry
	// with a command that detects that it was applied before.
	ErrUnknown = errors.New("outcome not known in time")
)

// ErrEmpty means that the folder belongs to no cluster yet.
var ErrEmpty = errors.New("the data directory belongs to no cluster yet")
