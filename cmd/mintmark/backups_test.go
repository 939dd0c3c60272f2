package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
)

// TestScheduledBackups: one node of three makes the backups. When it is killed, another
// node takes over, and keeps the task after the first node returns and after all nodes
// restart. Each node reports the same status, and a cluster restored from such a backup
// has no schedule.
func TestScheduledBackups(t *testing.T) {
	dir := t.TempDir()
	seed(t, dir, 1)
	folder := filepath.Join(dir, "backups")
	c := startCluster3(t, dir, filepath.Join(dir, "data"), "--backup-dir", folder, "--backup-every", "10s", "--backup-keep", "2")
	status := func(from int) *admin.BackupStatus {
		s, err := c.status(from)
		if err != nil {
			return nil
		}
		return s.Backup
	}
	index := func(name string) int {
		for i, n := range c.nodes {
			if n.Name == name {
				return i
			}
		}
		return -1
	}
	var first *admin.BackupStatus
	for i, n := range c.nodes {
		require.True(t, testkit.Until(testkit.Limit, func() bool {
			first = status(i)
			return first != nil && first.Last != nil
		}), "%s reports no backup", n.Name)
		_, _, metrics := asked(t, n.OpsURL()+"/metrics")
		require.Contains(t, metrics, "mintmark_backup_last_success_timestamp_seconds ")
		require.Contains(t, metrics, "mintmark_backup_interval_seconds 10\n")
	}
	text := operatorOf(t, c.nodes[0].Dir).OK("", "cluster", "status")
	require.Contains(t, text, "ago, on node "+first.Last.Node+": "+folder+"/mintmark-"+first.Last.Node+"-0000")
	require.Contains(t, text, "; node "+first.Node+" makes one every 10s\n")
	require.NotContains(t, text, "attention:")

	killed := index(first.Node)
	other := (killed + 1) % 3
	c.nodes[killed].Kill()
	var second *admin.BackupStatus
	require.True(t, testkit.Until(2*testkit.Limit, func() bool {
		second = status(other)
		return second != nil && second.Node != "" && second.Node != first.Node && second.Last.Node == second.Node
	}), "no other node took over")

	c.nodes[killed].start(t)
	made := second.Last.Seq
	require.True(t, testkit.Until(testkit.Limit, func() bool {
		s := status(killed)
		return s != nil && s.Last.Seq > made
	}))
	require.Equal(t, second.Node, status(other).Node, "the node that returned took the task away")

	for _, n := range c.nodes {
		n.Kill()
	}
	last := newest(t, folder, second.Node)
	for _, n := range c.nodes {
		n.launch(t)
	}
	for _, n := range c.nodes {
		require.True(t, n.WaitReady(testkit.Limit))
	}
	require.True(t, testkit.Until(testkit.Limit, func() bool {
		s := status(other)
		return s != nil && s.Last.Node == second.Node && filepath.Base(s.Last.File) > last
	}), "the schedule did not go on with %s after a restart of all nodes", second.Node)

	for _, n := range c.nodes {
		n.Stop()
		files, err := backup.Folder{Dir: folder, Node: n.Name}.List()
		require.NoError(t, err)
		require.LessOrEqual(t, len(files), 2, n.Name)
	}
	file, err := os.ReadFile(filepath.Join(folder, newest(t, folder, second.Node)))
	require.NoError(t, err)
	h, err := backup.Inspect(bytes.NewReader(file))
	require.NoError(t, err)
	require.Equal(t, second.Node, h.Node)
	require.NotContains(t, h.Counts, "backups")

	fresh := newWaitingProcess(t, dir)
	key, err := os.ReadFile(filepath.Join(c.nodes[other].Dir, "cluster.key"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(fresh.Dir, "cluster.key"), key, 0o600))
	_, err = admin.RestoreBackup(t.Context(), fresh.operator(t), bytes.NewReader(file), admin.RestoreOptions{AcceptGap: true})
	require.NoError(t, err)
	fresh.running()
	s, err := fresh.Status()
	require.NoError(t, err)
	require.Len(t, s.Nodes, 1)
	require.NotContains(t, operatorOf(t, fresh.Dir).OK("", "cluster", "status", "--voters", "1"), "backup")
}

// newest returns the name of the last scheduled backup of a node.
func newest(t *testing.T, folder, node string) string {
	t.Helper()
	files, err := backup.Folder{Dir: folder, Node: node}.List()
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files[len(files)-1].Name
}

// TestScheduledBackupWithoutFolder: a node whose folder can't be made starts, reports it,
// and the status names the failure.
func TestScheduledBackupWithoutFolder(t *testing.T) {
	dir := t.TempDir()
	seed(t, dir, 1)
	n := newNodeOf(t, filepath.Join(dir, "data"))
	n.Flags = []string{"--backup-dir", filepath.Join(dir, "no", "parent"), "--backup-every", "10s"}
	n.start(t)
	var text string
	require.True(t, testkit.Until(testkit.Limit, func() bool {
		text = operatorOf(t, n.Dir).OK("", "cluster", "status")
		return strings.Contains(text, "attention: ")
	}))
	require.Contains(t, text, "no backup made yet")
	require.Contains(t, text, "attention: backup on node "+n.Name+" failed at ")
	require.Contains(t, n.Process().LogText(), `msg="backup failed" reason=not_written`)
	_, _, metrics := asked(t, n.OpsURL()+"/metrics")
	require.Contains(t, metrics, `mintmark_backup_failures_total{reason="not_written"} 1`)
	require.True(t, testkit.Until(testkit.Limit, func() bool {
		return strings.Contains(operatorOf(t, n.Dir).OK("", "cluster", "status"), "attention: no backup was made since backups were scheduled 2")
	}), "twice the time without a backup needs no attention")
}
