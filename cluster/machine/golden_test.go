package machine_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldenCommands is a fixed mix of commands: writes, refusals, repetitions, deletions,
// and commands that this version does not know.
func goldenCommands(n int) []machine.Encoded {
	var cmds []machine.Encoded
	for i := range n {
		c := machine.Encoded{
			ID: command.ID{byte(i), byte(i >> 8)}, At: 1_700_000_000_000 + int64(i*37%1000),
		}
		name := fmt.Sprint("r", i%17)
		switch i % 7 {
		case 0, 1, 2:
			c.Kind, c.Body = machinetest.KindRaise, machinetest.Encode(&machinetest.Raise{Name: name, Known: uint64(i / 40)})
		case 3, 4:
			c.Kind, c.Body = machinetest.KindSet, machinetest.Encode(&machinetest.Set{Name: name, Value: uint64(i / 40), Pad: []byte(name)})
		case 5:
			c.Kind, c.Body = machinetest.KindForget, machinetest.Encode(&machinetest.Forget{Name: name})
		case 6:
			c.Kind, c.Flags, c.Body = 999, machine.FlagIgnorable, []byte{byte(i)}
		}
		if i%11 == 0 {
			c.Flags |= machine.FlagAgain
		}
		cmds = append(cmds, c)
	}
	return cmds
}

// TestGolden replays a log of the first version and restores its snapshot. If it fails,
// nodes of two versions would differ, or old logs could not be read: add a version
// instead of rewriting the files.
func TestGolden(t *testing.T) {
	const logFile, snapshotFile, sumFile = "testdata/log.hex", "testdata/snapshot.hex", "testdata/checksum.txt"
	if *update {
		writeGolden(t, logFile, snapshotFile, sumFile)
	}
	sum, err := os.ReadFile(sumFile)
	require.NoError(t, err)
	want := strings.TrimSpace(string(sum))

	replayed := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
	for _, entry := range readHex(t, logFile) {
		require.NoError(t, replayed.Apply(entry))
	}
	require.Equal(t, want, fmt.Sprintf("%x", replayed.Checksum()), "the log")

	snapshot := bytes.Join(readHex(t, snapshotFile), nil)
	restored := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
	require.NoError(t, restored.Load(bytes.NewReader(snapshot)))
	require.Equal(t, want, fmt.Sprintf("%x", restored.Checksum()), "the snapshot")

	var again bytes.Buffer
	require.NoError(t, replayed.Save(&again))
	require.Equal(t, snapshot, again.Bytes(), "the format of snapshots")
}

func writeGolden(t *testing.T, logFile, snapshotFile, sumFile string) {
	m := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
	var log [][]byte
	cmds := goldenCommands(400)
	for i := 0; len(cmds) > 0; i++ {
		n := min(1+i*5%23, len(cmds))
		log = append(log, machinetest.Entry(cmds[:n]...))
		cmds = cmds[n:]
		if i%4 == 3 {
			log = append(log, machine.CheckpointEntry())
		}
	}
	for _, entry := range log {
		require.NoError(t, m.Apply(entry))
	}
	var snapshot bytes.Buffer
	require.NoError(t, m.Save(&snapshot))
	require.NoError(t, os.MkdirAll("testdata", 0o755))
	writeHex(t, logFile, log)
	var lines [][]byte
	for b := snapshot.Bytes(); len(b) > 0; b = b[min(64, len(b)):] {
		lines = append(lines, b[:min(64, len(b))])
	}
	writeHex(t, snapshotFile, lines)
	require.NoError(t, os.WriteFile(sumFile, fmt.Appendf(nil, "%x\n", m.Checksum()), 0o644))
}

func writeHex(t *testing.T, name string, lines [][]byte) {
	var out strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&out, "%x\n", l)
	}
	require.NoError(t, os.WriteFile(name, []byte(out.String()), 0o644))
}

func readHex(t *testing.T, name string) [][]byte {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	var lines [][]byte
	for line := range strings.Lines(string(text)) {
		b, err := hex.DecodeString(strings.TrimSpace(line))
		require.NoError(t, err)
		lines = append(lines, b)
	}
	return lines
}
