package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMakeClusterSaysThatItFailed: the script fails if its nodes do not start, for
// example because their ports are taken, even though nodes of another run answer its
// commands.
func TestMakeClusterSaysThatItFailed(t *testing.T) {
	script, err := filepath.Abs("e2e/three-nodes")
	require.NoError(t, err)
	dir := t.TempDir()
	fake := filepath.Join(dir, "mintmark")
	require.NoError(t, os.WriteFile(fake, []byte(`#!/bin/sh
[ "$1" != serve ] || { echo "listen: address already in use" >&2; exit 1; }
echo done
`), 0o700))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", script)
	c.Dir, c.Env = dir, append(os.Environ(), "MINTMARK="+fake)
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s", out)
	require.Equal(t, 1, exit.ExitCode(), "%s", out)
	require.Contains(t, string(out), "address already in use")
	require.NotContains(t, string(out), "A first token")
}
