package store

import "errors"

// ErrLocked reports that a running process uses the data directory.
var ErrLocked = errors.New("another process uses this data directory")

// ErrDataLost reports that a folder lacks data that its node had. The node has forgotten
// its votes and acknowledged entries, and would harm the cluster.
var ErrDataLost = errors.New("the node has lost data, and can't rejoin under the same name: " +
	"replace it with a new node that has an empty folder (mintmark cluster replace), " +
	"or, if it was the only one, restore a backup into an empty folder (mintmark cluster backup restore)")
