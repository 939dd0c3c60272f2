package main

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCommandsDoNotHangWithTheirNode: a process that was stopped keeps its
// socket, takes connections and answers nothing there.
func TestCommandsDoNotHangWithTheirNode(t *testing.T) {
	n := newCluster(t, "n1")
	require.NoError(t, n.command.Process.Signal(syscall.SIGSTOP))
	file := filepath.Join(t.TempDir(), "backup")
	for _, args := range [][]string{
		{"user", "list"}, {"cluster", "status"}, {"cluster", "backup", "save", file}, {"client", "show", "x"},
	} {
		began := time.Now()
		r := n.operate(t, append(args, "--timeout", "400ms")...)
		require.Equal(t, exitUnreachable, r.code, "%v: %s", args, r.err)
		require.Contains(t, r.err, "the node does not answer", "%v", args)
		require.Less(t, time.Since(began), 10*time.Second, "%v", args)
	}
	require.NoFileExists(t, file)
	require.NoError(t, n.command.Process.Signal(syscall.SIGCONT))
	require.True(t, n.waitReady(30*time.Second))
	require.Equal(t, exitOK, n.operate(t, "user", "list", "--timeout", "10s").code)
}
