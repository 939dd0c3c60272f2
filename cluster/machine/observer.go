package machine

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// An Observer is told what the log does to the state. It is for what a node keeps
// beside it; nothing it does may change the state or hold it up.
//
// Applied and Restored are called in order, by one goroutine at a time. After a
// restart commands that were applied before are applied, and told, again.
type Observer interface {
	// Applied is told of a command and its decision. txn is the state before its
	// changes, and must not be kept.
	Applied(txn *memdb.Txn, cmd command.Command, d command.Decision, m command.Meta)
	// Restored is told that the state is that of a snapshot now, whose last
	// command had this position and time.
	Restored(seq uint64, at int64)
	// Flush returns when what was told is on disk. A snapshot, which replaces the
	// log, waits for it.
	Flush() error
}
