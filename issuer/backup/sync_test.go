package backup_test

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/durable/durabletest"
	"github.com/mintmark-auth/mintmark/issuer/backup"
)

// TestBackupIsOnDisk verifies that content and name, in this order, are on disk when
// Create returns.
func TestBackupIsOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "backup")
	all := durabletest.Syncs(t)
	require.NoError(t, backup.Create(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "everything")
		return err
	}))
	require.Equal(t, []string{"everything", durabletest.Folder}, *all)
}
