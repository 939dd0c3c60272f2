package doctor_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/doctor"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/packaging"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// gather gathers the facts of this machine, with a data folder that no running node uses.
func gather(t *testing.T, o config.Options) *doctor.Facts {
	t.Helper()
	m := doctor.Machine{
		Version: "dev", Options: o, Getenv: func(string) string { return "" },
		Status: func(context.Context) (status admin.ClusterStatus, settings admin.Settings, err error) {
			return status, settings, &admin.UnreachableError{Place: "socket", Err: os.ErrNotExist}
		},
	}
	return m.Gather(t.Context())
}

func state(f *doctor.Facts, check string) doctor.Result {
	for _, r := range doctor.Check(f) {
		if r.Check == check {
			return r
		}
	}
	return doctor.Result{}
}

// TestGatherChangesNothing: gathering doesn't change the data folder, although it
// measures the disk.
func TestGatherChangesNothing(t *testing.T) {
	dir := t.TempDir()
	o := config.Default()
	o.DataDir = filepath.Join(dir, "data")
	f := gather(t, o)
	require.False(t, f.Folder.Exists)
	require.NoDirExists(t, o.DataDir)
	require.Nil(t, f.Cluster)
	require.NoError(t, f.ClusterError)
	require.Positive(t, f.Descriptors)

	require.NoError(t, os.MkdirAll(filepath.Join(o.DataDir, "raft"), 0o700))
	key := filepath.Join(o.DataDir, "cluster.key")
	require.NoError(t, os.WriteFile(key, []byte("x"), 0o600))
	before, err := os.ReadDir(o.DataDir)
	require.NoError(t, err)
	f = gather(t, o)
	after, err := os.ReadDir(o.DataDir)
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.NotEmpty(t, f.Disk.Sync)
	require.Positive(t, f.Disk.Free)
	require.Equal(t, doctor.OK, state(f, "secret files").State)
	require.Equal(t, doctor.OK, state(f, "data folder").State)
}

func TestGatherBrokenFolders(t *testing.T) {
	o := config.Default()
	o.DataDir = t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(o.DataDir, "raft"), 0o700))
	require.Equal(t, doctor.Failure, state(gather(t, o), "secret files").State, "the folder has data, but no cluster key")
	key := filepath.Join(o.DataDir, "cluster.key")
	require.NoError(t, os.WriteFile(key, []byte("x"), 0o600))
	require.NoError(t, os.Chmod(key, 0o644))
	require.Equal(t, doctor.Failure, state(gather(t, o), "secret files").State)
	require.NoError(t, os.Chmod(key, 0o600))
	require.NoError(t, os.Chmod(o.DataDir, 0o777))
	require.Equal(t, doctor.Failure, state(gather(t, o), "data folder").State)

	o.BackupEvery, o.BackupDir = time.Hour, filepath.Join(o.DataDir, "no", "parent")
	require.Equal(t, doctor.Failure, state(gather(t, o), "backup folder").State)
	o.BackupDir = filepath.Join(o.DataDir, "backups")
	require.Equal(t, doctor.Warning, state(gather(t, o), "backup folder").State, "backups would be on the same disk as the data")
	require.NoDirExists(t, o.BackupDir)

	file := filepath.Join(o.DataDir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	o.BackupDir = file
	require.Equal(t, doctor.Failure, state(gather(t, o), "backup folder").State)
	o.DataDir = file
	require.Equal(t, doctor.Failure, state(gather(t, o), "data folder").State)
}

// system returns the root of a system with the packaged unit, and with a drop-in for it.
func system(t *testing.T, unit packaging.Unit, dropIn string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range map[string]string{
		"usr/lib/systemd/system/mintmark.service":             unit.Text(),
		"etc/systemd/system/mintmark.service.d/override.conf": "[Service]\n" + dropIn,
		"etc/systemd/system/other.service":                    "[Service]\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o600))
	}
	return root
}

// checkOf returns the result of a check in a system where no node runs.
func checkOf(t *testing.T, root, check string, o config.Options) doctor.Result {
	t.Helper()
	return checkOfChanged(t, root, check, o, func(*doctor.Facts) {})
}

// checkOfChanged is checkOf after a change of the facts.
func checkOfChanged(t *testing.T, root, check string, o config.Options, change func(*doctor.Facts)) doctor.Result {
	t.Helper()
	m := doctor.Machine{Options: o, Root: root, Getenv: func(string) string { return "" }, Status: func(context.Context) (status admin.ClusterStatus, settings admin.Settings, err error) {
		return status, settings, &admin.UnreachableError{Place: "socket", Err: os.ErrNotExist}
	}}
	f := m.Gather(t.Context())
	f.MayBindLow, f.LowPorts, f.Backup = false, 1024, doctor.Disk{Dir: o.BackupDir} // independent of the user and machine that run this test
	change(f)
	return state(f, check)
}

