package cluster

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Memory is a machine without a log, for tests of its rules: it decides and
// writes with the code that a Node runs, encoding included. It is safe for
// concurrent use.
type Memory struct {
	mu    sync.Mutex // serializes Do
	core  *core
	now   func() time.Time
	index uint64
}

// NewMemory returns an empty machine whose leader stamps commands with now, and
// which has the machine's own feature level. It panics when m is not valid.
func NewMemory(m Machine, now func() time.Time) *Memory {
	c := must(newCore(m))
	c.minLevel = m.Level
	return &Memory{core: c, now: now}
}

// Do proposes a command. As on a Node, a command that would change nothing is
// answered without entering the log, and a re-proposal (again) always enters
// it. It panics where a Node would return an error or stop: what it is given is
// the text of a test.
func (m *Memory) Do(cmd command.Command, id command.ID, again bool) (value any, wrote bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now().UnixMilli()
	if !again {
		d := must(m.core.preview(cmd, command.Meta{ID: id}, now))
		if len(d.Changes) == 0 {
			return d.Outcome, false
		}
	}
	var buf bytes.Buffer
	s := must(m.core.schema.encodeCommand(cmd, id, again, &buf))
	s.at = max(now, 0)
	out := m.apply(appendCommand(appendBatch(nil, 1), &s))
	return out[0].value, out[0].wrote
}

// Halt records that nothing could be decided for d, which ends now, as a leader does
// after an outage.
func (m *Memory) Halt(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.apply(must(m.core.schema.haltEntry(command.ID{}, max(m.now().UnixMilli(), 0), d.Milliseconds())))
}

// apply gives one entry to the machine.
func (m *Memory) apply(entry []byte) []outcome {
	m.index++
	steps := []logEntry{{index: m.index, data: entry}}
	if err := m.core.apply(steps); err != nil {
		panic(fmt.Sprintf("cluster: %v", err))
	}
	return steps[0].outcomes
}

// Save writes a snapshot of the state, as a Node does: it holds up no command.
func (m *Memory) Save(w io.Writer) error {
	m.mu.Lock()
	view, index := m.core.view(), m.index
	m.mu.Unlock()
	return m.core.schema.writeSnapshot(w, view, index, nil)
}

// Load replaces the state by that of a snapshot. Where it fails the state is
// as it was.
func (m *Memory) Load(r io.Reader) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.core.restore(r)
	m.index = m.core.progress.applied()
	return err
}

// View returns the state as a read transaction.
func (m *Memory) View() *memdb.Txn { return m.core.view() }

// Changed returns a channel that is closed at the next change of table.
func (m *Memory) Changed(table string) <-chan struct{} { return m.core.changed(table) }

// Checksum returns the hash of the whole state, see Node.Checksum.
func (m *Memory) Checksum() [32]byte {
	sum, _, err := m.core.checksum()
	if err != nil {
		panic(fmt.Sprintf("cluster: %v", err))
	}
	return sum
}
