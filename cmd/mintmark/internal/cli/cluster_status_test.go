package cli

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
)

func TestBackupLine(t *testing.T) {
	now := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	last := &admin.SavedBackup{Node: "n2", File: "/backups/mintmark-n2-000003-20261103T060000Z.backup", At: now.Add(-6 * time.Hour), Bytes: 3 << 20}
	for want, b := range map[string]admin.BackupStatus{
		"no backup made yet; node n1 makes one every 6h": {Node: "n1", Every: 6 * 3600},
		"no backup made yet; no node makes them now":     {Every: 6 * 3600},
		"last good backup 2026-11-03T06:00:00Z, 6h ago, on node n2: /backups/mintmark-n2-000003-20261103T060000Z.backup (3.0 MiB); node n1 makes one every 1d": {
			Node: "n1", Every: 24 * 3600, Last: last,
		},
		"last good backup 2026-11-03T06:00:00Z, 6h ago, on node n2: /backups/mintmark-n2-000003-20261103T060000Z.backup (3.0 MiB); none are scheduled now": {
			Last: last,
		},
	} {
		require.Equal(t, want, backupLine(&b, now))
	}
}

// TestStatusNeedsAttention: the status has a line about backups that failed or are
// overdue, although the cluster is healthy.
func TestStatusNeedsAttention(t *testing.T) {
	c := newClusterCLI(t)
	c.Cluster.Change(func(s *admin.ClusterStatus) {
		s.Backup = &admin.BackupStatus{
			Node: "n1", Every: 3600, Since: admintest.Started.Add(-3 * time.Hour), Overdue: true,
			Failed: []admin.FailedBackup{{Node: "n2", At: time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC), Reason: "disk_full"}},
		}
	})
	out := c.OK("", "cluster", "status")
	require.Contains(t, out, "attention: no backup was made since backups were scheduled 3h ago, although one is due every 1h\n")
	require.Contains(t, out, "attention: backup on node n2 failed at 2026-11-03T12:00:00Z: the disk of its backup folder has no room\n")

	var text bytes.Buffer
	showStatus(newPrinter(&text, io.Discard), admin.ClusterStatus{Healthy: true})
	require.NotContains(t, text.String(), "backup")
}
