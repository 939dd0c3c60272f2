package member

import "errors"

// A RefusedError reports that the rules do not allow a change of membership.
type RefusedError struct{ Reason string }

// Error implements error.
func (e *RefusedError) Error() string { return e.Reason }

// A NoNodeError reports that the cluster has no node with a name.
type NoNodeError struct{ Name string }

// Error implements error.
func (e *NoNodeError) Error() string { return "the cluster has no node " + e.Name }

// Unwrap returns a *RefusedError.
func (e *NoNodeError) Unwrap() error { return &RefusedError{e.Error()} }

// ErrRemoved reports that a node was removed from its cluster.
var ErrRemoved = errors.New("this node was removed from the cluster: stop it. A backup of its data folder can still be made (mintmark cluster backup save); " +
	"to reuse the machine, invite it (mintmark cluster invite) and start it with an empty data folder")

// ErrDuplicateNode reports that another process runs as this node.
var ErrDuplicateNode = errors.New("another process runs as this node, with a copy of its data folder: " +
	"stop one of the two permanently, delete its folder, and restart the other")
