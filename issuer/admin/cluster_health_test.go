package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
)

func TestHealth(t *testing.T) {
	const day = 24 * time.Hour
	const removed = "this node is not in the list of members: it was removed from the cluster"
	// third returns a change of the third node only.
	third := func(change func(n *status.Node)) func(*admin.ClusterStatus) {
		return func(s *admin.ClusterStatus) { change(&s.Nodes[2]) }
	}
	leaderless := func(s *admin.ClusterStatus) {
		s.Leader, s.Nodes[1].State = "", "follower"
		for i := range s.Nodes {
			s.Nodes[i].Follows = ""
		}
	}
	for name, test := range map[string]struct {
		change func(*admin.ClusterStatus)
		want   []string
	}{
		"all is well": {func(*admin.ClusterStatus) {}, []string{}},
		"no leader": {
			leaderless,
			[]string{"no leader is known, so nothing can be decided"},
		},
		"no leader here": {
			func(s *admin.ClusterStatus) {
				leaderless(s)
				s.Nodes[1].Follows, s.Nodes[2].State = "n3", status.StateUnreachable
			},
			[]string{
				"this node hears no leader, so it lags and may decide nothing: n2 follows n3, which cannot reach this node",
				"n3: it can't be reached",
			},
		},
		"a leader that can be asked, and does not reach this node": {
			func(s *admin.ClusterStatus) {
				leaderless(s)
				s.Nodes[2].State = "leader"
			},
			[]string{"this node hears no leader, so it lags and may decide nothing: n3 leads, which cannot reach this node"},
		},
		"removed": {
			func(s *admin.ClusterStatus) { s.Nodes = s.Nodes[1:] },
			[]string{removed},
		},
		"two of one": {
			func(s *admin.ClusterStatus) {
				s.Nodes, s.Leader, s.Duplicate = nil, "", "another process runs as this node"
			},
			[]string{"another process runs as this node"},
		},
		"nothing is known": {
			func(s *admin.ClusterStatus) { s.Nodes, s.Leader = nil, "" },
			[]string{removed, "no leader is known, so nothing can be decided"},
		},
		"its data is not open yet": {
			func(s *admin.ClusterStatus) { *s = admin.ClusterStatus{Name: "n1"} },
			[]string{},
		},
		"removed, and cut off from the others": { // must not advise creating a cluster of one
			func(s *admin.ClusterStatus) {
				s.Nodes, s.Leader = s.Nodes[1:], ""
				for i := range s.Nodes {
					s.Nodes[i].State = status.StateUnreachable
				}
			},
			[]string{removed, "no leader is known, so nothing can be decided", "n2: it can't be reached", "n3: it can't be reached"},
		},
		"state time within": {func(s *admin.ClusterStatus) { s.StateAhead = 10_000 }, []string{}},
		"state time ahead": {
			func(s *admin.ClusterStatus) { s.StateAhead = 7_200_000 },
			[]string{"the cluster's time is 2h0m0s ahead of the clocks, so nothing can be decided before they are there, 2h0m0s from now: " +
				"if the clocks were set back, set them right; if a wrong clock has stamped, the way back is the restore of an earlier backup"},
		},
		"all disks are full": { // the queried node has isolated itself
			func(s *admin.ClusterStatus) {
				s.Leader, s.Isolated = "", "the disk under /data (30 MiB free): the disk is full"
				s.Nodes[0].Error = "disk: the disk is full"
				s.Nodes[1].State, s.Nodes[1].Error = status.StateUnreachable, "this node keeps away from the others"
				s.Nodes[2].State, s.Nodes[2].Error = status.StateUnreachable, "this node keeps away from the others"
			},
			[]string{
				"this node has isolated itself from the others: the disk under /data (30 MiB free): the disk is full",
				"no leader is known, so nothing can be decided",
			},
		},
		"the disks of the others are full": {
			func(s *admin.ClusterStatus) {
				s.Leader = ""
				s.Nodes[1].State, s.Nodes[1].Error, s.Nodes[1].HungUp = status.StateUnreachable, "it hung up", true
				s.Nodes[2].State, s.Nodes[2].Error = status.StateUnreachable, "connection refused"
			},
			[]string{
				"no leader is known, so nothing can be decided: of 3 voters n2 and n3 can't be reached, and still running is n2, which hangs up, " +
					"as a node does whose disk is full or fails: look at its disk and log first",
				"n2: it can't be reached: it hung up", "n3: it can't be reached: connection refused",
			},
		},
		"the disks of both others are full": {
			func(s *admin.ClusterStatus) {
				s.Leader = ""
				for i := range s.Nodes[1:] {
					s.Nodes[1+i].State, s.Nodes[1+i].Error, s.Nodes[1+i].HungUp = status.StateUnreachable, "it hung up", true
				}
			},
			[]string{
				"no leader is known, so nothing can be decided: of 3 voters n2 and n3 can't be reached, and still running are n2 and n3, which hang up, " +
					"as nodes do whose disks are full or fail: look at their disks and logs first",
				"n2: it can't be reached: it hung up", "n3: it can't be reached: it hung up",
			},
		},
		"two are lost": {
			func(s *admin.ClusterStatus) {
				s.Leader = ""
				s.Nodes[1].State, s.Nodes[2].State = status.StateUnreachable, status.StateUnreachable
			},
			[]string{
				"no leader is known, so nothing can be decided: of 3 voters n2 and n3 can't be reached, so no leader can be elected",
				"n2: it can't be reached", "n3: it can't be reached",
			},
		},
		"voter that hears no leader": {
			third(func(n *status.Node) { n.State, n.Follows, n.Lag = "candidate", "", 12 }),
			[]string{"n3: it hears no leader (n2 leads)"},
		},
		"voter that follows nobody": {
			third(func(n *status.Node) { n.Follows = "" }),
			[]string{"n3: it hears no leader (n2 leads)"},
		},
		"nonvoter that hears no leader yet": {
			third(func(n *status.Node) { n.Role, n.Follows = "nonvoter", "" }),
			[]string{},
		},
		"all clocks were set back, and certificates are not valid yet": {
			func(s *admin.ClusterStatus) {
				leaderless(s)
				s.StateAhead = 7_200_000
				s.Nodes[0].ClockUntrusted, s.Nodes[0].Error = true, "clock: the wall clock jumped back by 2h0m0s"
				s.Nodes[1].State, s.Nodes[2].State = status.StateUnreachable, status.StateUnreachable
			},
			[]string{
				"the cluster's time is 2h0m0s ahead of the clocks, so nothing can be decided before they are there, 2h0m0s from now: " +
					"if the clocks were set back, set them right; if a wrong clock has stamped, the way back is the restore of an earlier backup",
				"n1: clock: the wall clock jumped back by 2h0m0s",
				"no leader is known, so nothing can be decided: of 3 voters n2 and n3 can't be reached; see to the clocks first",
				"n2: it can't be reached", "n3: it can't be reached",
			},
		},
		"all clocks were set back, and the nodes started again": { // a node accepts a clock that is behind
			func(s *admin.ClusterStatus) {
				leaderless(s)
				s.StateAhead = 7_200_000
				s.Nodes[1].State, s.Nodes[2].State = status.StateUnreachable, status.StateUnreachable
			},
			[]string{
				"the cluster's time is 2h0m0s ahead of the clocks, so nothing can be decided before they are there, 2h0m0s from now: " +
					"if the clocks were set back, set them right; if a wrong clock has stamped, the way back is the restore of an earlier backup",
				"no leader is known, so nothing can be decided: of 3 voters n2 and n3 can't be reached; see to the clocks first",
				"n2: it can't be reached", "n3: it can't be reached",
			},
		},
		"certificates of the others are not valid by this node's clock": {
			func(s *admin.ClusterStatus) {
				leaderless(s)
				for i := range s.Nodes[1:] {
					s.Nodes[1+i].State, s.Nodes[1+i].Error, s.Nodes[1+i].ClockUntrusted = status.StateUnreachable, "compare the clocks", true
				}
			},
			[]string{
				"n2: it can't be reached: compare the clocks", "n3: it can't be reached: compare the clocks",
				"no leader is known, so nothing can be decided: of 3 voters n2 and n3 can't be reached; see to the clocks first",
			},
		},
		"voter unreachable": {
			third(func(n *status.Node) { n.State = status.StateUnreachable }),
			[]string{"n3: it can't be reached"},
		},
		"voter unreachable, with the reason once, and nothing of what is not known": {
			third(func(n *status.Node) {
				n.State, n.Error, n.Lag, n.DiskFree = status.StateUnreachable, "connection refused", 20_000, 1
			}),
			[]string{"n3: it can't be reached: connection refused"},
		},
		"nonvoter that does not answer yet": {
			third(func(n *status.Node) { n.State, n.Role = status.StateUnreachable, "nonvoter" }),
			[]string{},
		},
		"nonvoter that fails": {
			third(func(n *status.Node) {
				n.State, n.Role, n.Error = status.StateUnreachable, "nonvoter", "connection refused"
			}),
			[]string{"n3: it can't be reached: connection refused"},
		},
		"trouble": {
			third(func(n *status.Node) { n.Error = "the log is corrupt" }),
			[]string{"n3: the log is corrupt"},
		},
		"a little behind":      {third(func(n *status.Node) { n.Lag = 10_000 }), []string{}},
		"behind":               {third(func(n *status.Node) { n.Lag = 10_001 }), []string{"n3: it is 10001 entries behind"}},
		"certificate is fine":  {third(func(n *status.Node) { n.CertificateExpires = admintest.Started.Add(7 * day) }), []string{}},
		"certificate expires":  {third(func(n *status.Node) { n.CertificateExpires = admintest.Started.Add(7*day - 1) }), []string{"n3: its certificate expires on 2026-11-28T08:59:59Z"}},
		"certificate expired":  {third(func(n *status.Node) { n.CertificateExpires = admintest.Started }), []string{"n3: its certificate has expired"}},
		"certificate unknown":  {third(func(n *status.Node) { n.CertificateExpires = time.Time{} }), []string{}},
		"TLS is fine":          {third(func(n *status.Node) { n.TLSExpires = admintest.Started.Add(2 * day) }), []string{}},
		"TLS expires":          {third(func(n *status.Node) { n.TLSExpires = admintest.Started.Add(2*day - 1) }), []string{"n3: its TLS certificate for clients expires on 2026-11-23T08:59:59Z"}},
		"TLS expired":          {third(func(n *status.Node) { n.TLSExpires = admintest.Started }), []string{"n3: its TLS certificate for clients has expired"}},
		"clock within":         {third(func(n *status.Node) { n.ClockOffset = -5000 }), []string{}},
		"clock ahead":          {third(func(n *status.Node) { n.ClockOffset = 5001 }), []string{"n3: its clock differs by 5.001s"}},
		"clock behind":         {third(func(n *status.Node) { n.ClockOffset = -5001 }), []string{"n3: its clock differs by -5.001s"}},
		"clock a century away": {third(func(n *status.Node) { n.ClockOffset = -100 * 365 * 24 * 3600 * 1000 }), []string{"n3: its clock differs by -876000h0m0s"}},
		"disk is at its mark":  {third(func(n *status.Node) { n.DiskFree = 128 << 20 }), []string{}},
		"disk is low":          {third(func(n *status.Node) { n.DiskFree = 128<<20 - 1 }), []string{"n3: its disk has 127 MiB left"}},
		"disk unknown":         {third(func(n *status.Node) { n.DiskFree = 0 }), []string{}},
		"much at once, in the order of nodes": {
			func(s *admin.ClusterStatus) {
				leaderless(s)
				s.Nodes[2].Lag, s.Nodes[2].ClockOffset = 20_000, 9000
				s.Nodes[0].Error = "the disk hangs"
			},
			[]string{
				"no leader is known, so nothing can be decided", "n1: the disk hangs",
				"n3: it is 20000 entries behind", "n3: its clock differs by 9s",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := admintest.NewCluster().Status(t.Context())
			test.change(&s)
			require.Equal(t, test.want, admin.Problems(s, admintest.Started))
		})
	}
}
