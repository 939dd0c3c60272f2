package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/errcode"
)

// State is the state of a machine, and the one way to change it. A Node, with a log, and
// a Memory, without one, use the same State.
//
// Apply and Restore must be called by one goroutine at a time; all other methods may be
// called concurrently.
type State struct {
	schema   *schema
	db       atomic.Pointer[memdb.MemDB] // replaced by a restore
	view     atomic.Pointer[memdb.Txn]   // of the last commit; all readers share it
	latest   latest
	progress progress
	watches  watches

	minLevel uint32              // level of a state without one, for Memory
	decoded  []Encoded           // buffer of Apply
	changed  map[string]struct{} // buffer of Apply: the tables that were written
	rows     singleRows          // of the transaction of Apply
	observer Observer            // may be nil
}

// latest is a copy of the status row. It is never older than a view. at is stored last.
type latest struct {
	at     atomic.Int64
	seq    atomic.Uint64
	level  atomic.Uint32
	halted atomic.Int64
}

// New returns the empty state of a machine. observer may be nil.
func New(m Machine, observer Observer) (*State, error) {
	s, err := compile(m)
	if err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	c := &State{schema: s, observer: observer, changed: make(map[string]struct{})}
	c.db.Store(s.open())
	c.show()
	return c, nil
}

// View returns a read transaction of the current state. All views of a state are the same
// transaction, which any number of goroutines may read.
func (c *State) View() *memdb.Txn { return c.view.Load() }

// show lets readers see what was committed.
func (c *State) show() { c.view.Store(c.db.Load().Txn(false)) }

// ViewIndex returns a view and the index of its last log entry.
func (c *State) ViewIndex() (txn *memdb.Txn, index uint64) {
	c.progress.with(func(at uint64) { txn, index = c.View(), at })
	return txn, index
}

// Applied returns the index of the last log entry that was applied.
func (c *State) Applied() uint64 { return c.progress.applied() }

// Wait returns when the log was applied up to index, or command.ErrClosed when stop is
// closed first.
func (c *State) Wait(ctx context.Context, stop <-chan struct{}, index uint64) error {
	return c.progress.wait(ctx, stop, index)
}

// StateTime returns the time of the last command, in milliseconds since the Unix
// epoch; 0 before the first.
func (c *State) StateTime() int64 { return c.latest.at.Load() }

// Seq returns the number of commands that were applied.
func (c *State) Seq() uint64 { return c.latest.seq.Load() }

// Level returns the feature level in use.
func (c *State) Level() uint32 { return c.latest.level.Load() }

// Supports returns the highest feature level of this program.
func (c *State) Supports() uint32 { return c.schema.level }

// Since returns the feature level from which on commands of a kind may be proposed.
func (c *State) Since(k command.Kind) uint32 { return c.schema.since[k] }

// LastMeta returns At and Halted of the last command, in a command.Meta. After a
// halt was recorded, At never includes a halt that Halted lacks.
func (c *State) LastMeta() command.Meta {
	at := c.latest.at.Load() // first, since publish stores it last
	return command.Meta{At: at, Halted: c.latest.halted.Load()}
}

// ErrOldProgram reports that this program does not support the feature level of a cluster.
var ErrOldProgram = errcode.New("old_program", "the cluster uses features that this version of the program does not have")

// CheckLevel returns ErrOldProgram if this program does not support has, the feature level
// of a cluster.
func (c *State) CheckLevel(has uint32) error {
	if has > c.schema.level {
		return fmt.Errorf("%w: feature level %d, this version has %d", ErrOldProgram, has, c.schema.level)
	}
	return nil
}

// Flush waits until everything that the observer received is on disk.
func (c *State) Flush() error {
	if c.observer == nil {
		return nil
	}
	return c.observer.Flush()
}

// Edit changes rows without the log. It must not be used on a state to which a log is
// applied.
func (c *State) Edit(change func(txn *memdb.Txn)) {
	txn := c.db.Load().Txn(true)
	change(txn)
	if err := c.schema.derive(txn); err != nil {
		panic(fmt.Sprintf("machine: %v", err))
	}
	txn.Commit()
	c.show()
}

// Preview decides on a view without writing. The log may still decide an accepted command
// differently.
func (c *State) Preview(cmd command.Command, m command.Meta, now int64) (command.Decision, error) {
	txn := c.View()
	// Read after the view, so that they are not older than its rows.
	m.Seq = c.latest.seq.Load() + 1
	m.At = max(now, c.latest.at.Load())
	m.Level = max(c.latest.level.Load(), c.minLevel)
	m.Halted = c.latest.halted.Load()
	d := cmd.Decide(txn, m)
	err := c.schema.check(d.Changes)
	if err == nil {
		err = c.schema.checkIndexes(d.Changes)
	}
	if err != nil {
		return command.Decision{}, fmt.Errorf("command kind %d: %w", cmd.Kind(), err)
	}
	return d, nil
}

// Entry is one log entry given to Apply.
type Entry struct {
	Index    uint64 // in the log
	Data     []byte
	Outcomes []Outcome // set by Apply, one for each command
}

// Outcome is the result of one command.
type Outcome struct {
	Value any
	wrote bool
}

