package store

import (
	"fmt"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
)

// failStopStore ends the process when the log on disk can't be written.
//
// After an append that failed for lack of file descriptors or space, raft-wal fails every
// later one too ("segment is sealed"), even when there is room again. A node that kept
// running would be elected and step down repeatedly and refuse everything, while its
// process looks alive (compare hashicorp/raft #503 and #614). After a restart it opens an
// intact log, see walMetaStore.
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
		f.fatal(fmt.Errorf("write log: %w", err))
	}
	return err
}
