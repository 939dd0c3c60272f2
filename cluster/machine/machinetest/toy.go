package machinetest

import (
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// Register is a row of the toy machine.
type Register struct {
	Name  string     `cbor:"1,keyasint"`
	Value uint64     `cbor:"2,keyasint"`
	Last  command.ID `cbor:"3,keyasint"`
	At    int64      `cbor:"4,keyasint"`
	Seq   uint64     `cbor:"5,keyasint"`
	Pad   []byte     `cbor:"6,keyasint,omitempty"`
}

// The kinds of the toy machine.
const (
	KindRaise  command.Kind = 1
	KindSet    command.Kind = 2
	KindForget command.Kind = 3
	KindHint   command.Kind = 4
)

// Raise increments a register if the caller knows its value.
type Raise struct {
	Name         string `cbor:"1,keyasint"`
	Known        uint64 `cbor:"2,keyasint"`
	ConfirmFresh bool   `cbor:"3,keyasint,omitempty"`

	Unauthenticated bool `cbor:"4,keyasint,omitempty"`
}

// Raised is the outcome of Raise.
type Raised struct {
	OK    bool
	Value uint64
	Again bool
}

// Kind implements command.Command.
func (*Raise) Kind() command.Kind { return KindRaise }

// Decide implements command.Command.
func (c *Raise) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	old := Find(txn, c.Name)
	if old.Last == m.ID {
		return command.Decision{Outcome: Raised{OK: true, Value: old.Value, Again: m.Again}}
	}
	if old.Value != c.Known {
		return command.Decision{Outcome: Raised{Value: old.Value, Again: m.Again}, ConfirmFresh: c.ConfirmFresh, Authenticated: !c.Unauthenticated}
	}
	row := &Register{Name: c.Name, Value: old.Value + 1, Last: m.ID, At: m.At, Seq: m.Seq}
	return command.Decision{
		Outcome: Raised{OK: true, Value: row.Value, Again: m.Again},
		Changes: []command.Change{{Table: "registers", Row: row}},
	}
}

// Set writes a register unconditionally, and may be repeated.
type Set struct {
	Name  string `cbor:"1,keyasint"`
	Value uint64 `cbor:"2,keyasint"`
	Pad   []byte `cbor:"3,keyasint,omitempty"`
	Times int    `cbor:"4,keyasint,omitempty"`
	Table string `cbor:"5,keyasint,omitempty"`

	ReuseDetected bool `cbor:"6,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*Set) Kind() command.Kind { return KindSet }

// Decide implements command.Command.
func (c *Set) Decide(_ *memdb.Txn, m command.Meta) command.Decision {
	table := "registers"
	if c.Table != "" {
		table = c.Table
	}
	d := command.Decision{Outcome: m, ReuseDetected: c.ReuseDetected}
	for range max(c.Times, 1) {
		row := &Register{Name: c.Name, Value: c.Value, Last: m.ID, At: m.At, Seq: m.Seq, Pad: c.Pad}
		d.Changes = append(d.Changes, command.Change{Table: table, Row: row})
	}
	return d
}

// Forget deletes a register.
type Forget struct {
	Name string `cbor:"1,keyasint"`
}

// Kind implements command.Command.
func (*Forget) Kind() command.Kind { return KindForget }

// Decide implements command.Command.
func (c *Forget) Decide(*memdb.Txn, command.Meta) command.Decision {
	return command.Decision{Changes: []command.Change{
		{Table: "registers", Row: &Register{Name: c.Name}, Delete: true},
	}}
}

// Hint is a command that a node may skip if it does not know it.
type Hint struct {
	Set
}

// Kind implements command.Command.
func (*Hint) Kind() command.Kind { return KindHint }

// Ignorable implements command.Ignorable.
func (*Hint) Ignorable() {}

// Find returns a register, with no value if there is none.
func Find(txn *memdb.Txn, name string) Register {
	row, err := txn.First("registers", "id", name)
	if err != nil {
		panic(err)
	}
	if row == nil {
		return Register{Name: name}
	}
	return *row.(*Register)
}

// FixedNow is a clock that always returns the same time.
func FixedNow() time.Time { return time.UnixMilli(1_800_000_000_000) }

// Toy returns the toy machine: tables "registers" and "others".
func Toy() machine.Machine {
	tables := make(map[string]*memdb.TableSchema)
	rows := make(map[string]func() any)
	for _, name := range []string{"registers", "others"} {
		tables[name] = &memdb.TableSchema{
			Name: name,
			Indexes: map[string]*memdb.IndexSchema{
				"id": {Name: "id", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "Name"}},
			},
		}
		rows[name] = func() any { return new(Register) }
	}
	return machine.Machine{
		Tables: tables,
		Rows:   rows,
		Commands: map[command.Kind]func() command.Command{
			KindRaise:  func() command.Command { return new(Raise) },
			KindSet:    func() command.Command { return new(Set) },
			KindForget: func() command.Command { return new(Forget) },
			KindHint:   func() command.Command { return new(Hint) },
		},
		Outcome: func(k command.Kind, b []byte) (any, error) {
			if k == KindRaise {
				var r Raised
				err := cbor.Unmarshal(b, &r)
				return r, err
			}
			var m command.Meta
			err := cbor.Unmarshal(b, &m)
			return m, err
		},
	}
}
