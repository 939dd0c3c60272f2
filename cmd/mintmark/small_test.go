package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSecretFilesOfOthers: a password or secret that others can read is refused,
// as a token is.
func TestSecretFilesOfOthers(t *testing.T) {
	c := newCLI(t)
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte("a long enough password\n"), 0o600))
	require.NoError(t, os.Chmod(file, 0o644))
	c.fails(exitLocal, "others can read", "user", "add", "dora", "--password-file", file)
	require.NoError(t, os.Chmod(file, 0o600))
	c.ok("", "user", "add", "dora", "--password-file", file)
}

// TestSecondInvitationSaysSo: the first token is worthless from then on.
func TestSecondInvitationSaysSo(t *testing.T) {
	c := newClusterCLI(t)
	r := c.run("", "cluster", "invite", "--name", "n4") // there is one for n4
	require.Equal(t, exitOK, r.code, r.err)
	require.Contains(t, r.err, "this token replaces an earlier one for node n4")
	require.NotContains(t, c.run("", "cluster", "invite", "--name", "n5").err, "this token replaces")
}
