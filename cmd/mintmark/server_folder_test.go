package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSecondProcess finds the data in use before it touches any of it.
func TestSecondProcess(t *testing.T) {
	c := newCell(t)
	require.NoError(t, c.s.journal.Flush())
	segments, err := filepath.Glob(filepath.Join(c.dir, "journal", "*.journal"))
	require.NoError(t, err)
	require.NotEmpty(t, segments)
	path := segments[len(segments)-1]
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("half a write")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	before := readFile(t, path)

	_, err = start(t.Context(), c.conf)
	require.ErrorContains(t, err, "another process")
	require.Equal(t, before, readFile(t, path))
}

// TestDamagedClusterKey is told what to do, and names no key.
func TestDamagedClusterKey(t *testing.T) {
	c := newCell(t)
	c.close()
	path := filepath.Join(c.dir, "cluster.key")
	whole := readFile(t, path)
	for what, damaged := range damages(whole) {
		require.NoError(t, os.RemoveAll(path))
		if damaged != nil {
			require.NoError(t, os.WriteFile(path, damaged, 0o600))
		}
		_, err := start(t.Context(), c.conf)
		require.ErrorContains(t, err, "cluster.key", what)
		require.Regexp(t, "put (the key )?back", err.Error(), what)
		require.NotContains(t, err.Error(), string(whole[:20]), what)
	}
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	c.start()
	c.await()
}

// TestDamagedJournal does not keep a node from its start. What the journal lacks
// then is a gap of which a restore says so: nothing that was taken away comes back
// unsaid.
func TestDamagedJournal(t *testing.T) {
	c := newCell(t)
	state := c.backup()
	c.disable("alice")
	require.NoError(t, c.s.journal.Flush())
	c.close()
	saved := t.TempDir()
	require.NoError(t, os.CopyFS(saved, os.DirFS(c.dir)))
	key := readFile(t, filepath.Join(saved, "cluster.key"))
	w := startCell(t)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "cluster.key"), key, 0o600))

	files, err := filepath.Glob(filepath.Join(saved, "journal", "*"))
	require.NoError(t, err)
	require.Len(t, files, 3, "a file of which nobody knows what happens when it is damaged: %v", files)
	for _, file := range files {
		for what, damaged := range damages(readFile(t, file)) {
			t.Run(filepath.Base(file)+" "+what, func(t *testing.T) {
				dir := t.TempDir()
				require.NoError(t, os.CopyFS(dir, os.DirFS(saved)))
				for _, name := range []string{"cluster.key", "raft/node.key"} {
					require.NoError(t, os.Chmod(filepath.Join(dir, name), 0o600))
				}
				path := filepath.Join(dir, "journal", filepath.Base(file))
				require.NoError(t, os.RemoveAll(path))
				if damaged != nil {
					require.NoError(t, os.WriteFile(path, damaged, 0o600))
				}
				d := startCellIn(t, dir)
				d.await()
				require.True(t, d.disabled("alice"))
				r := w.preview(state, d.journal())
				require.True(t, r.Gap != "" || slices.ContainsFunc(r.Changes, func(line string) bool {
					return strings.Contains(line, "alice")
				}), "%+v", r)
			})
		}
	}
}

// damages are what may become of a file; nil is one that is gone.
func damages(whole []byte) map[string][]byte {
	all := map[string][]byte{"gone": nil, "emptied": {}, "half": whole[:len(whole)/2]}
	for i := 0; i < len(whole); i += max(1, len(whole)/5) {
		changed := bytes.Clone(whole)
		changed[i] ^= 1
		all[fmt.Sprint("bit of byte ", i)] = changed
	}
	return all
}
