package cli

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
	c.Fails(ExitLocal, "others can read", "user", "add", "dora", "--password-file", file)
	require.NoError(t, os.Chmod(file, 0o600))
	c.OK("", "user", "add", "dora", "--password-file", file)
}
