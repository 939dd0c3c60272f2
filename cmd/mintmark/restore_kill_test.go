package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/restore"
	"github.com/mintmark-auth/mintmark/keys"
)

// killAt names the step of a restore after which this process kills itself.
const killAt = config.EnvTestPrefix + "KILL_AT"

// killedAt is a standard error that kills the process when the log record of a step is
// written. Since the logger waits for the writer, that step is done and the next has not
// begun.
type killedAt string

func (step killedAt) Write(record []byte) (int, error) {
	if bytes.Contains(record, fmt.Appendf(nil, "%q step=%s\n", restore.StepDone, string(step))) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return os.Stderr.Write(record)
}

// TestRestoreKilledAtEachStep: after a kill the node does not serve the partial restore.
// The error names what to delete, and the restore can be repeated. A restore that was
// killed after its last step is complete.
func TestRestoreKilledAtEachStep(t *testing.T) {
	n := newTestNode(t)
	state := n.backup()
	n.disable("alice")
	journal, old := n.journal(), n.key()
	n.close()
	own, err := keys.NewClusterKey(rand.Reader)
	require.NoError(t, err)
	o := admin.RestoreOptions{Journals: [][]byte{journal}, Keys: []admin.Plain{admin.Plain(old.Text())}}

	for _, step := range []string{"marked", "written", "opened", "begun", "replayed", "sealed", "done"} {
		t.Run(step, func(t *testing.T) {
			t.Setenv(killAt, step)
			w := newWaitingProcess(t, t.TempDir())
			require.NoError(t, own.WriteFile(filepath.Join(w.Dir, "cluster.key")))
			_, err := admin.RestoreBackup(t.Context(), w.operator(t), bytes.NewReader(state), o)
			require.Error(t, err, "the process was killed")
			require.Error(t, w.Process().Wait())
			require.Equal(t, syscall.SIGKILL, w.Process().Command.ProcessState.Sys().(syscall.WaitStatus).Signal())

			if step != "done" {
				require.ErrorContains(t, startsNot(t, w.Dir), "a restore was cut short here: delete")
				for _, name := range []string{"raft", "journal", "restoring"} {
					require.ErrorContains(t, startsNot(t, w.Dir), filepath.Join(w.Dir, name))
				}
				for _, name := range []string{"raft", "journal", "restoring"} {
					require.NoError(t, os.RemoveAll(filepath.Join(w.Dir, name)))
				}
			}
			c := startTestNodeIn(t, w.Dir)
			if step != "done" {
				_, err = c.restore(state, o)
				require.NoError(t, err)
			}
			c.await()
			require.True(t, c.disabled("alice"))
			for row := range c.view().Keys() {
				require.Equal(t, own.ID(), row.SealedUnder)
			}
			again := c.offlineJournal()
			r := waitingWith(t, old, own).preview(state, again)
			require.Empty(t, r.Gap, "the journal of the restored node is complete")
			require.NotEmpty(t, r.Changes)
		})
	}
}

// startsNot returns the error with which a node refuses to start on a folder.
func startsNot(t testing.TB, dir string) error {
	t.Helper()
	o := config.Default()
	o.DataDir, o.Name = dir, "n1"
	o.Listen, o.OpsListen, o.ClusterListen = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	c, err := server.FromOptions(&o, version, o.Logger(io.Discard))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err = server.Start(ctx, c)
	require.Error(t, err)
	return err
}

// waitingWith is newWaitingTestNode with an older key beside its own.
func waitingWith(t testing.TB, old, own keys.ClusterKey) *testNode {
	t.Helper()
	c := newWaitingTestNode(t, own)
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "cluster.key.old"), old.Text(), 0o600))
	return c
}
