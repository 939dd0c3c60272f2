package cluster

import (
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/durable/durabletest"
)

// What a node can't do without is on disk, its content before its name, when the
// call returns.
func TestPrivateFilesAreOnDisk(t *testing.T) {
	for name, write := range map[string]func(dir string) error{
		nodeKeyFile: func(dir string) error {
			_, err := nodeKey(rand.Reader, dir)
			return err
		},
		commitMarkerFile: func(dir string) error { return writeCommitMarker(dir, logPosition{7, 3}) },
		recoveryFile: func(dir string) error {
			return (&Node{config: Config{Dir: dir}}).writeRecovery(&Recovery{Seq: 7}, false)
		},
		metaSumFile: func(dir string) error {
			require.NoError(t, os.WriteFile(filepath.Join(dir, raftMetaFile), []byte("{}"), 0o600))
			return writeMetaSum(dir)
		},
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

// Raft syncs a snapshot's files; that they are there, and for nobody else, is on
// disk before the state is written.
func TestSnapshotFolderIsOnDisk(t *testing.T) {
	s, err := openSnapshots(t.TempDir(), newLogger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	all := durabletest.Syncs(t)
	sink, err := s.Create(raft.SnapshotVersionMax, 7, 1, raft.Configuration{}, 1, nil)
	require.NoError(t, err)
	sum, err := os.ReadFile(filepath.Join(s.dir, sink.ID()+".tmp", metaSumFile))
	require.NoError(t, err)
	require.Equal(t, []string{string(sum), durabletest.Folder, durabletest.Folder}, *all)
	require.NoError(t, sink.Cancel())
}

// That a recovery was taken note of is on disk, or it were taken note of twice.
func TestForgottenRecoveryIsOnDisk(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, (&Node{config: Config{Dir: dir}}).writeRecovery(&Recovery{Seq: 7}, true))
	all := durabletest.Syncs(t)
	require.NoError(t, ForgetRecovery(dir))
	require.Equal(t, []string{durabletest.Folder}, *all)
}
