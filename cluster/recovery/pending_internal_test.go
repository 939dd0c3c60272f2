package recovery

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/durable/durabletest"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
)

// TestPrivateFilesAreOnDisk: the content of each file is on disk before its name, and
// both are on disk when the call returns.
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

// TestForgottenRecoveryIsOnDisk: Forget is on disk when it returns. Otherwise the
// recovery would be handled twice after a crash.
func TestForgottenRecoveryIsOnDisk(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, write(dir, &Recovery{Seq: 7}, true))
	all := durabletest.Syncs(t)
	require.NoError(t, Forget(dir))
	require.Equal(t, []string{durabletest.Folder}, *all)
}
