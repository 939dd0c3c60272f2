package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// Limits of the checks of a cluster.
const (
	offsetWarning     = time.Second // of two clocks
	offsetFailure     = 5 * time.Second
	certificateWithin = 7 * 24 * time.Hour // nodes renew theirs long before
)

// notChecked returns the result of a check that needs the status of the cluster, if there is none.
func notChecked(f *Facts, check string) Result {
	switch {
	case f.alone():
		return good(check, "not checked: this node runs alone")
	case f.ClusterError != nil:
		return good(check, "not checked: the node does not report its cluster")
	}
	return good(check, "not checked: no node runs here")
}

// alone reports whether a node runs here that belongs to no cluster, as that of "dev".
func (f *Facts) alone() bool { return errors.Is(f.ClusterError, admin.ErrStandalone) }

func checkCluster(f *Facts) Result {
	const check = "cluster"
	switch {
	case f.alone():
		return good(check, "%v", f.ClusterError)
	case f.ClusterError != nil:
		return good(check, "%v", f.ClusterError).because(Failure, "run this as the account of the node, and look at the node's log")
	case f.Cluster == nil && f.Folder.Data:
		return good(check, "no node runs here, and the folder has the data of one").because(Warning, "start the node; if it ends, its log says why")
	case f.Cluster == nil:
		return notChecked(f, check)
	case len(f.Cluster.Problems) > 0:
		return good(check, "%s", strings.Join(f.Cluster.Problems, "; ")).because(Failure, "see mintmark cluster status, and mintmark docs disaster")
	case !f.Cluster.Healthy:
		return good(check, "not healthy").because(Failure, "see mintmark cluster status")
	case f.Cluster.Voters == 1:
		return good(check, "healthy, one voter").because(Warning, "add nodes: the cluster stops with this machine; see mintmark docs install")
	}
	return good(check, "healthy, %d voters", f.Cluster.Voters)
}

func checkPeerClocks(f *Facts) Result {
	const check = "clock of other nodes"
	if f.Cluster == nil {
		return notChecked(f, check)
	}
	var most time.Duration
	name := ""
	for i := range f.Cluster.Nodes {
		n := &f.Cluster.Nodes[i]
		if d := (time.Duration(n.ClockOffset) * time.Millisecond).Abs(); n.State != status.StateUnreachable && d >= most && n.ID != f.Cluster.ID {
			most, name = d, n.Name
		}
	}
	if name == "" {
		return good(check, "no other node answers")
	}
	r := good(check, "at most %s from this one (%s)", most, name)
	switch {
	case most >= offsetFailure:
		return r.because(Failure, "set the clocks right before anything else: nodes that differ by more than 10s decide nothing")
	case most >= offsetWarning:
		return r.because(Warning, "look at the time service of both machines")
	}
	return r
}

func checkVersions(f *Facts) Result {
	const check = "versions"
	if f.Cluster == nil {
		return notChecked(f, check)
	}
	var versions []string
	own := ""
	for i := range f.Cluster.Nodes {
		n := &f.Cluster.Nodes[i]
		if n.ID == f.Cluster.ID {
			own = n.Version
		}
		if n.Version != "" && !slices.Contains(versions, n.Version) {
			versions = append(versions, n.Version)
		}
	}
	slices.Sort(versions)
	switch {
	case len(versions) > 1:
		return good(check, "nodes run %s", strings.Join(versions, " and ")).because(Warning, "finish the upgrade: see mintmark docs operate")
	case own != "" && own != f.Version:
		return good(check, "the node runs %s, and this program is %s", own, f.Version).because(Warning, "restart the node with this program, one node after the other")
	}
	return good(check, "all nodes run %s", strings.Join(versions, ""))
}

func checkCertificates(f *Facts) Result {
	const check = "certificates of nodes"
	if f.Cluster == nil {
		return notChecked(f, check)
	}
	var first time.Time
	name := ""
	for i := range f.Cluster.Nodes {
		if n := &f.Cluster.Nodes[i]; !n.CertificateExpires.IsZero() && (first.IsZero() || n.CertificateExpires.Before(first)) {
			first, name = n.CertificateExpires, n.Name
		}
	}
	if name == "" {
		return good(check, "there are none")
	}
	r := good(check, "the first expires on %s (%s)", first.UTC().Format(time.DateOnly), name)
	switch left := first.Sub(f.Now); {
	case left <= 0:
		return r.because(Failure, "look at that node's clock and log: it renews its certificate by itself")
	case left < certificateWithin:
		return r.because(Warning, "look at that node's log: it should have renewed its certificate by now")
	}
	return r
}

func checkBackupAge(f *Facts) Result {
	const check = "backup age"
	if f.Cluster == nil {
		return notChecked(f, check)
	}
	b := f.Cluster.Backup
	if b == nil || b.Every == 0 {
		return good(check, "no backups are scheduled").because(Warning, "set backup-dir and backup-every: see mintmark docs backup")
	}
	r := good(check, "no backup made yet, one is due every %s", admin.FormatDuration(b.Interval()))
	if b.Last != nil {
		r.Measured = fmt.Sprintf("the last good one is %s old, one is due every %s", b.Age(f.Now), admin.FormatDuration(b.Interval()))
	}
	switch {
	case b.Overdue:
		return r.because(Failure, "look at the logs of the nodes with a backup-dir; save one now: mintmark cluster backup save FILE")
	case len(b.Failed) > 0:
		r.Measured += "; the last one on " + b.Failed[0].Node + " failed: " + b.Failed[0].Reason
		return r.because(Warning, "look at that node's log")
	}
	return r
}
