package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// core is the machine without its log: the state, and the one way to change it.
// The FSM of a Node and a Memory run the same core.
//
// apply and restore are called by one goroutine at a time; everything else may
// be called by any.
type core struct {
	schema   *schema
	db       atomic.Pointer[memdb.MemDB] // replaced by a restore
	at       atomic.Int64                // status.At, never behind what a view shows
	seq      atomic.Uint64               // status.Seq
	level    atomic.Uint32               // status.Level
	halted   atomic.Int64                // status.Halted
	progress progress
	watches  watches

	minLevel uint32           // level of a state that has none: of a Memory
	decoded  []encodedCommand // buffer of apply
	observer ApplyObserver    // may be nil
}

func newCore(m Machine) (*core, error) {
	s, err := compile(m)
	if err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	c := &core{schema: s}
	c.db.Store(s.open())
	return c, nil
}

// view is what readers see.
func (c *core) view() *memdb.Txn { return c.db.Load().Txn(false) }

// preview decides on a view without writing. The outcome of an allowed command
// may still change until the log decides.
func (c *core) preview(cmd command.Command, m command.Meta, now int64) (command.Decision, error) {
	txn := c.view()
	// After the view, so that they are not older than its rows.
	m.Seq = c.seq.Load() + 1
	m.At = max(now, c.at.Load())
	m.Level = max(c.level.Load(), c.minLevel)
	m.Halted = c.halted.Load()
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

// logEntry is one log entry given to apply.
type logEntry struct {
	index    uint64 // in the log
	data     []byte
	outcomes []outcome // set by apply, one for each command
}

// outcome is what one command came to.
type outcome struct {
	value any
	wrote bool
}

// apply decides and writes the commands of some entries in one transaction.
// An error means that the state can't be carried on: the entry is damaged, of a
// newer version, or breaks a promise of the machine. Nothing is written then.
func (c *core) apply(steps []logEntry) error {
	txn := c.db.Load().Txn(true)
	defer txn.Abort()
	was := readStatus(txn)
	now := was
	changed := make(map[string]struct{}, 4)
	for i := range steps {
		s := &steps[i]
		if len(s.data) > 0 && s.data[0] == entryCheckpoint {
			continue
		}
		cmds, err := decodeBatch(s.data, c.decoded[:0])
		if err != nil {
			return fmt.Errorf("log entry %d: %w", s.index, err)
		}
		c.decoded = cmds
		s.outcomes = make([]outcome, len(cmds))
		for j := range cmds {
			s.outcomes[j], err = c.applyOne(txn, &now, &cmds[j], changed)
			if err != nil {
				return fmt.Errorf("log entry %d, command %d of kind %d: %w", s.index, j, cmds[j].kind, err)
			}
		}
	}
	if now != was {
		if err := txn.Insert(statusTable, &now); err != nil {
			return fmt.Errorf("write own table: %w", err)
		}
	}
	c.publish(txn, now, steps[len(steps)-1].index)
	c.watches.fire(changed)
	return nil
}

// applyOne decides one command on what the commands before it left.
func (c *core) applyOne(txn *memdb.Txn, now *status, s *encodedCommand, changed map[string]struct{}) (outcome, error) {
	now.Seq++
	now.At = max(now.At, s.at)
	empty := c.schema.commands[s.kind]
	if empty == nil {
		if s.ignorable() {
			return outcome{}, nil
		}
		return outcome{}, errUnknownKind
	}
	cmd := empty()
	if err := decoding.Unmarshal(s.body, cmd); err != nil {
		return outcome{}, fmt.Errorf("decode: %w", err)
	}
	m := command.Meta{ID: s.id, Seq: now.Seq, At: now.At, Again: s.again(), Level: max(now.Level, c.minLevel), Halted: now.Halted}
	d := cmd.Decide(txn, m)
	if c.observer != nil {
		c.observer.Applied(txn, cmd, d, m)
	}
	if len(d.Changes) == 0 {
		return outcome{value: d.Outcome}, nil
	}
	if err := c.schema.check(d.Changes); err != nil {
		return outcome{}, err
	}
	if err := write(txn, d.Changes); err != nil {
		return outcome{}, err
	}
	for i := range d.Changes {
		changed[d.Changes[i].Table] = struct{}{}
		if s, ok := d.Changes[i].Row.(*status); ok {
			now.Level, now.Halted = s.Level, s.Halted // the rest of the row is this function's
		}
	}
	if now.Level > c.schema.level {
		return outcome{}, levelError(now.Level, c.schema.level)
	}
	return outcome{value: d.Outcome, wrote: true}, nil
}

// levelError stops a node that is older than its cluster.
func levelError(has, supports uint32) error {
	return fmt.Errorf("the cluster uses feature level %d, and this version of the program has %d: upgrade it", has, supports)
}

// publish commits txn so that at, seq and the applied index are never behind a
// view that shows them.
func (c *core) publish(txn *memdb.Txn, s status, index uint64) {
	c.at.Store(s.At)
	c.seq.Store(s.Seq)
	c.level.Store(s.Level)
	c.halted.Store(s.Halted)
	c.progress.advance(index, txn.Commit)
}

// encodeCommand encodes a command as it will stand in the log, into buf.
func (s *schema) encodeCommand(cmd command.Command, id command.ID, again bool, buf *bytes.Buffer) (encodedCommand, error) {
	kind := cmd.Kind()
	if s.commands[kind] == nil {
		return encodedCommand{}, fmt.Errorf("command kind %d (%T) is not in the machine's list", kind, cmd)
	}
	buf.Reset()
	if err := encoding.MarshalToBuffer(cmd, buf); err != nil {
		return encodedCommand{}, fmt.Errorf("encode command kind %d: %w", kind, err)
	}
	if buf.Len() > command.MaxBody {
		return encodedCommand{}, fmt.Errorf("command kind %d is %d bytes long, more than %d", kind, buf.Len(), command.MaxBody)
	}
	c := encodedCommand{kind: kind, id: id, body: buf.Bytes()}
	if again {
		c.flags |= flagAgain
	}
	if _, ok := cmd.(command.Ignorable); ok {
		c.flags |= flagIgnorable
	}
	return c, nil
}

// errUnknownKind stops a node that is older than the log it reads.
var errUnknownKind = errors.New("unknown to this version of the program, and not marked as one that may be skipped")
