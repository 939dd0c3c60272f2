package main

import (
	"os"
	"path/filepath"
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

// TestDamagedClusterKey is told what to do.
func TestDamagedClusterKey(t *testing.T) {
	c := newCell(t)
	c.close()
	path := filepath.Join(c.dir, "cluster.key")
	whole := readFile(t, path)
	for _, damaged := range [][]byte{{}, whole[:20]} {
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		_, err := start(t.Context(), c.conf)
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, "put back")
		require.NotContains(t, err.Error(), string(whole[:20]))
	}
}
