package replica

import (
	"github.com/fxamacker/cbor/v2"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Machine is the ledger as the cluster replicates it.
func Machine() cluster.Machine {
	return cluster.Machine{
		Tables:   ledger.Tables(),
		Rows:     ledger.Rows(),
		Commands: ledger.Commands(),
		Outcome: func(_ command.Kind, b []byte) (any, error) {
			var o ledger.Outcome
			err := Decode(b, &o)
			return o, err
		},
		Level: ledger.Level,
		Since: ledger.Since(),
	}
}

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
