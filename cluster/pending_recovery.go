package cluster

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// What the nodes that are lost went on to acknowledge, and what the survivor
// decides from now on, have the same positions. Whoever keeps something beside
// the log that names positions must tell the two apart. So a recovery leaves a
// file in the folder, which lies there until it was taken note of.

// A Recovery is one that nobody has taken note of yet.
type Recovery struct {
	ID [16]byte // random; the same however often the folder is opened
	// Seq is that of the last command of which it is known that the nodes that
	// are lost decided the same one. The survivor may have some more in its log
	// that only it had.
	Seq uint64
	// Attached is the argument of Recover; nil if there was none.
	Attached []byte
}

const recoveryFile = "recovered"

// recoveryRecord is what the file holds. It is there before anything is changed.
type recoveryRecord struct {
	ID       string `json:"id"`
	Seq      uint64 `json:"seq"`
	Done     bool   `json:"done"`
	Attached []byte `json:"attached,omitempty"`
}

// PendingRecovery returns the recovery of the folder of a node that nobody has taken
// note of yet, nil if there is none.
func PendingRecovery(dir string) (*Recovery, error) {
	r, done, err := readRecovery(dir)
	if err == nil && r != nil && !done {
		err = errors.New("a recovery was cut short here: run mintmark cluster recover again")
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// ForgetRecovery is called when a recovery was taken note of for good.
func ForgetRecovery(dir string) error {
	if err := os.Remove(filepath.Join(dir, recoveryFile)); err != nil {
		return fmt.Errorf("forget the recovery: %w", err)
	}
	return durable.SyncDir(dir)
}

func readRecovery(dir string) (r *Recovery, done bool, err error) {
	path := filepath.Join(dir, recoveryFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("look for a recovery: %w", err)
	}
	var text recoveryRecord
	if err := json.Unmarshal(b, &text); err != nil {
		return nil, false, fmt.Errorf("read %s: %w", path, err)
	}
	r = &Recovery{Seq: text.Seq, Attached: text.Attached}
	id, err := hex.DecodeString(text.ID)
	if err != nil || len(id) != len(r.ID) {
		return nil, false, fmt.Errorf("%s does not hold the id of a recovery", path)
	}
	copy(r.ID[:], id)
	return r, text.Done, nil
}

// beginRecovery notes a recovery that begins. One that nobody has taken note of
// since, or that was cut short, goes on: what it said of the lost nodes holds.
func (n *Node) beginRecovery(seq uint64, attached []byte) error {
	r, _, err := readRecovery(n.config.Dir)
	if err != nil {
		return err
	}
	if r == nil {
		r = &Recovery{Seq: seq}
		if _, err := io.ReadFull(n.config.Rand, r.ID[:]); err != nil {
			return fmt.Errorf("make the id of a recovery: %w", err)
		}
	}
	if attached != nil {
		r.Attached = attached
	}
	return n.writeRecovery(r, false)
}

// completeRecovery has the folder opened again.
func (n *Node) completeRecovery() error {
	r, _, err := readRecovery(n.config.Dir)
	if err != nil {
		return err
	}
	return n.writeRecovery(r, true)
}

func (n *Node) writeRecovery(r *Recovery, done bool) error {
	b, err := json.Marshal(recoveryRecord{ID: hex.EncodeToString(r.ID[:]), Seq: r.Seq, Done: done, Attached: r.Attached})
	if err == nil {
		err = durable.Replace(filepath.Join(n.config.Dir, recoveryFile), append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("note the recovery: %w", err)
	}
	return nil
}
