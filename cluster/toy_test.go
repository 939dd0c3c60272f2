package cluster_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/hashicorp/go-memdb"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
)

// The toy machine: registers that are set, and counters that are raised by one
// who knows their value.

type register struct {
	Name  string     `cbor:"1,keyasint"`
	Value uint64     `cbor:"2,keyasint"`
	Last  command.ID `cbor:"3,keyasint"`
	At    int64      `cbor:"4,keyasint"`
	Seq   uint64     `cbor:"5,keyasint"`
	Pad   []byte     `cbor:"6,keyasint,omitempty"`
}

const (
	kindRaise  command.Kind = 1
	kindSet    command.Kind = 2
	kindForget command.Kind = 3
	kindHint   command.Kind = 4
)

// raise adds one to a register, if it has the value that the caller knows.
type raise struct {
	Name         string `cbor:"1,keyasint"`
	Known        uint64 `cbor:"2,keyasint"`
	ConfirmFresh bool   `cbor:"3,keyasint,omitempty"`

	Unauthenticated bool `cbor:"4,keyasint,omitempty"`
}

// raised is the outcome of raise.
type raised struct {
	OK    bool
	Value uint64
	Again bool
}

func (*raise) Kind() command.Kind { return kindRaise }

func (c *raise) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	old := find(txn, c.Name)
	if old.Last == m.ID {
		return command.Decision{Outcome: raised{OK: true, Value: old.Value, Again: m.Again}}
	}
	if old.Value != c.Known {
		return command.Decision{Outcome: raised{Value: old.Value, Again: m.Again}, ConfirmFresh: c.ConfirmFresh, Authenticated: !c.Unauthenticated}
	}
	row := &register{Name: c.Name, Value: old.Value + 1, Last: m.ID, At: m.At, Seq: m.Seq}
	return command.Decision{
		Outcome: raised{OK: true, Value: row.Value, Again: m.Again},
		Changes: []command.Change{{Table: "registers", Row: row}},
	}
}

// set writes a register whatever it holds, and may do so many times over.
type set struct {
	Name  string `cbor:"1,keyasint"`
	Value uint64 `cbor:"2,keyasint"`
	Pad   []byte `cbor:"3,keyasint,omitempty"`
	Times int    `cbor:"4,keyasint,omitempty"`
	Table string `cbor:"5,keyasint,omitempty"`

	ReuseDetected bool `cbor:"6,keyasint,omitempty"`
}

func (*set) Kind() command.Kind { return kindSet }

func (c *set) Decide(_ *memdb.Txn, m command.Meta) command.Decision {
	table := "registers"
	if c.Table != "" {
		table = c.Table
	}
	d := command.Decision{Outcome: m, ReuseDetected: c.ReuseDetected}
	for range max(c.Times, 1) {
		row := &register{Name: c.Name, Value: c.Value, Last: m.ID, At: m.At, Seq: m.Seq, Pad: c.Pad}
		d.Changes = append(d.Changes, command.Change{Table: table, Row: row})
	}
	return d
}

// forget deletes a register.
type forget struct {
	Name string `cbor:"1,keyasint"`
}

func (*forget) Kind() command.Kind { return kindForget }

func (c *forget) Decide(*memdb.Txn, command.Meta) command.Decision {
	return command.Decision{Changes: []command.Change{
		{Table: "registers", Row: &register{Name: c.Name}, Delete: true},
	}}
}

// hint may be skipped by a node that does not know it.
type hint struct {
	set
}

func (*hint) Kind() command.Kind { return kindHint }
func (*hint) Ignorable()         {}

func find(txn *memdb.Txn, name string) register {
	row, err := txn.First("registers", "id", name)
	if err != nil {
		panic(err)
	}
	if row == nil {
		return register{Name: name}
	}
	return *row.(*register)
}

// fixedNow is a clock that stands still.
func fixedNow() time.Time { return time.UnixMilli(1_800_000_000_000) }

func toy() cluster.Machine {
	tables := make(map[string]*memdb.TableSchema)
	rows := make(map[string]func() any)
	for _, name := range []string{"registers", "others"} {
		tables[name] = &memdb.TableSchema{
			Name: name,
			Indexes: map[string]*memdb.IndexSchema{
				"id": {Name: "id", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "Name"}},
			},
		}
		rows[name] = func() any { return new(register) }
	}
	return cluster.Machine{
		Tables: tables,
		Rows:   rows,
		Commands: map[command.Kind]func() command.Command{
			kindRaise:  func() command.Command { return new(raise) },
			kindSet:    func() command.Command { return new(set) },
			kindForget: func() command.Command { return new(forget) },
			kindHint:   func() command.Command { return new(hint) },
		},
		Outcome: func(k command.Kind, b []byte) (any, error) {
			if k == kindRaise {
				var r raised
				err := cbor.Unmarshal(b, &r)
				return r, err
			}
			var m command.Meta
			err := cbor.Unmarshal(b, &m)
			return m, err
		},
	}
}

// config is for a node in dir, a new one if it is empty.
func config(t testing.TB, dir string) cluster.Config {
	if dir == "" {
		dir = t.TempDir()
	}
	return cluster.Config{
		Dir:         dir,
		Bootstrap:   true,
		Machine:     toy(),
		Logger:      slog.New(slog.NewTextHandler(io.Discard, nil)),
		SegmentSize: 4 << 20,
		// A busy machine must not make a test fail.
		QueueTimeout:   20 * time.Second,
		ProposeTimeout: 20 * time.Second,
	}
}

// open starts a node that is closed with the test, if it was not before.
func open(t testing.TB, c cluster.Config) *cluster.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	n, err := cluster.Open(ctx, c)
	require.NoError(t, err)
	t.Cleanup(func() { shut(t, n) })
	return n
}

func shut(t testing.TB, n *cluster.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(t, n.Close(ctx))
}

// proposeRaise raises a register until it was this caller who did it.
func proposeRaise(ctx context.Context, n *cluster.Node, name string, known uint64) (raised, uint64, error) {
	v, index, err := n.Propose(ctx, &raise{Name: name, Known: known})
	if err != nil {
		return raised{}, 0, err
	}
	r, ok := v.(raised)
	if !ok {
		return raised{}, 0, errors.New("not the outcome of raise")
	}
	return r, index, nil
}

// entryAt returns a log entry of a running node.
func entryAt(t testing.TB, n *cluster.Node, index uint64) []byte {
	t.Helper()
	var l raft.Log
	require.NoError(t, n.Logs().GetLog(index, &l))
	return l.Data
}
