package backup_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/backup"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.backup")
	require.NoError(t, backup.Create(path, func(w io.Writer) error {
		require.NoError(t, text("half")(w))
		assert.NoFileExists(t, path, "the name exists before the file is complete")
		for _, name := range names(t, dir) {
			info, err := os.Stat(filepath.Join(dir, name))
			require.NoError(t, err)
			assert.Equal(t, fs.FileMode(0o600), info.Mode())
		}
		return text(" and half")(w)
	}))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "half and half", string(data))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
	assert.Equal(t, []string{"state.backup"}, names(t, dir))

	t.Chdir(dir)
	require.NoError(t, backup.Create("other", text("x")), "a path without folder is in the current one")
	assert.Equal(t, []string{"other", "state.backup"}, names(t, dir))
}

func TestCreateNeverOverwrites(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"file":      func(path string) error { return os.WriteFile(path, []byte("theirs"), 0o600) },
		"folder":    func(path string) error { return os.Mkdir(path, 0o700) },
		"dead link": func(path string) error { return os.Symlink("nowhere", path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "b")
			require.NoError(t, take(path))
			before, err := os.Lstat(path)
			require.NoError(t, err)
			err = backup.Create(path, func(io.Writer) error {
				assert.Fail(t, "write was called although the name exists")
				return nil
			})
			require.ErrorIs(t, err, fs.ErrExist)

			late := filepath.Join(dir, "late")
			err = backup.Create(late, func(io.Writer) error { return take(late) })
			require.ErrorIs(t, err, fs.ErrExist)
			assert.Equal(t, []string{"b", "late"}, names(t, dir))
			after, err := os.Lstat(path)
			require.NoError(t, err)
			assert.True(t, os.SameFile(before, after))
		})
	}
}

func TestCreateLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b")
	broken := errors.New("disk on fire")
	require.ErrorIs(t, backup.Create(path, func(w io.Writer) error {
		require.NoError(t, text("half")(w))
		return broken
	}), broken)
	assert.Empty(t, names(t, dir))
	assert.Panics(t, func() { _ = backup.Create(path, func(io.Writer) error { panic("bug") }) })
	assert.Empty(t, names(t, dir))
	require.ErrorIs(t, backup.Create(filepath.Join(dir, "none", "b"), text("x")), fs.ErrNotExist)
}
