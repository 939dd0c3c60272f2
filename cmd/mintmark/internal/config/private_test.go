package config

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFilesForAGroup: a file that root owns may be readable by its group, if the process
// doesn't run as root.
func TestFilesForAGroup(t *testing.T) {
	require.True(t, forGroup(0, 10001))
	require.False(t, forGroup(0, 0))
	require.False(t, forGroup(10001, 10001))
	path := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	for mode, private := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o660: false} {
		require.NoError(t, os.Chmod(path, mode))
		f, err := os.Open(path)
		require.NoError(t, err)
		info, err := f.Stat()
		require.NoError(t, err)
		require.EqualValues(t, os.Geteuid(), info.Sys().(*syscall.Stat_t).Uid)
		require.Equal(t, private, RequirePrivate(f, "key", "") == nil, "%o", mode)
		require.NoError(t, f.Close())
	}
}

// TestNamedPipes: a named pipe that nobody writes to is refused at once, not waited for.
func TestNamedPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err := ReadSecretFile(pipe, "")
	require.ErrorContains(t, err, pipe+" is not a regular file")
	_, err = (&Upstream{SecretFile: pipe}).Secret(func(string) string { return "" })
	require.ErrorContains(t, err, pipe+" is not a regular file")

	link := pipe + ".link"
	require.NoError(t, os.WriteFile(pipe+".secret", []byte("secret\n"), 0o600))
	require.NoError(t, os.Symlink(pipe+".secret", link))
	secret, err := ReadSecretFile(link, "")
	require.NoError(t, err)
	require.EqualValues(t, "secret", secret)
}
