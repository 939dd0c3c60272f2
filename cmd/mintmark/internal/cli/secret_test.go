package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSecretFilesOfOthers: a password or secret that others can read is refused,
// as a token is.
func TestSecretFilesOfOthers(t *testing.T) {
	c := newCLI(t)
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte("a long enough password\n"), 0o600))
	require.NoError(t, os.Chmod(file, 0o644))
	c.Fails(ExitLocal, "others can read", "user", "add", "dora", "--password-file", file)
	require.NoError(t, os.Chmod(file, 0o600))
	c.OK("", "user", "add", "dora", "--password-file", file)
}

// TestSecretNamesAndEnds: a secret has a name, and the old one ends after a rotation.
func TestSecretNamesAndEnds(t *testing.T) {
	c := newCLI(t)
	old := c.View().Client("cal-app").Secrets[0].ID
	c.Fails(ExitRefused, "last active secret", "client", "secret", "set", "cal-app", old, "--ends", "7d")
	c.Fails(ExitRefused, "--old-ends must be from 1h to 90d", "client", "secret", "add", "cal-app", "--old-ends", "91d")
	require.NotContains(t, c.OK("", "client", "secret", "list", "cal-app"), "NAME")

	made := c.OK("", "client", "secret", "add", "cal-app", "--name", "production, new", "--old-ends", "7d")
	require.True(t, c.authenticates("cal-app", strings.TrimSpace(made)))
	require.Equal(t, c.Now().Add(7*24*time.Hour), c.View().Client("cal-app").SecretOf(old).Ends)
	list := strings.Split(c.OK("", "client", "secret", "list", "cal-app"), "\n")
	require.Contains(t, list[0], "STATE")
	require.Contains(t, list[1], "active, ends ")
	require.Contains(t, list[2], "production, new")

	require.Contains(t, c.OK("", "client", "secret", "set", "cal-app", old, "--ends", "12h", "--name", "production, old"), "production, old")
	require.Equal(t, c.Now().Add(12*time.Hour), c.View().Client("cal-app").SecretOf(old).Ends)
	require.Contains(t, c.OK("", "client", "show", "cal-app"), "active, ends ")
	c.OK("", "client", "secret", "set", "cal-app", old, "--ends", "never")
	secret := c.View().Client("cal-app").SecretOf(old)
	require.Zero(t, secret.Ends)
	require.Equal(t, "production, old", secret.Name)
	c.OK("", "client", "secret", "set", "cal-app", old, "--name", "")
	require.Empty(t, c.View().Client("cal-app").SecretOf(old).Name)

	c.Fails(ExitLocal, "say what to change", "client", "secret", "set", "cal-app", old)
	c.Fails(ExitLocal, "--ends must be a duration such as 12h or 7d, or never", "client", "secret", "set", "cal-app", old, "--ends", "soon")
}
