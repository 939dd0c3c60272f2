package command

import "github.com/hashicorp/go-memdb"

// Kind names what a command does. Kinds are appended, never renumbered or given
// a new meaning: old logs must replay for ever.
type Kind uint16

// ID identifies one proposal over all its repetitions.
type ID [16]byte

// Meta is what the log says of a command beside its body.
type Meta struct {
	// ID was chosen at random by the proposer. A re-proposal has the same one.
	ID ID
	// Seq is the position among all commands this cluster ever applied, from 1;
	// it survives snapshots. In a preview it is the position the command would
	// get if nothing came before it.
	Seq uint64
	// At is state time in milliseconds since the Unix epoch: the leader's stamp,
	// or the last At when that is later. It never runs back.
	At int64
	// Again marks a re-proposal of a command whose fate was unknown: it may have
	// been applied already.
	Again bool
	// Level is the feature level of the cluster.
	Level uint32
	// Halted is the sum, in milliseconds, of all times before At in which nothing
	// could be decided: no leader, a leader without a majority, or no node running.
	// It never decreases. Times shorter than two seconds are not counted, and one
	// outage counts 24 hours at most.
	Halted int64
}

// Command is one decision. Its exported fields travel as CBOR; use integer keys
// (`cbor:"1,keyasint"`). Unknown keys are ignored when it is decoded, so a
// field may be added where an older node may safely not see it.
type Command interface {
	Kind() Kind
	// Decide reads txn and says what happens. It is deterministic, must not
	// write, must not keep txn, and must not change the rows it reads: they are
	// shared with every reader.
	//
	// It runs at least once as a preview beside other goroutines, and again on
	// every node when the log applies the command.
	Decide(txn *memdb.Txn, m Meta) Decision
}

// Ignorable is implemented by commands that a node which does not know their
// kind may skip. Every other unknown kind stops the node, because carrying on
// would let its state differ from that of the others.
type Ignorable interface {
	Command
	Ignorable()
}

// Change is one row written or deleted.
type Change struct {
	Table string
	// Row is a complete new row, inserted or put in the place of the row with
	// the same id, or the row to delete. Deleting a row that is not there does
	// nothing. It belongs to the table from now on and must not be changed.
	Row    any
	Delete bool
}

// Decision is the answer to a command.
type Decision struct {
	// Outcome is handed to the proposer as it is.
	Outcome any
	// Changes are written in order, all or none, at most MaxChanges of them.
	// With none nothing is written and, at the proposer, no command enters the
	// log.
	Changes []Change
	// ConfirmFresh marks a refusal (no Changes) that would hurt an authenticated
	// caller: it is decided again on a view that is certainly fresh before it is
	// answered, so that a paused or deposed leader refuses nobody.
	ConfirmFresh bool
	// Authenticated reports that the caller authenticated. ConfirmFresh of an
	// unauthenticated caller is paced: its fresh views are bounded for all of them
	// together.
	Authenticated bool
	// ReuseDetected marks changes that are made because a credential was used twice.
	// A request that a network delayed may look like one: before the command is
	// proposed, the node that has the request checks that its client is still
	// connected.
	ReuseDetected bool
}

// Bounds of a command. They keep one log entry small enough to be written, sent
// and applied without holding up the entries behind it.
const (
	MaxChanges = 256      // rows touched by one command
	MaxBody    = 32 << 10 // bytes of one encoded command
)
