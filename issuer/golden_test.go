package issuer_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/replica"
)

var update = flag.Bool("update", false, "write anew the golden logs of the newest level")

// golden are the logs of each level, testdata/golden/LEVEL-NAME.log, each with a snapshot
// of its final state. Those of a level are frozen once a version with it is released: an
// upgraded node reads what its predecessor wrote, and must decide in the same way. If the
// test fails after that, add a level and keep the old rules below it; -update then creates
// the logs of the new level only.
var golden = map[string]func() []goldenStep{"commands": goldenEveryCommand, "keys": goldenKeys, "restore": goldenRestore, "pages": goldenPages, "trail": goldenTrail, "operators": goldenOperators, "resources": goldenResources, "backups": goldenBackups, "hashes": goldenHashes, "agents": goldenAgents, "usage": goldenUsage, "secrets": goldenSecrets, "brand": goldenBrand, "draft": goldenDraft, "feed": goldenFeed}

// A goldenStep is a command and the time since the previous one.
type goldenStep struct {
	after   time.Duration
	command command.Command
}

// seconds returns steps one second apart, except for two kinds that take effect only later.
func seconds(commands ...command.Command) (steps []goldenStep) {
	for _, c := range commands {
		after := time.Second
		switch c.Kind() {
		case ledger.KindTouchSession:
			after += time.Hour
		case ledger.KindSweep:
			after += 48 * time.Hour
		}
		steps = append(steps, goldenStep{after, c})
	}
	return steps
}

// A line of a golden log is a step: milliseconds since the previous one, kind, command,
// outcome, and the beginning of the checksum of the state after it.
const goldenLine = "%d %d %s %s %s"

func TestGoldenLogs(t *testing.T) {
	for level := uint32(1); level <= ledger.Level; level++ {
		missing := machineOf(level).Commands
		for name := range golden {
			file := filepath.Join("testdata", "golden", fmt.Sprintf("%d-%s", level, name))
			if *update && level == ledger.Level {
				writeGolden(t, file, level, golden[name]())
			}
			t.Run(filepath.Base(file), func(t *testing.T) {
				for kind := range playGolden(t, file, level) {
					delete(missing, command.Kind(kind))
				}
			})
		}
		require.Empty(t, missing, "kinds without effect in the golden logs of level %d", level)
	}
}

// playGolden replays a log and reads its snapshot, and returns the kinds of commands that
// changed something.
func playGolden(t *testing.T, file string, level uint32) map[command.Kind]bool {
	log, err := os.Open(file + ".log")
	require.NoError(t, err)
	defer log.Close()
	w := newGoldenEnv(level)
	changed := map[command.Kind]bool{}
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var after int64
		var kind command.Kind
		var body, outcome, sum string
		_, err := fmt.Sscanf(lines.Text(), goldenLine, &after, &kind, &body, &outcome, &sum)
		require.NoError(t, err)
		raw, err := hex.DecodeString(body)
		require.NoError(t, err)
		c := machineOf(level).Commands[kind]()
		require.NoError(t, machine.Unmarshal(raw, c))
		again, err := machine.Marshal(c)
		require.NoError(t, err)
		require.Equal(t, body, hex.EncodeToString(again), "%T is encoded differently", c)
		result, wrote := w.do(t, goldenStep{time.Duration(after) * time.Millisecond, c})
		require.Equal(t, outcome, result, "outcome of command %d, %T", w.n, c)
		require.Equal(t, sum, w.sum(), "state after command %d, %T", w.n, c)
		if wrote {
			changed[kind] = true
		}
	}
	require.NoError(t, lines.Err())

	want, err := os.ReadFile(file + ".snapshot")
	require.NoError(t, err)
	var saved bytes.Buffer
	require.NoError(t, w.memory.Save(&saved))
	require.Equal(t, want, saved.Bytes(), "the format of snapshots has changed")
	restored := newGoldenEnv(level)
	require.NoError(t, restored.memory.Load(bytes.NewReader(want)))
	require.Equal(t, w.sum(), restored.sum(), "the snapshot has another state")
	return changed
}

func writeGolden(t *testing.T, file string, level uint32, steps []goldenStep) {
	w := newGoldenEnv(level)
	var out strings.Builder
	for _, s := range steps {
		if machineOf(level).Commands[command.Kind(s.command.Kind())] == nil {
			continue // of a later level
		}
		body, err := machine.Marshal(s.command)
		require.NoError(t, err)
		outcome, wrote := w.do(t, s)
		fmt.Fprintf(&out, "# %d %T%s\n", w.n, s.command, map[bool]string{false: ": nothing changed"}[wrote])
		fmt.Fprintf(&out, goldenLine+"\n", s.after.Milliseconds(), s.command.Kind(), hex.EncodeToString(body), outcome, w.sum())
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file+".log", []byte(out.String()), 0o644))
	var snapshot bytes.Buffer
	require.NoError(t, w.memory.Save(&snapshot))
	require.NoError(t, os.WriteFile(file+".snapshot", snapshot.Bytes(), 0o644))
}

// A goldenEnv is a state with a clock.
type goldenEnv struct {
	memory *machine.Memory
	now    time.Time
	n      byte // of commands
}

func newGoldenEnv(level uint32) *goldenEnv {
	w := &goldenEnv{now: time.UnixMilli(1_800_000_000_000)}
	w.memory = machine.NewMemory(machineOf(level), func() time.Time { return w.now })
	return w
}

func (w *goldenEnv) do(t *testing.T, s goldenStep) (outcome string, wrote bool) {
	t.Helper()
	w.now = w.now.Add(s.after)
	w.n++
	value, wrote := w.memory.Do(s.command, command.ID{w.n}, false)
	mode, err := cbor.CoreDetEncOptions().EncMode()
	require.NoError(t, err)
	text, err := mode.Marshal(value)
	require.NoError(t, err)
	return hex.EncodeToString(text), wrote
}

func (w *goldenEnv) sum() string {
	sum := w.memory.Checksum()
	return hex.EncodeToString(sum[:8])
}

// machineOf returns the machine in a cluster of a level, which is that of its oldest
// program.
func machineOf(level uint32) machine.Machine {
	m := replica.Machine()
	m.Level = level
	for kind, since := range m.Since {
		if since > level {
			delete(m.Since, kind)
			delete(m.Commands, kind)
		}
	}
	return m
}
