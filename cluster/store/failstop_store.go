package store

import (
	"fmt"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
)

// failStopStore ends the process when the log on disk can't be written.
//
// raft-wal is of no use after an append that failed for want of a descriptor
// or of space: each later one fails too ("segment is sealed"), also when there
// is room again. A node that went on would elect itself and step down for
// ever, refusing everything, while its process looks alive; hashicorp/raft
// #503 and #614 are the like. Started again it opens a log that is whole, see
// walMetaStore.
type failStopStore struct {
	*wal.WAL
	fatal func(error)
}

// StoreLog implements raft.LogStore.
func (f *failStopStore) StoreLog(log *raft.Log) error { return f.check(f.WAL.StoreLog(log)) }

// StoreLogs implements raft.LogStore.
func (f *failStopStore) StoreLogs(logs []*raft.Log) error { return f.check(f.WAL.StoreLogs(logs)) }

func (f *failStopStore) check(err error) error {
	if err != nil {
		f.fatal(fmt.Errorf("write the log: %w", err))
	}
	return err
}
