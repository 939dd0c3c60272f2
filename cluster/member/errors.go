package member

import "errors"

// A RefusedError is the answer to a change of membership that the rules do not
// allow.
type RefusedError struct{ Reason string }

// Error implements error.
func (e *RefusedError) Error() string { return e.Reason }

// A NoNodeError says that the cluster has no node of a name.
type NoNodeError struct{ Name string }

// Error implements error.
func (e *NoNodeError) Error() string { return "the cluster has no node " + e.Name }

// Unwrap makes it a *RefusedError.
func (e *NoNodeError) Unwrap() error { return &RefusedError{e.Error()} }

// ErrRemoved says that a node is none of its cluster any more, and what to do
// about it.
var ErrRemoved = errors.New("this node was removed from the cluster: stop it. Its data folder can still be read (mintmark cluster backup save); " +
	"to use the machine again, invite it (mintmark cluster invite) and start it with an empty data folder")

// ErrDuplicateNode says that another process runs as this node, and what to do about it.
var ErrDuplicateNode = errors.New("another process runs as this node, with a copy of its data folder: " +
	"stop one of them for good, delete its folder, and start the other one again")
