package cli

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/durable/durabletest"
)

// TestReaderIsOnDisk when the command returns: the secret of a resource server is shown
// once, and must not be lost in a power cut.
func TestReaderIsOnDisk(t *testing.T) {
	all := durabletest.Syncs(t)
	require.NoError(t, appendLine(filepath.Join(t.TempDir(), "readers"), "calendar:00"))
	require.Equal(t, []string{"calendar:00\n"}, *all)
}
