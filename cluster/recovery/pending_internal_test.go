package recovery

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/durable/durabletest"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
)

// What a node can't do without is on disk, its content before its name, when the
// call returns.
func TestPrivateFilesAreOnDisk(t *testing.T) {
	for name, write := range map[string]func(dir string) error{
		integrity.CommitMarkerFile: func(dir string) error { return integrity.WriteCommitMarker(dir, integrity.Position{Index: 7, Term: 3}) },
		pendingFile:                func(dir string) error { return write(dir, &Recovery{Seq: 7}, false) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			all := durabletest.Syncs(t)
			require.NoError(t, write(dir))
			content, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			require.Equal(t, []string{string(content), durabletest.Folder}, *all)
		})
	}
}

// That a recovery was handled is on disk, or it would be handled twice.
func TestForgottenRecoveryIsOnDisk(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, write(dir, &Recovery{Seq: 7}, true))
	all := durabletest.Syncs(t)
	require.NoError(t, Forget(dir))
	require.Equal(t, []string{durabletest.Folder}, *all)
}
