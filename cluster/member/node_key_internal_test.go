package member

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/durable/durabletest"
)

// TestNodeKeyIsOnDisk: the content of the node key is on disk before its name, and both
// are on disk when the call returns.
func TestNodeKeyIsOnDisk(t *testing.T) {
	dir := t.TempDir()
	all := durabletest.Syncs(t)
	_, err := NodeKey(rand.Reader, dir)
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(dir, NodeKeyFile))
	require.NoError(t, err)
	require.Equal(t, []string{string(content), durabletest.Folder}, *all)
}
