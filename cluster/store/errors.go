package store

import (
	"errors"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
)

// ErrLocked reports that a running process uses the data directory.
var ErrLocked = errors.New("another process uses this data directory")

// ErrDataLost reports that a folder lacks data that its node had. The node has forgotten
// its votes and acknowledged entries, and would harm the cluster.
var ErrDataLost = errcode.New("data_lost", "the node has lost data, and can't rejoin under the same name")
