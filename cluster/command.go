package cluster

import "github.com/hashicorp/go-memdb"

// Kind names what a command does. Kinds are appended, never renumbered or given
// a new meaning: old logs must replay for ever.
type Kind uint16

// CommandID identifies one proposal over all its repetitions.
type CommandID [16]byte

// Meta is what the log says of a command beside its body.
type Meta struct {
	// ID was chosen at random by the proposer. A re-proposal has the same one.
	ID CommandID
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
	// Authenticated reports that the caller authenticated. A Recheck for an unauthenticated
	// caller is paced: see Node.ViewPaced.
	Authenticated bool
	// ReuseDetected marks changes that are made because somebody used what was used
	// before. A request that comes late, since a network held it up, must accuse
	// nobody: the node that has it makes sure that somebody still waits for the
	// answer, after it is known that there is ground for it.
	ReuseDetected bool
}

// Machine is the state and the rules that a cluster replicates. It is not
// changed after use.
type Machine struct {
	// Tables is the schema. A table's "id" index orders its snapshot and must
	// order rows the same way on every node. The name "cluster" is taken.
	Tables map[string]*memdb.TableSchema
	// Rows has a function for each table that returns a pointer to an empty row;
	// every row of the table has that type. Snapshots are decoded into it.
	Rows map[string]func() any
	// Commands is the closed list of kinds, each with a function that returns a
	// pointer to an empty command to decode into.
	Commands map[Kind]func() Command
	// Outcome decodes the CBOR of the outcome of a command of some kind, which
	// another node decided. A machine that runs on one node needs none.
	Outcome func(Kind, []byte) (any, error)
	// Level is the highest feature level that this program supports. The cluster
	// uses a level when every member's program has it, and a program that lacks
	// it then refuses to run.
	Level uint32
	// Since has the level of the cluster from which on commands of a kind may be
	// proposed, where a program without the level would not know them, or would
	// decide them otherwise.
	Since map[Kind]uint32
}

// Bounds of a command and of a batch. They keep one log entry small enough to
// be written, sent and applied without holding up those behind it.
const (
	MaxChanges  = 256       // rows touched by one command
	MaxBody     = 32 << 10  // bytes of one encoded command
	maxCommands = 256       // commands in one log entry
	maxBatch    = 64 << 10  // bytes of a log entry that is written
	maxEntry    = 128 << 10 // bytes of a log entry that is still read
)
