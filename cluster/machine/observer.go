package machine

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// An Observer receives what the log does to the state, for data that a node keeps beside
// it. It must not change or delay the state.
//
// Applied and Restored are called in order, by one goroutine at a time. After a restart
// they are called again for commands that had been applied before.
type Observer interface {
	// Applied is called with a command and its decision. txn is the state before its
	// changes, and must not be kept.
	Applied(txn *memdb.Txn, cmd command.Command, d command.Decision, m command.Meta)
	// Restored is called after the state was replaced by that of a snapshot, whose last
	// command had this position and time.
	Restored(seq uint64, at int64)
	// Flush returns when everything received is on disk. A snapshot, which replaces the
	// log, waits for it.
	Flush() error
}
