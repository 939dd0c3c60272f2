package keys_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/durable/durabletest"
	"github.com/mintmark-auth/mintmark/keys"
)

// TestClusterKeyIsOnDisk verifies that content and name, in this order, are on disk when
// WriteFile returns, since a cluster may be sealed under the key immediately after.
func TestClusterKeyIsOnDisk(t *testing.T) {
	key, err := keys.NewClusterKey(bytes.NewReader(bytes.Repeat([]byte{7}, 64)))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "cluster.key")
	all := durabletest.Syncs(t)
	require.NoError(t, key.WriteFile(path))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, []string{string(content), durabletest.Folder}, *all)
}
