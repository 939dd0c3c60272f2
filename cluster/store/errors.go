package store

import "errors"

// ErrLocked reports that a running process uses the data directory.
var ErrLocked = errors.New("another process uses this data directory")

// ErrDataLost reports that a folder lacks data that its node had. The node has forgotten
// its votes and acknowledged entries, and would harm the cluster.
var ErrDataLost = errors.New("the node has lost data that it had, and can't go on under the same name: " +
	"take a new node with an empty folder in its place (mintmark cluster replace), " +
	"or, if it was the only one, restore a backup into an empty folder (mintmark cluster backup restore)")
