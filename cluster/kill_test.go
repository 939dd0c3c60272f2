package cluster_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

const killDir = "CLUSTER_TEST_KILL_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killDir); dir != "" {
		victim(dir)
		return
	}
	os.Exit(m.Run())
}

// victim raises eight registers in a loop and prints each acknowledged value, until it is
// killed.
func victim(dir string) {
	n, err := cluster.Open(context.Background(), cluster.Config{
		Bootstrap: true,
		Dir:       dir, Machine: machinetest.Toy(), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		SegmentSize: 64 << 10, SnapshotInterval: 50 * time.Millisecond, SnapshotThreshold: 20,
	})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := strconv.Itoa(i)
			for known := machinetest.Find(n.View(), name).Value; ; known++ {
				r, _, err := proposeRaise(context.Background(), n, name, known)
				if err != nil || !r.OK {
					fmt.Println("error", r, err)
					os.Exit(1)
				}
				fmt.Println(name, r.Value) // a single write, so that a kill can't split a line
			}
		})
	}
	wg.Wait()
}

// TestKilledNodeKeepsItsWord: after SIGKILL and a restart, every acknowledged command is
// there and none was applied twice. The kernel survives, so lost disk writes are not
// tested.
func TestKilledNodeKeepsItsWord(t *testing.T) {
	t.Parallel()
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	dir := t.TempDir()
	acknowledged := make(map[string]uint64)
	for round := range rounds {
		runVictim(t, dir, 20+rand.IntN(600), acknowledged)
		require.Len(t, acknowledged, 8, "round %d", round)

		n := open(t, config(t, dir))
		for name, value := range acknowledged {
			has := machinetest.Find(n.View(), name).Value
			require.GreaterOrEqual(t, has, value, "register %s lost a raise", name)
			require.LessOrEqual(t, has, value+1, "register %s: only one raise was under way", name)
		}
		shut(t, n)
	}
}

// runVictim starts a victim and kills it after it has printed a number of lines.
func runVictim(t *testing.T, dir string, lines int, acknowledged map[string]uint64) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), killDir+"="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	in := bufio.NewScanner(out)
	for i := 0; in.Scan(); i++ {
		name, value, ok := strings.Cut(in.Text(), " ")
		require.True(t, ok && name != "error", "victim: %s", in.Text())
		acknowledged[name], err = strconv.ParseUint(value, 10, 64)
		require.NoError(t, err)
		if i == lines {
			require.NoError(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // killed
}
