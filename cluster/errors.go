package cluster

import "errors"

var (
	// ErrUnavailable means that nothing was proposed: there is no leader, the
	// queue is full, the node is closing, or no fresh view could be had. Nothing
	// has changed; retry.
	ErrUnavailable = errors.New("cluster unavailable, nothing was changed")

	// ErrUnknown means that the command was proposed and its outcome can't be
	// known in time: it may or may not have happened, as a whole. Retry, with a
	// command that can tell.
	ErrUnknown = errors.New("outcome not known in time")
)

// ErrEmpty means that the folder belongs to no cluster yet.
var ErrEmpty = errors.New("the data directory belongs to no cluster yet")
