package store

import (
	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"
)

// NewVoteStore wraps a stable store.
func NewVoteStore(s raft.StableStore) raft.StableStore { return &voteStore{StableStore: s} }

// NewFailStopStore is the lowest layer above the log on disk.
func NewFailStopStore(w *wal.WAL, fatal func(error)) raft.LogStore { return &failStopStore{w, fatal} }

// NewChecksumStore is the layer above failStopStore.
func NewChecksumStore(w *wal.WAL, fatal func(error)) raft.LogStore {
	return &checksumStore{&failStopStore{w, fatal}}
}

// NewCommittedGuard is the layer above checksumStore.
func NewCommittedGuard(w *wal.WAL, fatal func(error), committed func() uint64) raft.LogStore {
	return &committedGuard{&checksumStore{&failStopStore{w, fatal}}, committed}
}

// NewWALMetaStore returns the meta store of a node's log.
func NewWALMetaStore(files *segment.Filer) types.MetaStore {
	return &walMetaStore{BoltMetaDB: new(metadb.BoltMetaDB), filer: files}
}
