package recovery

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mintmark-auth/mintmark/cluster/durable"
	"github.com/mintmark-auth/mintmark/cluster/errcode"
)

// Commands that only the lost nodes acknowledged, and commands that the survivor decides
// after a recovery, have the same positions. Data outside the log that refers to positions
// must distinguish them. So a recovery leaves a file in the folder until the issuer has
// handled it.

// A Recovery is a recovery that the issuer has not handled yet.
type Recovery struct {
	ID [16]byte // random; it does not change when the folder is opened
	// Seq is that of the last command that the lost nodes are known to have decided
	// too. The survivor may have more in its log that only it had.
	Seq uint64
	// Attached is the argument of Recover; nil if there was none.
	Attached []byte
}

const pendingFile = "recovered"

// record is what the file holds. It is there before anything is changed.
type record struct {
	ID       string `json:"id"`
	Seq      uint64 `json:"seq"`
	Done     bool   `json:"done"`
	Attached []byte `json:"attached,omitempty"`
}

// ErrInterrupted is returned for a folder in which Recover was interrupted: it must
// run again.
var ErrInterrupted = errcode.New("recovery_interrupted", "a recovery of this folder was interrupted")

// Pending returns the recovery of a folder that has not been handled yet, nil if there
// is none.
func Pending(dir string) (*Recovery, error) {
	r, done, err := read(dir)
	if err == nil && r != nil && !done {
		err = ErrInterrupted
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Forget is called when a recovery was handled.
func Forget(dir string) error {
	if err := os.Remove(filepath.Join(dir, pendingFile)); err != nil {
		return fmt.Errorf("forget recovery: %w", err)
	}
	return durable.SyncDir(dir)
}

func read(dir string) (r *Recovery, done bool, err error) {
	path := filepath.Join(dir, pendingFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read pending recovery: %w", err)
	}
	var text record
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

// begin records a recovery that begins. One that is pending, or was interrupted,
// continues: what it recorded of the lost nodes holds.
func begin(dir string, rand io.Reader, seq uint64, attached []byte) error {
	r, _, err := read(dir)
	if err != nil {
		return err
	}
	if r == nil {
		r = &Recovery{Seq: seq}
		if _, err := io.ReadFull(rand, r.ID[:]); err != nil {
			return fmt.Errorf("generate recovery id: %w", err)
		}
	}
	if attached != nil {
		r.Attached = attached
	}
	return write(dir, r, false)
}

// complete lets the folder be opened again.
func complete(dir string) error {
	r, _, err := read(dir)
	if err != nil {
		return err
	}
	return write(dir, r, true)
}

func write(dir string, r *Recovery, done bool) error {
	b, err := json.Marshal(record{ID: hex.EncodeToString(r.ID[:]), Seq: r.Seq, Done: done, Attached: r.Attached})
	if err == nil {
		err = durable.Replace(filepath.Join(dir, pendingFile), append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write pending recovery: %w", err)
	}
	return nil
}
