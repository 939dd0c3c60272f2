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

// TestFullDiskTakesNoNewNode: a node reports a full disk at its start, not only when a
// cluster is created on it.
func TestFullDiskTakesNoNewNode(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	begins := func(ctx context.Context, mount string, more ...string) (string, error) {
		n := newNode(t, "n1")
		c := exec.CommandContext(ctx, "unshare", append([]string{
			"--user", "--map-root-user", "--mount", "sh", "-c", mount + ` && exec "$@"`, n.Dir, self,
			"serve", "--data-dir", filepath.Join(n.Dir, "data"), "--name", n.Name, "--listen", n.Public, "--ops-listen", n.Ops, "--cluster-listen", n.Raft,
		}, more...)...)
		c.Env = append(os.Environ(), runAs+"=mintmark")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	out, err := exec.Command("unshare", "--user", "--map-root-user", "--mount", "true").CombinedOutput()
	require.NoError(t, err, "the test needs user namespaces, to mount a file system of its own: %s", out)
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("x"), 0o600))
	small, large := `mount -t tmpfs -o size=1m,mode=700 tmpfs "$0"`, `mount -t tmpfs -o size=200m,mode=700 tmpfs "$0"`
	for name, row := range map[string]struct {
		mount string
		more  []string
	}{
		"small":                  {small, nil},
		"small and full":         {small + ` && ! cat /dev/zero > "$0/x"`, nil},
		"large and full":         {large + ` && ! cat /dev/zero > "$0/x"`, nil},
		"of one that joins":      {small, []string{"--join", "127.0.0.1:1", "--token-file", token}},
		"of one with an address": {small, []string{"--public-url", "https://id.example"}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			out, err := begins(ctx, row.mount, row.more...)
			require.Error(t, err)
			require.NoError(t, ctx.Err(), "the node waits instead of failing: %s", out)
			require.Contains(t, out, "create data folder: the disk under ")
			require.NotContains(t, out, "belongs to no cluster yet")
		})
	}
}
