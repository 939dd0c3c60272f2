package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

var update = flag.Bool("update", false, "rewrite testdata")

// newCluster returns a node of a cluster of three, and a Caller for it.
func newCluster(t *testing.T) (*admintest.Env, *admin.Caller) {
	t.Helper()
	w := admintest.New(t)
	w.Cluster = admintest.NewCluster()
	return w, caller(t, w.Serve())
}

func caller(t *testing.T, dir string) *admin.Caller {
	t.Helper()
	c, err := admin.NewCaller(dir)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// golden compares JSON with a file, since programs parse it.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	got, err := json.MarshalIndent(v, "", "  ")
	require.NoError(t, err)
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, append(got, '\n'), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got)+"\n")
}

// raw returns the body of a response.
func raw(t *testing.T, c *admin.Caller, operation, q string) any {
	t.Helper()
	return ask(t, c, admin.Operation[json.RawMessage, json.RawMessage](operation), json.RawMessage(q))
}

func TestClusterJSON(t *testing.T) {
	w, c := newCluster(t)
	w.Do(&ledger.AddKey{Key: ledger.Key{ID: "k2", Purpose: ledger.ForSigning, Sealed: []byte("sealed")}})
	golden(t, "status_healthy.json", raw(t, c, "cluster.status", `{}`))
	golden(t, "checksum.json", raw(t, c, "cluster.checksum", `{}`))
	golden(t, "invitations.json", raw(t, c, "cluster.invitation.list", `{}`))
	golden(t, "invited.json", raw(t, c, "cluster.invite", `{"name":"n4","lifetime":3600000000000}`))

	w.Cluster.Change(func(s *admin.ClusterStatus) {
		zone := time.FixedZone("elsewhere", 3*3600)
		s.Leader, s.Nodes[0].Follows, s.Nodes[2].Follows = "", "", ""
		s.Nodes[1] = status.Node{Name: "n2", ID: "id-n2", Address: "10.0.0.2:8300", Role: "voter", State: "unreachable", Error: "connection refused"}
		s.Nodes[2].CertificateExpires = s.Nodes[2].CertificateExpires.In(zone)
		s.Nodes[2].ClockOffset = -12
	})
	golden(t, "status_unhealthy.json", raw(t, c, "cluster.status", `{}`))
	w.Cluster.Change(func(s *admin.ClusterStatus) { s.Nodes = nil })
	golden(t, "status_removed.json", raw(t, c, "cluster.status", `{}`))
}

// TestStatusWithoutALeader verifies that the status is available without a leader.
func TestStatusWithoutALeader(t *testing.T) {
	w, c := newCluster(t)
	c.Stale = func() { t.Error("the status was reported as stale") }
	w.SetNoLeader(true)
	require.Len(t, ask(t, c, admin.ShowCluster, admin.StatusQuery{}).Keys, 2)
}

func TestClusterChanges(t *testing.T) {
	w, c := newCluster(t)
	invited := ask(t, c, admin.InviteNode, admin.Invitation{Name: "n4", Lifetime: time.Hour})
	require.Equal(t, admin.Invited{Token: admintest.Token, Name: "n4", Expires: admintest.Started.Add(time.Hour), Ended: true}, invited)
	invited = ask(t, c, admin.ReplaceNode, admin.Replacement{Old: "n3", Name: "n5", Lifetime: time.Minute})
	require.Equal(t, admin.Invited{Token: admintest.Token, Name: "n5", Expires: admintest.Started.Add(time.Minute)}, invited)
	require.Equal(t, "n5", ask(t, c, admin.WithdrawInvitation, admin.Withdrawal{Name: "n5"}).ID)
	ask(t, c, admin.TransferLeader, admin.Transfer{})
	ask(t, c, admin.TransferLeader, admin.Transfer{To: "n1"})
	require.Equal(t, "n3", ask(t, c, admin.RemoveNode, admin.Removal{Name: "n3"}).ID)
	ask(t, c, admin.RemoveNode, admin.Removal{Name: "n2", Force: true})
	require.Equal(t, "n1", ask(t, c, admin.AcceptClock, admin.ClockAcceptance{}).ID)
	require.Equal(t, []string{
		"invite n4 replaces= 1h0m0s", "invite n5 replaces=n3 1m0s", "withdraw n5", "transfer to=", "transfer to=n1",
		"remove n3 force=false", "remove n2 force=true", "accept-clock",
	}, w.Cluster.Calls())
	require.NotContains(t, w.Log.String(), admintest.Token.Reveal())
	require.Contains(t, w.Log.String(), `operation=cluster.remove subject="node n2"`)
}

