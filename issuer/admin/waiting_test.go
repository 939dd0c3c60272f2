package admin_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
)

func TestNodeThatWaits(t *testing.T) {
	w := admin.Waiting{Name: "n2", WaitReason: func() string { return "no leader tells it more" }, Now: time.Now}
	dir, s := admintest.Open(t, admin.NewWaitingHandler(w))
	c := caller(t, dir)
	const waits = "this node does not serve yet: no leader tells it more"
	answer := ask(t, c, admin.ShowCluster, admin.StatusQuery{})
	require.Equal(t, "n2", answer.Name)
	require.False(t, answer.Healthy)
	require.Equal(t, []string{waits}, answer.Problems)
	for _, p := range every(t, c) {
		require.Equal(t, admin.Unavailable, p.Class)
		require.Equal(t, waits, p.Text)
	}
	q := admin.NewCluster{PublicURL: "https://id.example"}
	require.Equal(t, admin.Refused, refused(t, c, admin.InitCluster, q).Class, "the cluster exists already")

	// The node now belongs to a cluster.
	w.Status = func(context.Context) admin.ClusterStatus {
		return admin.ClusterStatus{Name: "n2", ID: "2", Nodes: []status.Node{
			{Name: "n1", ID: "1", Role: status.RoleVoter, State: status.StateUnreachable},
			{Name: "n2", ID: "2", Role: status.RoleVoter, State: "candidate"},
			{Name: "n3", ID: "3", Role: status.RoleVoter, State: status.StateUnreachable},
		}}
	}
	// The cluster has no addresses yet.
	var got admin.NewCluster
	w.Create = func(_ context.Context, q admin.NewCluster) error {
		got = q
		return errors.New("not this far")
	}
	s.Handle(admin.NewWaitingHandler(w))
	answer = ask(t, c, admin.ShowCluster, admin.StatusQuery{})
	require.Equal(t, []string{
		waits,
		"no leader is known, so nothing can be decided: of 3 voters n1 and n3 can't be reached, so no leader can be elected",
		"n1: it can't be reached", "n3: it can't be reached",
	}, answer.Problems)
	require.Equal(t, "public_url", refused(t, c, admin.InitCluster, admin.NewCluster{PublicURL: "x"}).Field)
	require.Empty(t, got)
	require.Equal(t, admin.Internal, refused(t, c, admin.InitCluster, q).Class)
	require.Equal(t, admin.NewCluster{PublicURL: q.PublicURL, AppURL: q.PublicURL}, got)
}
