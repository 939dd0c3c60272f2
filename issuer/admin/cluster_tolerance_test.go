package admin_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// TestTolerance verifies that two voters tolerate no failure, and that a node which is
// catching up doesn't count.
func TestTolerance(t *testing.T) {
	for nodes, want := range map[string]struct {
		failures int
		text     string
	}{
		"":      {0, "no node may fail: 0 of 0 voters answer, it takes 0; of three, one can be spared"},
		"v":     {0, "no node may fail: 1 of 1 voters answer, it takes 1; of three, one can be spared"},
		"vv":    {0, "no node may fail: 2 of 2 voters answer, it takes 2; of three, one can be spared"},
		"vvn":   {0, "no node may fail: 2 of 2 voters answer, it takes 2; of three, one can be spared"},
		"v-":    {0, "too few voters are left to decide anything: 1 of 2 voters answer, it takes 2"},
		"vvv":   {1, "1 node may fail: 3 of 3 voters answer, it takes 2"},
		"vv-":   {0, "no further node may fail: 2 of 3 voters answer, it takes 2"},
		"v--":   {0, "too few voters are left to decide anything: 1 of 3 voters answer, it takes 2"},
		"vvvv":  {1, "1 node may fail: 4 of 4 voters answer, it takes 3"},
		"vvvvv": {2, "2 nodes may fail: 5 of 5 voters answer, it takes 3"},
	} {
		w, c := newCluster(t)
		w.Cluster.Change(func(s *admin.ClusterStatus) {
			s.Nodes = nil
			for _, kind := range strings.Split(nodes, "") {
				n := status.Node{Name: "n", Role: status.RoleVoter, State: "follower"}
				switch kind {
				case "-":
					n.State = status.StateUnreachable
				case "n":
					n.Role = "nonvoter"
				}
				s.Nodes = append(s.Nodes, n)
			}
		})
		got := ask(t, c, admin.ShowCluster, admin.StatusQuery{}).Tolerance
		require.Equal(t, want.failures, got.Failures, nodes)
		require.Equal(t, want.text, got.String(), nodes)
	}
}
