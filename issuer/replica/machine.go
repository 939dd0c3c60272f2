package replica

import (
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Machine returns the ledger as a state machine for the cluster.
func Machine() machine.Machine {
	return machine.Machine{
		Tables:   ledger.Tables(),
		Rows:     ledger.Rows(),
		Derived:  &machine.Derived{Table: ledger.TableCurrent, From: ledger.CurrentFrom(), Make: ledger.Current},
		Commands: ledger.Commands(),
		Outcome: func(_ command.Kind, b []byte) (any, error) {
			var o ledger.Outcome
			err := machine.Unmarshal(b, &o)
			return o, err
		},
		Level: ledger.Level,
		Since: ledger.Since(),
	}
}
