package integrity

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/mintmark-auth/mintmark/cluster/durable"
	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// CommitMarkerFile holds the index and the term of an entry that is committed, and
// a checksum of both.
//
// It detects a log whose end is lost, so a node that has had the file requires it. The file
// is created and synced before raft first runs, and then overwritten in place with a single
// write within one sector: after a kill or a loss of power it has the old or the new content.
const CommitMarkerFile = "commit-marker"

const commitMarkerSize = 20

var errDamagedCommitMarker = errors.New("damaged")

func encodeCommitMarker(p Position) []byte {
	b := make([]byte, 0, commitMarkerSize)
	b = binary.BigEndian.AppendUint64(b, p.Index)
	b = binary.BigEndian.AppendUint64(b, p.Term)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// readCommitMarker reads the commit marker of a folder. The error wraps os.ErrNotExist if
// there is none, and is errDamagedCommitMarker if its content is invalid.
func readCommitMarker(dir string) (Position, error) {
	b, err := os.ReadFile(filepath.Join(dir, CommitMarkerFile))
	if err != nil {
		return Position{}, fmt.Errorf("read commit marker: %w", err)
	}
	if len(b) != commitMarkerSize || crc32.ChecksumIEEE(b[:16]) != binary.BigEndian.Uint32(b[16:]) {
		return Position{}, errDamagedCommitMarker
	}
	return Position{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}, nil
}

// ReadOptionalCommitMarker is readCommitMarker, but returns the zero position if the file is
// missing or damaged.
func ReadOptionalCommitMarker(dir string) (Position, error) {
	p, err := readCommitMarker(dir)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errDamagedCommitMarker) {
		err = nil
	}
	return p, err
}

// LoadCommitMarker reads the commit marker of this node. The error wraps ErrDataLost if the
// folder had a marker and has none.
func (f *Folder) LoadCommitMarker() (Position, error) {
	made, err := f.hasCommitMarker()
	if err != nil {
		return Position{}, err
	}
	if !made {
		return ReadOptionalCommitMarker(f.dir)
	}
	p, err := readCommitMarker(f.dir)
	var what string
	switch {
	case errors.Is(err, os.ErrNotExist):
		what = "gone"
	case errors.Is(err, errDamagedCommitMarker):
		what = "damaged"
	default:
		return p, err
	}
	return p, fmt.Errorf("%s is %s: %w: %w", filepath.Join(f.dir, CommitMarkerFile), what, ErrNoCommitMarker, store.ErrDataLost)
}

// ErrNoCommitMarker reports that the commit marker is gone or damaged.
var ErrNoCommitMarker = errcode.New("no_commit_marker", "without it, whether the log is complete can not be verified")

func (f *Folder) hasCommitMarker() (bool, error) {
	made, err := f.Store.Stable.Get([]byte(store.KeyCommitMarker))
	if err != nil {
		return false, fmt.Errorf("read whether there is a commit marker: %w", err)
	}
	return len(made) > 0, nil
}

// CreateCommitMarker creates the file in a folder that never had a complete one, because no
// node ran there or its first start was interrupted. From then on a start without
// the file fails.
func (f *Folder) CreateCommitMarker(known Position) error {
	made, err := f.hasCommitMarker()
	if err != nil || made {
		return err
	}
	if err := WriteCommitMarker(f.dir, known); err != nil {
		return err
	}
	if err := f.Store.Stable.Set([]byte(store.KeyCommitMarker), []byte{1}); err != nil {
		return fmt.Errorf("record that there is a commit marker: %w", err)
	}
	return nil
}

// WriteCommitMarker creates or replaces the commit marker of a folder.
func WriteCommitMarker(dir string, p Position) error {
	if err := durable.Replace(filepath.Join(dir, CommitMarkerFile), encodeCommitMarker(p)); err != nil {
		return fmt.Errorf("write commit marker: %w", err)
	}
	return nil
}
