package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"slices"
	"syscall"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
)

// checksumStore adds a checksum to every log entry on this node's disk, and ends the
// process if an entry that is read does not match.
//
// raft-wal does not verify what it reads from a sealed segment, and most bits of an entry
// can change without making it undecodable: an id, a digest, a time. The node would apply
// the changed entry at its next start, serve a state that no other node has, and send the
// entry to others when it leads. raft-wal's verifier does not find this: it reads entries
// once, after the checkpoint that follows them, and never again.
//
// The sum is at the end of the entry's extensions and never leaves the disk, so that
// other nodes need not know of it. An entry without a sum counts as damaged too.
type checksumStore struct{ *failStopStore }

// A sum is a magic number and the CRC-32C of the entry.
const (
	sumMagic = 0x6d6d73756d6d6564 // "mmsummed"
	sumSize  = 8 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged reports that a log entry is not what was written.
var ErrDamaged = errcode.New("log_damaged", "log entry is damaged on disk, and the node's data is unusable")

// StoreLog implements raft.LogStore.
func (s *checksumStore) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

// StoreLogs implements raft.LogStore. It does not change logs, which raft sends to other
// nodes.
func (s *checksumStore) StoreLogs(logs []*raft.Log) error {
	own, list := make([]raft.Log, len(logs)), make([]*raft.Log, len(logs))
	for i, l := range logs {
		own[i], list[i] = *l, &own[i]
		ext := slices.Clip(l.Extensions)
		ext = binary.BigEndian.AppendUint64(ext, sumMagic)
		own[i].Extensions = binary.BigEndian.AppendUint32(ext, entrySum(l))
	}
	return s.failStopStore.StoreLogs(list)
}

// GetLog implements raft.LogStore.
func (s *checksumStore) GetLog(index uint64, log *raft.Log) error {
	if err := s.failStopStore.GetLog(index, log); err != nil {
		return s.readError(index, err)
	}
	ext := log.Extensions
	at := len(ext) - sumSize
	if at < 0 || binary.BigEndian.Uint64(ext[at:]) != sumMagic {
		return s.damaged(index, errors.New("no checksum"))
	}
	if log.Extensions = ext[:at:at]; at == 0 {
		log.Extensions = nil
	}
	if log.Index != index || binary.BigEndian.Uint32(ext[at+8:]) != entrySum(log) {
		return s.damaged(index, errors.New("checksum mismatch"))
	}
	return nil
}

func (s *checksumStore) damaged(index uint64, why error) error {
	err := fmt.Errorf("read log entry %d (%w): %w", index, why, ErrDamaged)
	s.fatal(err)
	return err
}

// readError is the error of an entry that can't be read. An entry that exists and can't
// be decoded is damaged; raft would panic. An error of the operating system may not occur
// again after a restart.
func (s *checksumStore) readError(index uint64, err error) error {
	var path *fs.PathError
	var number syscall.Errno
	if errors.Is(err, raft.ErrLogNotFound) || errors.Is(err, wal.ErrClosed) || errors.As(err, &path) || errors.As(err, &number) {
		return err
	}
	return s.damaged(index, err)
}

// entrySum covers every field that raft and the state machine use.
func entrySum(l *raft.Log) uint32 {
	var head [25]byte
	binary.BigEndian.PutUint64(head[:], l.Index)
	binary.BigEndian.PutUint64(head[8:], l.Term)
	head[16] = byte(l.Type)
	binary.BigEndian.PutUint64(head[17:], uint64(len(l.Data)))
	sum := crc32.Update(0, castagnoli, head[:])
	sum = crc32.Update(sum, castagnoli, l.Data)
	return crc32.Update(sum, castagnoli, l.Extensions)
}
