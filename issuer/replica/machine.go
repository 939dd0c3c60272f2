package replica

import (
	"github.com/fxamacker/cbor/v2"
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Level is the feature level of this program: what an older node would not know
// or get wrong is used only where every node's program has its level.
const Level = ledger.Level

// Machine is the ledger as the cluster replicates it.
func Machine() cluster.Machine {
	m := cluster.Machine{
		Tables:   ledger.Tables(),
		Rows:     ledger.Rows(),
		Commands: map[command.Kind]func() command.Command{},
		Outcome: func(_ command.Kind, b []byte) (any, error) {
			var o ledger.Outcome
			err := Decode(b, &o)
			return o, err
		},
		Level: Level,
		Since: map[command.Kind]uint32{},
	}
	for kind, level := range ledger.Since() {
		m.Since[command.Kind(kind)] = level
	}
	for kind, empty := range ledger.Commands() {
		m.Commands[command.Kind(kind)] = func() command.Command { return &Entry{empty()} }
	}
	return m
}

// An Entry is a ledger's command as the cluster sees it.
type Entry struct{ Command ledger.Command }

// Kind is the command's number in the log.
func (e *Entry) Kind() command.Kind { return command.Kind(e.Command.Kind()) }

// Decide is the ledger's decision; its Outcome is a ledger.Outcome.
func (e *Entry) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	d := e.Command.Decide(ledger.At(txn), Meta(m))
	out := command.Decision{Outcome: d.Outcome, ConfirmFresh: d.ConfirmFresh, Authenticated: d.Authenticated, ReuseDetected: d.ReuseDetected}
	if len(d.Changes) > 0 {
		out.Changes = make([]command.Change, len(d.Changes))
		for i, c := range d.Changes {
			out.Changes[i] = command.Change(c)
		}
	}
	return out
}

// Meta is what the log says of a command, in the words of the ledger.
func Meta(m command.Meta) ledger.Meta {
	return ledger.Meta{ID: ledger.CommandID(m.ID), Seq: m.Seq, At: ledger.Time(m.At), Again: m.Again, Level: m.Level, Halted: m.Halted}
}

// MarshalCBOR writes the command itself: an Entry adds nothing to the log.
func (e *Entry) MarshalCBOR() ([]byte, error) { return Encode(e.Command) }

// UnmarshalCBOR reads into the empty command that Machine made.
func (e *Entry) UnmarshalCBOR(b []byte) error { return Decode(b, e.Command) }

var encoding = must(cbor.CoreDetEncOptions().EncMode())

// decoding refuses doubled keys of a map, which could be read in two ways. Text that a
// stranger sent may be no UTF-8: rules refuse it, since an entry that can't be decoded
// would stop every node.
var decoding = must(cbor.DecOptions{DupMapKey: cbor.DupMapKeyEnforcedAPF, UTF8: cbor.UTF8DecodeInvalid}.DecMode())

// Encode writes a command, an outcome or a record of the journal.
func Encode(v any) ([]byte, error) { return encoding.Marshal(v) }

// Decode reads what Encode wrote.
func Decode(b []byte, v any) error { return decoding.Unmarshal(b, v) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // depends on the program text only
	}
	return v
}