// TestGatherUnit: with the packaged unit, a node can write to the backup folder of the
// documents. Another folder needs a drop-in. Low ports need a unit with --low-ports, or a
// drop-in.
func TestGatherUnit(t *testing.T) {
	o := config.Default()
	o.DataDir, o.BackupEvery, o.BackupDir = "/var/lib/mintmark", time.Hour, "/var/backups/mintmark"
	shipped := system(t, packaging.Unit{}, "")
	require.Equal(t, doctor.OK, checkOf(t, shipped, "backup folder", o).State)
	r := checkOfChanged(t, shipped, "backup folder", o, func(f *doctor.Facts) { f.Backup.Dir = "/var/backups" })
	require.Equal(t, doctor.Failure, r.State)
	require.Contains(t, r.Measured, "/var/backups/mintmark does not exist, and ")
	o.BackupDir = "/var/backups/mintmark-other"
	r = checkOf(t, shipped, "backup folder", o)
	require.Equal(t, doctor.Failure, r.State)
	require.Contains(t, r.Measured, "mounts /var/backups/mintmark-other read-only")
	require.NotContains(t, checkOf(t, system(t, packaging.Unit{}, "ReadWritePaths=-/var/backups\n"), "backup folder", o).Measured, "mounts")
	o.DataDir = t.TempDir()
	require.NotContains(t, checkOf(t, shipped, "backup folder", o).Measured, "read-only", "the unit is for a node with another data folder")

	o.DataDir, o.Listen = "/var/lib/mintmark", "10.0.0.1:443"
	require.Equal(t, doctor.Warning, checkOf(t, shipped, "ports", o).State)
	require.Equal(t, doctor.OK, checkOf(t, system(t, packaging.Unit{LowPorts: true}, ""), "ports", o).State)
	require.Equal(t, doctor.OK, checkOf(t, system(t, packaging.Unit{}, "AmbientCapabilities=CAP_NET_BIND_SERVICE\n"), "ports", o).State)
	require.Equal(t, doctor.Warning, checkOf(t, system(t, packaging.Unit{LowPorts: true}, "AmbientCapabilities=\n"), "ports", o).State, "an empty value resets the list")
	replaced := system(t, packaging.Unit{LowPorts: true}, "")
	vendor := filepath.Join(replaced, "usr/lib/systemd/system/mintmark.service.d")
	require.NoError(t, os.MkdirAll(vendor, 0o700))
	for name, want := range map[string]doctor.State{"override.conf": doctor.OK, "vendor.conf": doctor.Warning} {
		require.NoError(t, os.WriteFile(filepath.Join(vendor, name), []byte("[Service]\nAmbientCapabilities=\n"), 0o600))
		require.Equal(t, want, checkOf(t, replaced, "ports", o).State, name)
		require.NoError(t, os.Remove(filepath.Join(vendor, name)))
	}
}

// TestGatherCredential: the cluster key is not missing if systemd has it as a credential.
func TestGatherCredential(t *testing.T) {
	for _, path := range []string{"etc/credstore/mintmark.cluster.key", "etc/credstore.encrypted/mintmark.cluster.key", "run/credentials/mintmark.service/cluster.key"} {
		o := config.Default()
		o.DataDir = t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(o.DataDir, "raft"), 0o700))
		root := system(t, packaging.Unit{}, "")
		require.Equal(t, doctor.Failure, checkOf(t, root, "secret files", o).State)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte("x"), 0o600))
		r := checkOf(t, root, "secret files", o)
		require.Equal(t, doctor.OK, r.State, r.Measured)
		require.Contains(t, r.Measured, filepath.Join(root, path))
		o.ClusterKeyFile = filepath.Join(o.DataDir, "named.key")
		require.Equal(t, doctor.Failure, checkOf(t, root, "secret files", o).State, "the setting names another file")
	}
}

// TestGatherHungNode: a running node that doesn't answer is a failure.
func TestGatherHungNode(t *testing.T) {
	m := doctor.Machine{Options: config.Default(), Getenv: os.Getenv, Status: func(context.Context) (status admin.ClusterStatus, settings admin.Settings, err error) {
		return status, settings, &admin.UnreachableError{Place: "socket", Err: os.ErrPermission}
	}}
	m.Options.DataDir = t.TempDir()
	require.Equal(t, doctor.Failure, state(m.Gather(t.Context()), "cluster").State)
}
