package issuer

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
			err := decoding.Unmarshal(b, &o)
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
	d := e.Command.Decide(ledger.At(txn), ledgerMeta(m))
	out := command.Decision{Outcome: d.Outcome, ConfirmFresh: d.ConfirmFresh, Authenticated: d.Authenticated, ReuseDetected: d.ReuseDetected}
	if len(d.Changes) > 0 {
		out.Changes = make([]command.Change, len(d.Changes))
		for i, c := range d.Changes {
			out.Changes[i] = command.Change(c)
		}
	}
	return out
}

func ledgerMeta(m command.Meta) ledger.Meta {
	return ledger.Meta{ID: ledger.CommandID(m.ID), Seq: m.Seq, At: ledger.Time(m.At), Again: m.Again, Level: m.Level, Halted: m.Halted}
}

var encoding = func() cbor.EncMode {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err) // depends on the program text only
	}
	return mode
}()

// MarshalCBOR writes the command itself: an Entry adds nothing to the log.
func (e *Entry) MarshalCBOR() ([]byte, error) { return encoding.Marshal(e.Command) }

// decoding takes back whatever encoding wrote. Text that a stranger sent may
// be no UTF-8; it is refused by rules, not by a log that can't be read.
var decoding = func() cbor.DecMode {
	mode, err := cbor.DecOptions{UTF8: cbor.UTF8DecodeInvalid}.DecMode()
	if err != nil {
		panic(err) // as above
	}
	return mode
}()

// UnmarshalCBOR reads into the empty command that Machine made.
func (e *Entry) UnmarshalCBOR(b []byte) error { return decoding.Unmarshal(b, e.Command) }