// Apply decides and writes the commands of some entries in one transaction. An error
// means that the state can't continue: an entry is damaged, is of a newer version, or
// violates a rule of the machine. Nothing is written then.
func (c *State) Apply(entries []Entry) error {
	txn := c.db.Load().Txn(true)
	defer txn.Abort()
	was := ReadStatus(txn)
	now := was
	clear(c.changed)
	c.rows.begin(c.View())
	for i := range entries {
		e := &entries[i]
		if IsCheckpointEntry(e.Data) {
			continue
		}
		cmds, err := DecodeBatch(e.Data, c.decoded[:0])
		if err != nil {
			return fmt.Errorf("log entry %d: %w", e.Index, err)
		}
		c.decoded = cmds
		e.Outcomes = make([]Outcome, len(cmds))
		for j := range cmds {
			e.Outcomes[j], err = c.applyOne(txn, &now, &cmds[j])
			if err != nil {
				return fmt.Errorf("log entry %d, command %d of kind %d: %w", e.Index, j, cmds[j].Kind, err)
			}
		}
	}
	if now != was {
		if err := txn.Insert(StatusTable, &now); err != nil {
			return fmt.Errorf("write status row: %w", err)
		}
	}
	c.publish(txn, now, entries[len(entries)-1].Index)
	c.watches.fire(c.changed)
	return nil
}

// applyOne decides one command on the result of those before it.
func (c *State) applyOne(txn *memdb.Txn, now *Status, s *Encoded) (Outcome, error) {
	now.Seq++
	now.At = max(now.At, s.At)
	cmd, err := c.Decode(s)
	switch {
	case errors.Is(err, errUnknownKind) && s.ignorable():
		return Outcome{}, nil
	case err != nil:
		return Outcome{}, err
	}
	m := command.Meta{ID: s.ID, Seq: now.Seq, At: now.At, Again: s.Again(), Level: max(now.Level, c.minLevel), Halted: now.Halted}
	read := c.rows.view(cmd, txn)
	d := cmd.Decide(read, m)
	if c.observer != nil {
		c.observer.Applied(read, cmd, d, m)
	}
	if len(d.Changes) == 0 {
		return Outcome{Value: d.Outcome}, nil
	}
	if err := c.schema.check(d.Changes); err != nil {
		return Outcome{}, err
	}
	if err := write(txn, d.Changes); err != nil {
		return Outcome{}, err
	}
	c.rows.wrote(d.Changes)
	derive := false
	for i := range d.Changes {
		c.changed[d.Changes[i].Table] = struct{}{}
		derive = derive || c.schema.derives(d.Changes[i].Table)
		if s, ok := d.Changes[i].Row.(*Status); ok {
			now.Level, now.Halted = s.Level, s.Halted // this function sets the other fields
		}
	}
	if derive {
		if err := c.schema.derive(txn); err != nil {
			return Outcome{}, err
		}
	}
	if err := c.CheckLevel(now.Level); err != nil {
		return Outcome{}, err
	}
	return Outcome{Value: d.Outcome, wrote: true}, nil
}

// publish commits txn so that at, seq and the applied index are never older than a view.
func (c *State) publish(txn *memdb.Txn, s Status, index uint64) {
	c.latest.seq.Store(s.Seq)
	c.latest.level.Store(s.Level)
	c.latest.halted.Store(s.Halted)
	c.rows.end()
	c.latest.at.Store(s.At)
	c.progress.advance(index, func() {
		txn.Commit()
		c.show()
	})
}

// Encode encodes a command in the form of the log, into buf.
func (c *State) Encode(cmd command.Command, id command.ID, again bool, buf *bytes.Buffer) (Encoded, error) {
	kind := cmd.Kind()
	if c.schema.commands[kind] == nil {
		return Encoded{}, fmt.Errorf("command kind %d (%T) is not in the machine's list", kind, cmd)
	}
	buf.Reset()
	if err := encoding.MarshalToBuffer(cmd, buf); err != nil {
		return Encoded{}, fmt.Errorf("encode command kind %d: %w", kind, err)
	}
	if buf.Len() > command.MaxBody {
		return Encoded{}, fmt.Errorf("command kind %d has %d bytes, more than %d", kind, buf.Len(), command.MaxBody)
	}
	e := Encoded{Kind: kind, ID: id, Body: buf.Bytes()}
	if again {
		e.Flags |= FlagAgain
	}
	if _, ok := cmd.(command.Ignorable); ok {
		e.Flags |= FlagIgnorable
	}
	return e, nil
}

// Decode returns the command that was encoded.
func (c *State) Decode(e *Encoded) (command.Command, error) {
	empty := c.schema.commands[e.Kind]
	if empty == nil {
		return nil, errUnknownKind
	}
	cmd := empty()
	if err := Unmarshal(e.Body, cmd); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return cmd, nil
}

// DecodeOutcome decodes the outcome of a command of a kind that another node decided.
func (c *State) DecodeOutcome(k command.Kind, b []byte) (any, error) {
	return c.schema.outcome(k, b)
}

// errUnknownKind stops a node that is older than an entry of its log.
var errUnknownKind = errors.New("kind is unknown to this version of the program, and not ignorable")
