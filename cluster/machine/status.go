package machine

import (
	"fmt"

	"github.com/hashicorp/go-memdb"
)

// StatusTable has one row, a Status.
const StatusTable = "cluster"

// Status is the one row of the cluster's own table: data that must survive a snapshot
// beside the tables of the machine. It is part of the checksum, so it has nothing that
// depends on batch borders or on raft's indexes.
type Status struct {
	At    int64  `cbor:"1,keyasint"`           // time of the last command, ms
	Seq   uint64 `cbor:"2,keyasint"`           // number of commands applied
	Level uint32 `cbor:"3,keyasint,omitempty"` // feature level that all voters support
	// Halted is command.Meta.Halted.
	Halted int64 `cbor:"4,keyasint,omitempty"`
}

// onlyArgs finds the only row of a table. Without an argument memdb would walk the table.
var onlyArgs = []any{true}

// ReadStatus returns the status row, or the zero Status of an empty state.
func ReadStatus(txn *memdb.Txn) Status {
	row, err := txn.First(StatusTable, "id", onlyArgs...)
	if err != nil {
		panic(fmt.Sprintf("machine: read status row: %v", err))
	}
	if row == nil {
		return Status{}
	}
	return *row.(*Status)
}
