package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// committedFile holds the index and the term of an entry that is committed, and
// a checksum of both.
//
// Without it nobody could tell that the end of the log is gone, so a node that
// has made it needs it. It is made as a whole and synced before raft first runs,
// and written in place from then on, its few bytes at once: a kill leaves the old
// ones or the new ones, and so does a loss of power, as they lie in one sector.
const committedFile = "committed"

const committedSize = 20

// keyNoted is set in the stable store, beside the votes, once the file exists.
const keyNoted = "Noted"

var errNoNote = errors.New("damaged")

func encodeNote(p logPosition) []byte {
	b := make([]byte, 0, committedSize)
	b = binary.BigEndian.AppendUint64(b, p.index)
	b = binary.BigEndian.AppendUint64(b, p.term)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// readCommitted returns what the file of a folder says. The error is
// os.ErrNotExist or errNoNote where it says nothing.
func readCommitted(dir string) (logPosition, error) {
	b, err := os.ReadFile(filepath.Join(dir, committedFile))
	if err != nil {
		return logPosition{}, fmt.Errorf("read what is committed: %w", err)
	}
	if len(b) != committedSize || crc32.ChecksumIEEE(b[:16]) != binary.BigEndian.Uint32(b[16:]) {
		return logPosition{}, errNoNote
	}
	return logPosition{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}, nil
}

// mayKnow is readCommitted for where there need be no note: the position is zero.
func mayKnow(dir string) (logPosition, error) {
	p, err := readCommitted(dir)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errNoNote) {
		err = nil
	}
	return p, err
}

// known is what this node's folder says. The error is ErrDataLost where it had a
// note and has none.
func (n *Node) known() (logPosition, error) {
	made, err := n.noteMade()
	if err != nil {
		return logPosition{}, err
	}
	if !made {
		return mayKnow(n.config.Dir)
	}
	p, err := readCommitted(n.config.Dir)
	var what string
	switch {
	case errors.Is(err, os.ErrNotExist):
		what = "gone"
	case errors.Is(err, errNoNote):
		what = "damaged"
	default:
		return p, err
	}
	return p, fmt.Errorf("%s is %s, and without it nobody can tell whether the log still has all that this node knew. "+
		"If no other node is left, mintmark cluster recover goes on with what is here; otherwise: %w",
		filepath.Join(n.config.Dir, committedFile), what, ErrDataLost)
}

func (n *Node) noteMade() (bool, error) {
	made, err := n.stores.stable.Get([]byte(keyNoted))
	if err != nil {
		return false, fmt.Errorf("read whether there is a note of what is committed: %w", err)
	}
	return len(made) > 0, nil
}

// makeNote creates the file in a folder that never had a complete one, because no
// node ran there or its first start was interrupted. From then on a start without
// the file fails.
func (n *Node) makeNote(known logPosition) error {
	made, err := n.noteMade()
	if err != nil || made {
		return err
	}
	if err := replaceNote(n.config.Dir, known); err != nil {
		return err
	}
	if err := n.stores.stable.Set([]byte(keyNoted), []byte{1}); err != nil {
		return fmt.Errorf("write that there is a note of what is committed: %w", err)
	}
	return nil
}

// replaceNote puts a note in the place of what was there.
func replaceNote(dir string, p logPosition) error {
	if err := durable.Replace(filepath.Join(dir, committedFile), encodeNote(p)); err != nil {
		return fmt.Errorf("note what is committed: %w", err)
	}
	return nil
}
