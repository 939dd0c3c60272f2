package machine

import (
	"fmt"
	"io"

	"github.com/hashicorp/go-memdb"
)

// A Backup is the state at one moment.
type Backup struct {
	Seq   uint64 // of the last command in it
	At    int64  // state time, ms since the Unix epoch
	Index uint64 // in the log
	Level uint32 // feature level in use
	Rows  map[string]uint64

	// SharedSeq and Term are set by Salvage: the Seq up to which all nodes are known to
	// have the same decisions, and the term of the last entry of raft's log.
	SharedSeq, Term uint64

	core *State
	txn  *memdb.Txn
	stop <-chan struct{}
}

// Backup returns a Backup of the current state. Backup.Write ends early when stop is
// closed.
func (c *State) Backup(stop <-chan struct{}) (*Backup, error) {
	b := &Backup{core: c, stop: stop, Rows: make(map[string]uint64)}
	b.txn, b.Index = c.ViewIndex()
	s := ReadStatus(b.txn)
	b.Seq, b.At, b.Level = s.Seq, s.At, s.Level
	for name := range c.schema.tables {
		rows, err := b.txn.Get(name, "id")
		if err != nil {
			return nil, fmt.Errorf("read table %q: %w", name, err)
		}
		for rows.Next() != nil {
			b.Rows[name]++
		}
	}
	return b, nil
}

// View returns the state of the backup, for reading.
func (b *Backup) View() *memdb.Txn { return b.txn }

// Write writes the state, unencrypted.
func (b *Backup) Write(w io.Writer) error { return b.core.WriteSnapshot(w, b.txn, b.Index, b.stop) }
