package cli

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

var update = flag.Bool("update", false, "rewrite the golden files of the command line")

// newClusterCLI returns the command line of a node in a cluster of three nodes.
func newClusterCLI(t *testing.T) *cliEnv {
	t.Helper()
	w := admintest.New(t)
	w.Cluster = admintest.NewCluster()
	return &cliEnv{w, runnerOf(t, w.Serve())}
}

// newSetupCLI returns the command line of a node that has no cluster yet.
func newSetupCLI(t *testing.T, s admin.Setup) *cliEnv {
	t.Helper()
	s.Log = slog.New(slog.DiscardHandler)
	dir, _ := admintest.Open(t, admin.NewSetupHandler(s))
	return &cliEnv{nil, runnerOf(t, dir)}
}

// golden compares an output with a file. The file has times in UTC.
func (c *cliEnv) golden(name, got string) {
	c.T.Helper()
	for _, at := range []time.Time{admintest.Started.Add(10 * time.Minute), admintest.Started.Add(30 * 24 * time.Hour), admintest.Started.Add(90 * 24 * time.Hour)} {
		got = strings.ReplaceAll(got, formatTime(at), at.Format("2006-01-02 15:04"))
	}
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(c.T, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(c.T, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(c.T, err)
	require.Equal(c.T, string(want), got)
}

// unhealthy changes the status to that of a cluster with several faults.
func unhealthy(s *admin.ClusterStatus) {
	s.Leader, s.Nodes[0].Follows, s.Nodes[2].Follows = "", "", ""
	s.Nodes[0].State = "candidate"
	s.Nodes[1] = status.Node{
		Name: "n2", ID: "id-n2", Address: "10.0.0.2:8300", Role: "voter", State: "unreachable",
		Version: "v1", Level: 1, Error: "connection refused",
	}
	s.Nodes[2].Role, s.Nodes[2].Lag, s.Nodes[2].ClockOffset = "nonvoter", 20_000, -6250
	s.Nodes[2].DiskFree, s.Nodes[2].Error = 64<<20, "the disk\x1b[31m hangs"
}

func TestClusterStatusOnTheCommandLine(t *testing.T) {
	c := newClusterCLI(t)
	c.Do(&ledger.AddKey{Key: ledger.Key{ID: "k2", Purpose: ledger.ForSigning, Sealed: []byte("sealed")}})
	c.golden("status.txt", c.OK("", "cluster", "status"))
	c.golden("status.json", c.OK("", "cluster", "status", "-o", "json"))

	c.Cluster.Change(unhealthy)
	for name, args := range map[string][]string{
		"status_unhealthy.txt":  {"cluster", "status"},
		"status_unhealthy.json": {"cluster", "status", "-o", "json"},
	} {
		r := c.Run("", args...)
		require.Equal(t, ExitUnhealthy, r.Code)
		require.Equal(t, "mintmark: the cluster is not healthy\n", r.Err)
		c.golden(name, r.Out)
	}
}

// With --voters, the status is not healthy until that many nodes vote and answer. An
// operator can thus wait for a node that was just started.
func TestStatusWaitsForVoters(t *testing.T) {
	c := newClusterCLI(t)
	c.OK("", "cluster", "status", "--voters", "3")
	for what, change := range map[string]func(*admin.ClusterStatus){
		"not known yet":   func(s *admin.ClusterStatus) { s.Nodes = s.Nodes[:2] },
		"about to vote":   func(s *admin.ClusterStatus) { s.Nodes[2].Role = "nonvoter" },
		"does not answer": func(s *admin.ClusterStatus) { s.Nodes[2].Role, s.Nodes[2].State = "nonvoter", "unreachable" },
	} {
		c := newClusterCLI(t)
		c.Cluster.Change(change)
		c.OK("", "cluster", "status")
		c.OK("", "cluster", "status", "--voters", "2")
		r := c.Run("", "cluster", "status", "--voters", "3")
		require.Equal(t, ExitUnhealthy, r.Code, what)
		require.True(t, strings.HasPrefix(r.Out, "not healthy: "), r.Out)
		require.Contains(t, r.Out, "\nproblem: 2 of the 3 nodes that are to vote do so and answer\n")
		var told admin.ClusterStatus
		require.NoError(t, json.Unmarshal([]byte(c.Run("", "cluster", "status", "--voters", "3", "-o", "json").Out), &told))
		require.False(t, told.Healthy)
		require.Len(t, told.Problems, 1)
	}
	c.Fails(ExitLocal, "--voters: expected a whole number from 0 on, got \"-1\"", "cluster", "status", "--voters", "-1")
	require.Contains(t, c.OK("", "cluster", "--help"), "nothing can be decided now or the cluster is not healthy")
}

// TestStatusExpectsTheVotersOfBefore: a cluster in which three nodes have voted is not
// healthy with fewer, unless an operator passes --voters.
func TestStatusExpectsTheVotersOfBefore(t *testing.T) {
	for most, wanted := range map[int]int{0: 0, 1: 0, 2: 0, 3: 3, 4: 3, 5: 5, 6: 5} {
		require.Equal(t, wanted, (&admin.ClusterStatus{MostMembers: most}).ExpectedVoters(), most)
	}
	c := newClusterCLI(t)
	left := func(most int) func(*admin.ClusterStatus) {
		return func(s *admin.ClusterStatus) { s.Nodes, s.MostMembers = s.Nodes[:2], most }
	}
	c.Cluster.Change(left(2))
	c.OK("", "cluster", "status")
	c.Cluster.Change(left(3))
	r := c.Run("", "cluster", "status")
	require.Equal(t, ExitUnhealthy, r.Code)
	require.Contains(t, r.Out, "\nproblem: fewer nodes vote than have voted before: 2 of 3\nhint: have another node join: mintmark cluster invite --name NAME;")
	c.OK("", "cluster", "status", "--voters", "2")
}

// A running node should be stopped before it is removed. Otherwise the command reports
// what that costs.
func TestTakingOutANodeThatRuns(t *testing.T) {
	const living, removed = "still runs", "was still running"
	c := newClusterCLI(t)
	require.Contains(t, c.Run("", "cluster", "replace", "n2", "--name", "n4").Err, living)
	require.Contains(t, c.Run("", "cluster", "remove", "n2", "--yes").Err, removed)
	c.Cluster.Change(unhealthy) // n2 doesn't answer any more
	require.NotContains(t, c.Run("", "cluster", "replace", "n2", "--name", "n4").Err, living)
	require.NotContains(t, c.Run("", "cluster", "remove", "n2", "--yes").Err, removed)
	require.Contains(t, c.OK("", "cluster", "remove", "--help"), "Stop a node that still runs first")
}

// The status of a removed node reports the removal. It doesn't advise to start other
// nodes or to recover.
func TestStatusOfARemovedNode(t *testing.T) {
	c := newClusterCLI(t)
	why := member.ErrRemoved.Error() + " (as n2 reports)"
	c.Cluster.Change(func(s *admin.ClusterStatus) {
		unhealthy(s)
		s.Removed = why
	})
	r := c.Run("", "cluster", "status")
	require.Equal(t, ExitUnhealthy, r.Code)
	require.Equal(t, "removed: "+why+"\nhint: "+adviceFor(member.ErrRemoved)+"\n", r.Out)
	var told admin.ClusterStatus
	require.NoError(t, json.Unmarshal([]byte(c.Run("", "cluster", "status", "-o", "json").Out), &told))
	require.Equal(t, []string{why}, told.Problems)
}

// The join token is the only line of standard output, so that a script can capture it.
// Standard error has the command that uses the token.
func TestInviteOnTheCommandLine(t *testing.T) {
	c := newClusterCLI(t)
	r := c.Run("", "cluster", "invite", "--name", "n4")
	require.Equal(t, ExitOK, r.Code, r.Err)
	require.Equal(t, admintest.Token.Reveal()+"\n", r.Out)
	require.Contains(t, r.Err, "\n  mintmark serve --name n4 --join 10.0.0.1:8300 --token-file FILE\n")
	require.Contains(t, r.Err, formatTimeSeconds(admintest.Started.Add(time.Hour)))
	require.NotContains(t, r.Err, admintest.Token.Reveal())

	require.JSONEq(t, fmt.Sprintf(`{"token":%q,"name":"n5","expires":"2026-11-21T09:02:00Z"}`, admintest.Token.Reveal()),
		c.OK("", "cluster", "replace", "n3", "--name", "n5", "--ttl", "2m", "-o", "json"))
	require.Equal(t, []string{"invite n4 replaces= 1h0m0s", "invite n5 replaces=n3 2m0s"}, c.Cluster.Calls())

	c.Cluster.Change(func(s *admin.ClusterStatus) { s.Nodes = nil })
	require.Contains(t, c.Run("", "cluster", "invite", "--name", "n4").Err, "--join HOST:PORT ")
}

func TestInvitationsOnTheCommandLine(t *testing.T) {
	c := newClusterCLI(t)
	require.Equal(t, "NAME  REPLACES  EXPIRES\nn4    n3        "+formatTimeSeconds(admintest.Started.Add(time.Hour))+"\n", c.OK("", "cluster", "invitation", "list"))
	require.Equal(t, "the invitation for node n4 is withdrawn\n", c.OK("", "cluster", "invitation", "withdraw", "n4"))
	require.Equal(t, []string{"withdraw n4"}, c.Cluster.Calls())
	c.Cluster.Change(func(s *admin.ClusterStatus) { s.Leader = "" })
	require.Contains(t, c.Run("", "cluster", "invitation", "list").Err, "the cluster can't decide now")
}

// The command that invite prints is accepted by serve.
func TestInviteNamesACommandThatExists(t *testing.T) {
	c := newClusterCLI(t)
	remark := c.Run("", "cluster", "invite", "--name", "n4").Err
	_, line, _ := strings.Cut(remark, "\n\n  mintmark ")
	line, _, _ = strings.Cut(line, "\n")
	serve, flags, err := testRoot().Find(strings.Fields(line))
	require.NoError(t, err)
	require.Equal(t, "serve", serve.Name())
	require.NoError(t, serve.ParseFlags(append(flags, "--cluster-listen", ":8300", "--advertise", "10.0.0.4:8300")))
}

func TestClusterChangesOnTheCommandLine(t *testing.T) {
	c := newClusterCLI(t)
	require.Equal(t, "node n1 leads\n", c.OK("", "cluster", "transfer-leader", "--to", "n1"))
	require.Equal(t, "node n3 leads\n", c.OK("", "cluster", "transfer-leader"))
	require.Equal(t, "node n2 leads already\n", c.OK("", "cluster", "transfer-leader", "--to", "n2"))
	require.Equal(t, "node n3 is removed\n", c.OK("", "cluster", "remove", "n3", "--yes"))
	require.Equal(t, "n2", c.Object("cluster", "remove", "n2", "--wait", "--yes")["id"])
	require.Contains(t, c.OK("", "cluster", "accept-clock"), "the clock of node n1 was accepted")
	require.Equal(t, []string{
		"transfer to=n1", "transfer to=", "transfer to=n2", "remove n3 force=false", "remove n2 force=true", "accept-clock",
	}, c.Cluster.Calls())

	sum := "ab" + strings.Repeat("0", 60) + "01"
	require.Equal(t, sum+"  1000  n1\n", c.OK("", "cluster", "checksum"))
	require.Equal(t, map[string]any{"name": "n1", "applied": 1000.0, "checksum": sum}, c.Object("cluster", "checksum"))
}

func TestClusterExitCodes(t *testing.T) {
	c := newClusterCLI(t)
	c.Fails(ExitLocal, "--name is missing", "cluster", "invite")
	c.Fails(ExitLocal, "--name is missing", "cluster", "replace", "n1")
	c.Fails(ExitLocal, "--public-url is missing", "cluster", "init")
	c.Fails(ExitLocal, "NODE is missing", "cluster", "remove")
	c.Fails(ExitLocal, "--output must be text or json", "cluster", "status", "-o", "xml")
	c.Fails(ExitRefused, "lifetime must be", "cluster", "invite", "--name", "n4", "--ttl", "-1h")
	c.Fails(ExitRefused, "belongs to a cluster already", "cluster", "init", "--public-url", "https://id.example")

	changes := [][]string{
		{"invite", "--name", "n4"},
		{"replace", "n3", "--name", "n4"},
		{"transfer-leader"},
		{"remove", "n3", "--yes"},
		{"accept-clock"},
	}
	for _, test := range []struct {
		err  error
		code int
		text string
	}{
		{admintest.Rule("the cluster has no node n9"), ExitRefused, "the cluster has no node n9"},
		{oauth.ErrUnavailable, ExitUnhealthy, "nothing can be decided now, and nothing was changed"},
		{fmt.Errorf("%w: no leader", oauth.ErrUnavailable), ExitUnhealthy, "nothing can be decided now, and nothing was changed"},
		{oauth.ErrOutcomeUnknown, ExitUnhealthy, "whether this was done can't be told"},
		{fmt.Errorf("a fault"), ExitUnhealthy, "the node's log has the reason"},
	} {
		c.Cluster.Fail(test.err)
		for _, args := range changes {
			c.Fails(test.code, test.text, append([]string{"cluster"}, args...)...)
		}
	}
	require.Empty(t, c.Cluster.Calls())

	c.Dir = filepath.Join(c.Dir, "elsewhere")
	c.Fails(ExitUnreachable, "no answer at", "cluster", "status")

	alone := newCLI(t)
	alone.Fails(ExitRefused, "this node runs alone (a node of a cluster is run by: mintmark serve)", "cluster", "status")
	alone.Fails(ExitRefused, "this node runs alone", "cluster", "init", "--public-url", "https://id.example")
}

func TestInitOnTheCommandLine(t *testing.T) {
	var got []admin.NewCluster
	c := newSetupCLI(t, admin.Setup{Name: "n1", Create: func(_ context.Context, c admin.NewCluster) error {
		got = append(got, c)
		if len(got) == 1 {
			return fmt.Errorf("no room: %w", oauth.ErrUnavailable)
		}
		return nil
	}})
	c.Fails(ExitUnhealthy, "mintmark cluster init", "client", "list")
	r := c.Run("", "cluster", "status", "-o", "json")
	require.Equal(t, ExitUnhealthy, r.Code)
	require.True(t, json.Valid([]byte(r.Out)))
	require.Contains(t, r.Out, `"healthy": false`)
	r = c.Run("", "cluster", "status")
	require.Equal(t, ExitUnhealthy, r.Code)
	require.Equal(t, "not healthy: no leader, 0 of 0 nodes answer, term 0, feature level 0 (asked n1)\n"+
		"problem: this node belongs to no cluster yet\n"+
		"hint: make one: mintmark cluster init --public-url URL, or start the node with --join, or restore a backup: mintmark cluster backup restore FILE\n", r.Out)

	c.Fails(ExitRefused, "--public-url \"id.example\" must be", "cluster", "init", "--public-url", "id.example")
	c.Fails(ExitRefused, "--app-url \"https://id.example/app\" must be", "cluster", "init", "--public-url", "https://id.example", "--app-url", "https://id.example/app")
	require.Empty(t, got)
	c.Fails(ExitUnhealthy, "nothing can be decided now", "cluster", "init", "--public-url", "https://id.example")
	out := c.OK("", "cluster", "init", "--public-url", "https://id.example/", "--app-url", "https://app.example")
	require.Equal(t, "the cluster is made: the API is https://id.example, the pages are https://app.example\n", out)
	require.Equal(t, admin.NewCluster{PublicURL: "https://id.example", AppURL: "https://app.example"}, got[1])
	c.Fails(ExitRefused, "belongs to a cluster already", "cluster", "init", "--public-url", "https://id.example")
}

// TestSecondInvitationSaysSo: invite reports that the earlier token for the same node is
// no longer valid.
func TestSecondInvitationSaysSo(t *testing.T) {
	c := newClusterCLI(t)
	r := c.Run("", "cluster", "invite", "--name", "n4") // the node has an earlier invitation for n4
	require.Equal(t, ExitOK, r.Code, r.Err)
	require.Contains(t, r.Err, "this token replaces an earlier one for node n4")
	require.NotContains(t, c.Run("", "cluster", "invite", "--name", "n5").Err, "this token replaces")
}

// TestReplacingANodeHasOneOrder: the help and the guide list the steps in the same order.
func TestReplacingANodeHasOneOrder(t *testing.T) {
	c := newClusterCLI(t)
	guide := ""
	for _, path := range []string{"README.md", "cmd/mintmark/docs/operate.md"} {
		text, err := os.ReadFile(filepath.Join(repository, path))
		if err != nil && !os.IsNotExist(err) {
			require.NoError(t, err)
		}
		if _, after, ok := strings.Cut(string(text), "**Replace a node**"); ok {
			guide, _, _ = strings.Cut(after, "**Remove a node**")
		}
	}
	help, _, _ := strings.Cut(c.OK("", "cluster", "replace", "--help"), "Usage:")
	for what, text := range map[string]string{"help": help, "guide": guide} {
		for _, step := range []string{"out of the proxy", "mintmark cluster replace ", "mintmark serve --name ", "mintmark cluster status --voters "} {
			_, after, ok := strings.Cut(text, step)
			require.True(t, ok, "%s: %q is missing, or before an earlier step", what, step)
			text = after
		}
	}
}
