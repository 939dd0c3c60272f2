package doctor_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/doctor"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

var now = time.Date(2026, 11, 3, 4, 5, 6, 0, time.UTC)

// healthy returns the facts of a machine whose node is one of three healthy nodes.
func healthy() *doctor.Facts {
	o := config.Default()
	o.DataDir, o.BackupDir, o.BackupEvery = "/data", "/backups", 6*time.Hour
	o.Listen, o.TrustedProxies, o.PublicURL = "10.0.0.1:8080", []string{"10.0.0.9"}, "https://auth.example.com"
	node := func(id, name string, offset int64) status.Node {
		return status.Node{
			ID: id, Name: name, Role: status.RoleVoter, State: "follower", Version: "v1.0.0", ClockOffset: offset,
			CertificateExpires: now.Add(60 * 24 * time.Hour),
		}
	}
	return &doctor.Facts{
		Version: "v1.0.0", Now: now, Options: o,
		Folder:  doctor.Folder{Path: "/data", Exists: true, Mode: fs.ModeDir | 0o700, Owner: 7, User: 7, Data: true},
		Secrets: []doctor.Secret{{Path: "/data/cluster.key", What: "cluster key", Owner: 7}},
		Disk:    doctor.Disk{Dir: "/data", Free: 50 << 30, Low: 512 << 20, Out: 128 << 20, Sync: syncs(time.Millisecond)},
		Backup:  doctor.Disk{Dir: "/backups", Free: 50 << 30, Low: 512 << 20, Out: 128 << 20},

		Descriptors: 1 << 20, LowPorts: 1024,
		Cluster: &admin.ClusterStatus{
			ID: "a", Name: "n1", Healthy: true, Tolerance: admin.Tolerance{Voters: 3},
			Nodes:  []status.Node{node("a", "n1", 0), node("b", "n2", 12), node("c", "n3", -40)},
			Backup: &admin.BackupStatus{Node: "n2", Every: 6 * 3600, Last: &admin.SavedBackup{Node: "n2", At: now.Add(-time.Hour)}},
		},
	}
}

// syncs returns a hundred durations, of which two are slow.
func syncs(slow time.Duration) []time.Duration {
	all := make([]time.Duration, 100)
	for i := range all {
		all[i] = 100 * time.Microsecond
	}
	all[17], all[80] = slow, slow
	return all
}

func TestHealthyMachine(t *testing.T) {
	all := doctor.Check(healthy())
	require.Equal(t, doctor.OK, doctor.Worst(all))
	require.Len(t, all, 17)
	seen := map[string]bool{}
	for _, r := range all {
		require.Equal(t, doctor.OK, r.State, "%s: %s", r.Check, r.Measured)
		require.NotEmpty(t, r.Measured)
		require.Empty(t, r.Advice)
		require.False(t, seen[r.Check], r.Check)
		seen[r.Check] = true
	}
}

