package command

import (
	"fmt"

	"github.com/hashicorp/go-memdb"
)

// Kind identifies the type of a command. Kinds are appended, never renumbered or given a
// new meaning: old logs must replay forever.
type Kind uint16

// ID identifies one proposal over all its repetitions.
type ID [16]byte

// UnmarshalBinary implements encoding.BinaryUnmarshaler. Without it, the CBOR decoder sets
// each byte of an array by reflection: a fifth of the time that a row of a grant takes.
func (id *ID) UnmarshalBinary(b []byte) error {
	if len(b) != len(id) {
		return fmt.Errorf("decode id: %d bytes, %d expected", len(b), len(id))
	}
	*id = ID(b)
	return nil
}

// Meta is the log's data about a command, beside its body.
type Meta struct {
	// ID was chosen at random by the proposer. A re-proposal has the same one.
	ID ID
	// Seq is the position among all commands that this cluster ever applied, from 1; it
	// survives snapshots. In a preview it is the position that the command would get if
	// no other came first.
	Seq uint64
	// At is state time in milliseconds since the Unix epoch: the leader's stamp, or the
	// previous At if that is later. It never decreases.
	At int64
	// Again marks a re-proposal of a command whose result was unknown: it may have been
	// applied already.
	Again bool
	// Level is the feature level of the cluster.
	Level uint32
	// Halted is the sum, in milliseconds, of all times before At in which nothing
	// could be decided: no leader, a leader without a majority, or no node running.
	// It never decreases. Times shorter than two seconds are not counted, and one
	// outage counts 24 hours at most.
	Halted int64
}

// Command is one decision. Its exported fields are encoded as CBOR with integer keys
// (`cbor:"1,keyasint"`). Unknown keys are ignored when it is decoded, so a field may be
// added only if older nodes can safely ignore it.
type Command interface {
	Kind() Kind
	// Decide reads txn and returns the decision. It is deterministic, must not write,
	// must not keep txn, and must not change the rows it reads: they are shared with
	// every reader.
	//
	// It runs at least once as a preview, concurrently with other goroutines, and again
	// on every node when the log applies the command.
	Decide(txn *memdb.Txn, m Meta) Decision
}

// Ignorable is implemented by commands that a node may skip if it does not know their
// kind. Every other unknown kind stops the node, because its state would otherwise differ
// from that of the others.
type Ignorable interface {
	Command
	Ignorable()
}

// SingleRow is implemented by commands that read and write one row of a table that has
// very many, and of that table no other.
//
// A transaction with changes reads slowly: each read of a table that it changed has the
// next write copy that table's tree again, from the root. A command of one row is decided
// on the state before the transaction, as long as only commands of other rows of the same
// table have changed anything since.
type SingleRow interface {
	Command
	// SingleRow returns the table and the id of the row. ok is false for a command that
	// reads no such row.
	SingleRow() (table string, id [16]byte, ok bool)
}

// Change is one row written or deleted.
type Change struct {
	Table string
	// Row is a complete new row, which is inserted or replaces the row with the same id,
	// or the row to delete. Deleting a row that does not exist has no effect. The table
	// owns the row from now on; it must not be changed.
	Row    any
	Delete bool
}

// Decision is the result of a command.
type Decision struct {
	// Outcome is passed to the proposer unchanged.
	Outcome any
	// Changes are written in order, all or none, at most MaxChanges of them. Without
	// changes nothing is written and, at the proposer, no command enters the log.
	Changes []Change
	// ConfirmFresh marks a decision without Changes that would harm an authenticated
	// caller if it were wrong: before it is answered, it is decided again on a view that is
	// certainly fresh, so that a paused or deposed leader refuses no caller.
	ConfirmFresh bool
	// Authenticated reports that the caller authenticated. ConfirmFresh of
	// unauthenticated callers is rate-limited: the number of their fresh views is bounded
	// for all of them together.
	Authenticated bool
	// ReuseDetected marks changes that are made because a credential was used twice. A
	// request that a network delayed may look like reuse: before the command is proposed,
	// the node with the request checks that its client is still connected.
	ReuseDetected bool
}

// Bounds of a command. They keep a log entry small enough to be written, sent and applied
// without delaying the entries after it.
const (
	MaxChanges = 256      // rows touched by one command
	MaxBody    = 32 << 10 // bytes of one encoded command
)
