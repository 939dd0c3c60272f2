package machine

import (
	"fmt"

	"github.com/hashicorp/go-memdb"
)

const (
	// StatusTable has one row, a Status.
	StatusTable = "cluster"
	statusID    = "cluster"
)

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

// statusIndex gives the only row its only key.
type statusIndex struct{}

func (statusIndex) FromArgs(...any) ([]byte, error) { return []byte(statusID), nil }

func (statusIndex) FromObject(obj any) (bool, []byte, error) {
	if _, ok := obj.(*Status); !ok {
		return false, nil, fmt.Errorf("not a status row: %T", obj)
	}
	return true, []byte(statusID), nil
}

func statusSchema() *memdb.TableSchema {
	return &memdb.TableSchema{
		Name:    StatusTable,
		Indexes: map[string]*memdb.IndexSchema{"id": {Name: "id", Unique: true, Indexer: statusIndex{}}},
	}
}

// ReadStatus returns the status row, or the zero Status of an empty state.
func ReadStatus(txn *memdb.Txn) Status {
	row, err := txn.First(StatusTable, "id")
	if err != nil {
		panic(fmt.Sprintf("machine: read status row: %v", err))
	}
	if row == nil {
		return Status{}
	}
	return *row.(*Status)
}