// every runs all changes of a cluster and returns their problems.
func every(t *testing.T, c *admin.Caller) []*admin.Problem {
	t.Helper()
	return []*admin.Problem{
		refused(t, c, admin.InviteNode, admin.Invitation{Name: "n4", Lifetime: time.Hour}),
		refused(t, c, admin.ReplaceNode, admin.Replacement{Old: "n3", Name: "n4", Lifetime: time.Hour}),
		refused(t, c, admin.WithdrawInvitation, admin.Withdrawal{Name: "n4"}),
		refused(t, c, admin.TransferLeader, admin.Transfer{To: "n2"}),
		refused(t, c, admin.RemoveNode, admin.Removal{Name: "n3"}),
		refused(t, c, admin.AcceptClock, admin.ClockAcceptance{}),
	}
}

func TestClusterRefusals(t *testing.T) {
	w, c := newCluster(t)
	for name, test := range map[string]struct {
		err   error
		class admin.Class
		text  string
	}{
		"a rule":          {admintest.Rule("the cluster has no node n9"), admin.Refused, "the cluster has no node n9"},
		"a rule, wrapped": {fmt.Errorf("somewhere: %w", admintest.Rule("no")), admin.Refused, "no"},
		"no leader":       {fmt.Errorf("%w: no leader", oauth.ErrUnavailable), admin.Unavailable, "nothing can be decided now"},
		"a fault":         {errors.New("the disk is on fire"), admin.Internal, "the server failed"},
	} {
		t.Run(name, func(t *testing.T) {
			w.Cluster.Fail(test.err)
			for _, p := range every(t, c) {
				require.Equal(t, test.class, p.Class)
				require.True(t, strings.HasPrefix(p.Text, test.text), p.Text)
			}
		})
	}
	w.Cluster.Fail(nil)
	for _, lifetime := range []time.Duration{0, -time.Hour, time.Second - 1, 7*24*time.Hour + 1} {
		p := refused(t, c, admin.InviteNode, admin.Invitation{Name: "n4", Lifetime: lifetime})
		require.Equal(t, "node n4: lifetime must be from 1s to 168h", p.Error())
	}
	require.Equal(t, "cluster: old is empty", refused(t, c, admin.ReplaceNode, admin.Replacement{Name: "n4", Lifetime: time.Hour}).Error())
	require.Equal(t, "cluster: name is empty", refused(t, c, admin.RemoveNode, admin.Removal{Force: true}).Error())
	p := refused(t, c, admin.InitCluster, admin.NewCluster{PublicURL: "https://id.example"})
	require.Equal(t, admin.Refused, p.Class)
	require.Equal(t, "this node belongs to a cluster already", p.Text)
	require.Empty(t, w.Cluster.Calls())
	require.Contains(t, w.Log.String(), `operation=cluster.remove class=refused cause="the cluster has no node n9"`)
}

func TestNodeThatRunsAlone(t *testing.T) {
	_, c := newEnv(t)
	all := append(every(t, c),
		refused(t, c, admin.InitCluster, admin.NewCluster{PublicURL: "https://id.example"}),
		refused(t, c, admin.ShowCluster, admin.StatusQuery{}),
		refused(t, c, admin.ChecksumNode, admin.ChecksumQuery{}),
	)
	for _, err := range []error{
		admin.SaveBackup(context.Background(), c, new(strings.Builder)),
		restoreError(t, c, "backup", admin.RestoreOptions{}),
	} {
		var p *admin.Problem
		require.ErrorAs(t, err, &p)
		all = append(all, p)
	}
	for _, p := range all {
		require.Equal(t, admin.Refused, p.Class)
		require.Equal(t, admin.ErrStandalone.Error(), p.Text)
	}
}

func restoreError(t *testing.T, c *admin.Caller, backup string, o admin.RestoreOptions) error {
	t.Helper()
	_, err := admin.RestoreBackup(t.Context(), c, strings.NewReader(backup), o)
	require.Error(t, err)
	return err
}
