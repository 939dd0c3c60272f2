package restore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/durable/durabletest"
	"github.com/mintmark-auth/mintmark/issuer/restore"
)

// TestMarkIsOnDisk verifies that creating and removing the mark are on disk when the call
// returns: a power failure must not leave a partial restore without its mark.
func TestMarkIsOnDisk(t *testing.T) {
	dir := t.TempDir()
	all := durabletest.Syncs(t)
	require.NoError(t, restore.Mark(dir))
	require.Equal(t, []string{"", durabletest.Folder}, *all)
	require.ErrorContains(t, restore.RefuseInterrupted(dir), "a restore was cut short here")
	*all = nil
	require.NoError(t, restore.Unmark(dir))
	require.Equal(t, []string{durabletest.Folder}, *all)
	require.NoError(t, restore.RefuseInterrupted(dir))
}
