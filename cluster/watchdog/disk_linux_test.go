package watchdog

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDiskFolderIsFull verifies that a write that the kernel refuses is reported.
func TestDiskFolderIsFull(t *testing.T) {
	dir := t.TempDir()
	d := &DiskFolder{Dir: dir}
	defer d.Close()
	require.NoError(t, os.Symlink("/dev/full", filepath.Join(dir, "probe")))
	require.ErrorIs(t, d.Probe(), syscall.ENOSPC)
	require.NoError(t, os.Remove(filepath.Join(dir, "probe")))
	require.NoError(t, d.Probe())
}
