package cluster

import (
	"fmt"

	"github.com/hashicorp/go-memdb"
)

const (
	statusTable = "cluster"
	statusID    = "cluster"
)

// status is the one row of the cluster's own table: what must survive a
// snapshot beside the tables of the machine. It is part of the checksum, so it
// holds nothing that depends on batch borders or on raft's indexes.
type status struct {
	At    int64  `cbor:"1,keyasint"`           // time of the last command, ms
	Seq   uint64 `cbor:"2,keyasint"`           // number of commands applied
	Level uint32 `cbor:"3,keyasint,omitempty"` // feature level all voters have
	// Halted is the sum of the times in which nothing could be decided, in
	// milliseconds: see Meta.Halted.
	Halted int64 `cbor:"4,keyasint,omitempty"`
}

// statusIndex gives the only row its only key.
type statusIndex struct{}

func (statusIndex) FromArgs(...any) ([]byte, error) { return []byte(statusID), nil }

func (statusIndex) FromObject(obj any) (bool, []byte, error) {
	if _, ok := obj.(*status); !ok {
		return false, nil, fmt.Errorf("not a status row: %T", obj)
	}
	return true, []byte(statusID), nil
}

func statusSchema() *memdb.TableSchema {
	return &memdb.TableSchema{
		Name:    statusTable,
		Indexes: map[string]*memdb.IndexSchema{"id": {Name: "id", Unique: true, Indexer: statusIndex{}}},
	}
}

// readStatus returns the zero status of an empty state.
func readStatus(txn *memdb.Txn) status {
	row, err := txn.First(statusTable, "id")
	if err != nil {
		panic(fmt.Sprintf("cluster: read own table: %v", err))
	}
	if row == nil {
		return status{}
	}
	return *row.(*status)
}