// TestChecks: each changed fact affects one check, which then has advice. All other
// checks remain OK.
func TestChecks(t *testing.T) {
	for _, test := range []struct {
		check    string
		state    doctor.State
		measured string
		change   func(f *doctor.Facts)
	}{
		{"settings", doctor.OK, "valid, without a file", func(*doctor.Facts) {}},
		{"settings", doctor.OK, "valid, from /etc/mintmark/mintmark.yaml", func(f *doctor.Facts) { f.Options.Config = "/etc/mintmark/mintmark.yaml" }},
		{"settings", doctor.Failure, "listen is wrong", func(f *doctor.Facts) { f.SettingsError = errors.New("listen is wrong") }},
		{"clock", doctor.Warning, "not synchronised", func(f *doctor.Facts) { f.ClockError = errors.New("not synchronised") }},
		{"clock", doctor.OK, "trust-clock", func(f *doctor.Facts) {
			f.ClockError, f.Options.TrustClock = errors.New("not synchronised"), true
		}},
		{"clock of other nodes", doctor.Warning, "2s from this one (n3)", func(f *doctor.Facts) { f.Cluster.Nodes[2].ClockOffset = -2000 }},
		{"clock of other nodes", doctor.Failure, "5s from this one (n2)", func(f *doctor.Facts) { f.Cluster.Nodes[1].ClockOffset = 5000 }},
		{"clock of other nodes", doctor.OK, "40ms", func(f *doctor.Facts) {
			f.Cluster.Nodes[1].ClockOffset, f.Cluster.Nodes[1].State = 5000, status.StateUnreachable
		}},
		{"disk speed", doctor.Warning, "p99 of a write with fsync 26ms", func(f *doctor.Facts) { f.Disk.Sync = syncs(26 * time.Millisecond) }},
		{"disk speed", doctor.OK, "15ms", func(f *doctor.Facts) { f.Disk.Sync = syncs(15 * time.Millisecond) }},
		{"disk speed", doctor.Failure, "p99 of a write with fsync 101ms", func(f *doctor.Facts) { f.Disk.Sync = syncs(101 * time.Millisecond) }},
		{"disk speed", doctor.Warning, "not measured: denied", func(f *doctor.Facts) { f.Disk.Error = errors.New("denied") }},
		{"disk space", doctor.Warning, "511 MiB free", func(f *doctor.Facts) { f.Disk.Free = 512<<20 - 1 }},
		{"disk space", doctor.Failure, "127 MiB free", func(f *doctor.Facts) { f.Disk.Free = 128<<20 - 1 }},
		{"disk space", doctor.OK, "does not report", func(f *doctor.Facts) { f.Disk.Free, f.Disk.Low, f.Disk.Out = 0, 0, 0 }},
		{"backup folder", doctor.Failure, "no such folder", func(f *doctor.Facts) { f.Backup.Error = errors.New("no such folder") }},
		{"backup folder", doctor.Failure, "511 MiB free", func(f *doctor.Facts) { f.Backup.Free = 512<<20 - 1 }},
		{"backup folder", doctor.Warning, "the disk of the data", func(f *doctor.Facts) { f.Backup.OfData = true }},
		{"backup folder", doctor.OK, "no scheduled backups", func(f *doctor.Facts) { f.Options.BackupEvery = 0 }},
		{"descriptors", doctor.Warning, "4096", func(f *doctor.Facts) { f.Descriptors = 4096 }},
		{"descriptors", doctor.Failure, "256", func(f *doctor.Facts) { f.Descriptors = 256 }},
		{"memory", doctor.OK, "512 MiB", func(f *doctor.Facts) { f.MemoryLimit = 512 << 20 }},
		{"memory", doctor.Warning, "128 MiB", func(f *doctor.Facts) { f.MemoryLimit = 128 << 20 }},
		{"memory", doctor.Warning, "1.0 GiB", func(f *doctor.Facts) { f.MemoryLimit, f.MemoryNeeded = 1<<30, 600<<20 }},
		{"memory", doctor.Failure, "take about 2.0 GiB", func(f *doctor.Facts) { f.MemoryLimit, f.MemoryNeeded = 1<<30, 2<<30 }},
		{"data folder", doctor.Warning, "mode 0755", func(f *doctor.Facts) { f.Folder.Mode = 0o755 }},
		{"data folder", doctor.Failure, "mode 0777", func(f *doctor.Facts) { f.Folder.Mode = 0o777 }},
		{"data folder", doctor.Failure, "belongs to user 7, not to 8", func(f *doctor.Facts) { f.Folder.User = 8 }},
		{"data folder", doctor.OK, "mode 0700", func(f *doctor.Facts) { f.Folder.User = 0 }},
		{"data folder", doctor.Failure, "denied", func(f *doctor.Facts) { f.Folder.Error = errors.New("denied") }},
		{"secret files", doctor.Failure, "others can read", func(f *doctor.Facts) { f.Secrets[0].Error = config.ErrExposed }},
		{"secret files", doctor.Failure, "/data/cluster.key, the cluster key, is missing", func(f *doctor.Facts) {
			f.Cluster, f.Secrets[0].Missing, f.Secrets[0].Needed = nil, true, true
		}},
		{"secret files", doctor.OK, "the credential /etc/credstore/mintmark.cluster.key", func(f *doctor.Facts) {
			f.Secrets[0].Missing, f.Secrets[0].Needed, f.Secrets[0].Credential = true, true, "/etc/credstore/mintmark.cluster.key"
		}},
		{"secret files", doctor.OK, "which the running node has", func(f *doctor.Facts) {
			f.Secrets[0].Missing, f.Secrets[0].Needed, f.Secrets[0].Hidden = true, true, true
		}},
		{"secret files", doctor.Warning, "can't see the credentials of systemd", func(f *doctor.Facts) {
			f.Cluster, f.Secrets[0].Missing, f.Secrets[0].Needed, f.Secrets[0].Hidden = nil, true, true, true
		}},
		{"secret files", doctor.Warning, "the running node has it in memory", func(f *doctor.Facts) {
			f.Secrets[0].Missing, f.Secrets[0].Needed = true, true
		}},
		{"secret files", doctor.OK, "none yet", func(f *doctor.Facts) { f.Secrets[0].Missing = true }},
		{"secret files", doctor.Failure, "belongs to user 9, and the data folder to user 7", func(f *doctor.Facts) { f.Secrets[0].Owner = 9 }},
		{"ports", doctor.Warning, "listen 443", func(f *doctor.Facts) { f.Options.Listen, f.Cluster = "10.0.0.1:443", nil }},
		{"ports", doctor.OK, "the running node uses", func(f *doctor.Facts) { f.Options.Listen = "10.0.0.1:443" }},
		{"ports", doctor.OK, "may use", func(f *doctor.Facts) { f.Options.Listen, f.MayBindLow = "10.0.0.1:443", true }},
		{"proxy headers", doctor.Warning, "clients reach 10.0.0.1:8080 directly", func(f *doctor.Facts) { f.Options.TrustedProxies = nil }},
		{"proxy headers", doctor.OK, "directly, over TLS", func(f *doctor.Facts) {
			f.Options.TrustedProxies, f.Options.TLS.Cert = nil, "/tls.crt"
		}},
		{"proxy headers", doctor.Warning, "behind a proxy on this machine", func(f *doctor.Facts) {
			f.Options.TrustedProxies, f.Options.Listen = nil, "127.0.0.1:8080"
		}},
		{"proxy headers", doctor.OK, "not used", func(f *doctor.Facts) {
			f.Options.TrustedProxies, f.Options.Listen, f.Options.PublicURL = nil, "127.0.0.1:8080", "http://127.0.0.1:8080"
		}},
		{"proxy headers", doctor.Warning, "the network 10.0.0.0/8", func(f *doctor.Facts) { f.Options.TrustedProxies = []string{"10.0.0.0/8"} }},
		{"proxy headers", doctor.Failure, "0.0.0.0/0", func(f *doctor.Facts) { f.Options.TrustedProxies = []string{"0.0.0.0/0"} }},
		{"cluster", doctor.Failure, "no leader; a full disk", func(f *doctor.Facts) {
			f.Cluster.Healthy, f.Cluster.Problems = false, []string{"no leader", "a full disk"}
		}},
		{"cluster", doctor.Failure, "the node hangs", func(f *doctor.Facts) { f.ClusterError = errors.New("the node hangs") }},
		{"cluster", doctor.Warning, "no node runs here", func(f *doctor.Facts) { f.Cluster = nil }},
		{"cluster", doctor.Warning, "one voter", func(f *doctor.Facts) { f.Cluster.Voters = 1 }},
		{"versions", doctor.Warning, "v1.0.0 and v1.1.0", func(f *doctor.Facts) { f.Cluster.Nodes[2].Version = "v1.1.0" }},
		{"versions", doctor.Warning, "this program is v1.1.0", func(f *doctor.Facts) { f.Version = "v1.1.0" }},
		{"certificates of nodes", doctor.Warning, "2026-11-09 (n2)", func(f *doctor.Facts) { f.Cluster.Nodes[1].CertificateExpires = now.Add(6 * 24 * time.Hour) }},
		{"certificates of nodes", doctor.Failure, "2026-11-03 (n2)", func(f *doctor.Facts) { f.Cluster.Nodes[1].CertificateExpires = now }},
		{"backup age", doctor.Warning, "no backups are scheduled", func(f *doctor.Facts) { f.Cluster.Backup = nil }},
		{"backup age", doctor.Failure, "13h old, one is due every 6h", func(f *doctor.Facts) {
			f.Cluster.Backup.Last.At, f.Cluster.Backup.Overdue = now.Add(-13*time.Hour), true
		}},
		{"backup age", doctor.Warning, "the last one on n1 failed: disk_full", func(f *doctor.Facts) {
			f.Cluster.Backup.Failed = []admin.FailedBackup{{Node: "n1", Reason: "disk_full"}}
		}},
	} {
		t.Run(test.check+" "+test.measured, func(t *testing.T) {
			f := healthy()
			test.change(f)
			found := false
			for _, r := range doctor.Check(f) {
				if r.Check == "cluster" && f.Cluster == nil && test.check != "cluster" {
					continue // that no node runs is reported beside the fault of this test
				}
				if r.Check != test.check {
					require.Equal(t, doctor.OK, r.State, "%s: %s", r.Check, r.Measured)
					continue
				}
				found = true
				require.Equal(t, test.state, r.State, r.Measured)
				require.Contains(t, r.Measured, test.measured)
				require.Equal(t, test.state != doctor.OK, r.Advice != "")
			}
			require.True(t, found)
		})
	}
}

// TestNodeAlone: a node that belongs to no cluster is no fault, and no check reports that none
// runs. The error of a Problem from the socket has its code only.
func TestNodeAlone(t *testing.T) {
	f := healthy()
	f.Cluster, f.ClusterError = nil, &admin.Problem{Class: admin.Refused, Code: errcode.Of(admin.ErrStandalone), Text: admin.ErrStandalone.Error()}
	alone := 0
	for _, r := range doctor.Check(f) {
		require.Equal(t, doctor.OK, r.State, "%s: %s", r.Check, r.Measured)
		require.NotContains(t, r.Measured, "no node runs here", r.Check)
		if strings.Contains(r.Measured, "this node runs alone") {
			alone++
		}
	}
	require.Equal(t, 5, alone, "the cluster, and the four checks of it")
}

// TestNoNode: on a machine where no node has started yet, all checks are OK.
func TestNoNode(t *testing.T) {
	f := healthy()
	f.Cluster, f.Folder, f.Secrets, f.Disk.Sync = nil, doctor.Folder{Path: "/data"}, nil, nil
	for _, r := range doctor.Check(f) {
		require.Equal(t, doctor.OK, r.State, "%s: %s", r.Check, r.Measured)
	}
}
