package machine

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Memory is a machine without a log, for tests of its rules: it decides and writes with
// the code of a Node, encoding included. It is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex // serializes Do
	core  *State
	now   func() time.Time
	index uint64
}

// NewMemory returns an empty machine with the machine's own feature level. now stamps its
// commands. It panics if m is not valid.
func NewMemory(m Machine, now func() time.Time) *Memory {
	c := must(New(m, nil))
	c.minLevel = m.Level
	return &Memory{core: c, now: now}
}

// Do proposes a command. As on a Node, a command that would change nothing is answered
// without entering the log, and a re-proposal (again) always enters it. Do panics where a
// Node would return an error or stop, since its input is the text of a test.
func (m *Memory) Do(cmd command.Command, id command.ID, again bool) (value any, wrote bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now().UnixMilli()
	if !again {
		d := must(m.core.Preview(cmd, command.Meta{ID: id}, now))
		if len(d.Changes) == 0 {
			return d.Outcome, false
		}
	}
	var buf bytes.Buffer
	s := must(m.core.Encode(cmd, id, again, &buf))
	s.At = max(now, 0)
	out := must(m.apply(AppendCommand(AppendBatch(nil, 1), &s)))[0].Outcomes[0]
	return out.Value, out.wrote
}

// Halt records, as a leader does after an outage, that nothing could be decided for d
// until now.
func (m *Memory) Halt(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	must(m.apply(must(m.core.HaltEntry(command.ID{}, max(m.now().UnixMilli(), 0), d.Milliseconds()))))
}

// Apply applies log entries, which have their own times, in one transaction.
func (m *Memory) Apply(entries ...[]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.apply(entries...)
	return err
}

func (m *Memory) apply(entries ...[]byte) ([]Entry, error) {
	steps := make([]Entry, len(entries))
	for i, e := range entries {
		m.index++
		steps[i] = Entry{Index: m.index, Data: e}
	}
	return steps, m.core.Apply(steps)
}

// Save writes a snapshot of the state. As on a Node, commands continue meanwhile.
func (m *Memory) Save(w io.Writer) error {
	m.mu.Lock()
	view, index := m.core.View(), m.index
	m.mu.Unlock()
	return m.core.WriteSnapshot(w, view, index, nil)
}

// Load replaces the state by that of a snapshot. On an error the state is unchanged.
func (m *Memory) Load(r io.Reader) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.core.Restore(r)
	m.index = m.core.Applied()
	return err
}

// View returns a read transaction of the state.
func (m *Memory) View() *memdb.Txn { return m.core.View() }

// Changed returns a channel that is closed at the next change of table.
func (m *Memory) Changed(table string) <-chan struct{} { return m.core.Changed(table) }

// Checksum returns the hash of the whole state, see Node.Checksum.
func (m *Memory) Checksum() [32]byte {
	sum, _, err := m.core.Checksum()
	if err != nil {
		panic(fmt.Sprintf("machine: %v", err))
	}
	return sum
}
