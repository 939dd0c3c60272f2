package durable_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/durable"
	"github.com/mintmark-auth/mintmark/cluster/durable/durabletest"
)

// TestContentBeforeName: the content is on disk before the name, and both are on disk
// when the call returns.
func TestContentBeforeName(t *testing.T) {
	for name, write := range map[string]func(string, []byte) error{"create": durable.Create, "replace": durable.Replace} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			synced := durabletest.Syncs(t)
			require.NoError(t, write(path, []byte("text")))
			require.Equal(t, []string{"text", durabletest.Folder}, *synced)
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o600), info.Mode())
		})
	}
}

// TestCrashWhileAFileIsCreated: a name never leads to a part of the content.
func TestCrashWhileAFileIsCreated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	before := durable.Observer.Load()
	defer durable.Observer.Store(before)
	synced := 0
	see := func(f *os.File) {
		if synced++; synced == 1 {
			require.NoFileExists(t, path)
		}
	}
	durable.Observer.Store(&see)
	require.NoError(t, durable.Create(path, []byte("text")))
	require.Equal(t, 2, synced)
}

// If a file can't be written, the old content stays, and no other file is left.
func TestFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, durable.Create(path, []byte("one")))
	require.ErrorIs(t, durable.Create(path, []byte("two")), fs.ErrExist)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	require.Error(t, durable.Replace(filepath.Join(dir, "folder"), []byte("two")))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "one", string(text))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 2)
}
