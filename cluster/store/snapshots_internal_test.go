package store

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/durable/durabletest"
)

// The names of a snapshot's files, with a mode for their owner only, are on disk before
// the state is written.
func TestSnapshotFolderIsOnDisk(t *testing.T) {
	s, err := OpenSnapshots(t.TempDir(), NewLogger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	all := durabletest.Syncs(t)
	sink, err := s.Create(raft.SnapshotVersionMax, 7, 1, raft.Configuration{}, 1, nil)
	require.NoError(t, err)
	sum, err := os.ReadFile(filepath.Join(s.dir, sink.ID()+".tmp", metaSumFile))
	require.NoError(t, err)
	require.Equal(t, []string{string(sum), durabletest.Folder, durabletest.Folder}, *all)
	require.NoError(t, sink.Cancel())
}

// The checksum of a snapshot's metadata is on disk, its content before its name, when the
// call returns.
func TestMetaSumIsOnDisk(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, raftMetaFile), []byte("{}"), 0o600))
	all := durabletest.Syncs(t)
	require.NoError(t, writeMetaSum(dir))
	content, err := os.ReadFile(filepath.Join(dir, metaSumFile))
	require.NoError(t, err)
	require.Equal(t, []string{string(content), durabletest.Folder}, *all)
}
