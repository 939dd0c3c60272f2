package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestRestorePromises has a subtest for each documented sentence about backups and
// restores.
func TestRestorePromises(t *testing.T) {
	t.Parallel()
	n := newTestNode(t, withBenchFixtures(t), func(c *server.Config) {
		// Longer ago than the idle lifetime of a refresh token.
		c.Now, c.Elapsed = func() time.Time { return time.Now().Add(-40 * 24 * time.Hour) }, nil
	})
	operator := ledger.Actor{Operator: true}
	alice, bob := make([]string, 5), make([]string, 2)
	seedUser(t, n.s.Issuer, 1, alice, redeem)
	seedUser(t, n.s.Issuer, 2, bob, redeem)
	spend := func(at *testNode, token string) (status int, next string) {
		return tokenAnswer(t, at.s.PublicAddr.String(), token)
	}
	refresh := func(token string) string {
		t.Helper()
		status, next := spend(n, token)
		require.Equal(t, 200, status)
		return next
	}

	var state []byte
	file := filepath.Join(t.TempDir(), "backup")
	t.Run("backup save FILE: consistent, while commands go on", func(t *testing.T) {
		var busy sync.WaitGroup
		busy.Go(func() {
			for range 30 {
				alice[0] = refresh(alice[0])
			}
		})
		state = n.backup() // the backup that is restored below, saved under load
		busy.Wait()
	})
	t.Run("backup save FILE: 0600, never overwrites", func(t *testing.T) {
		run := func() error {
			c := rootCommand()
			c.SetOut(io.Discard)
			c.SetErr(io.Discard)
			c.SetArgs([]string{"cluster", "backup", "save", file, "--data-dir", n.dir})
			return c.ExecuteContext(t.Context())
		}
		require.NoError(t, run())
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		before := readFile(t, file)
		require.ErrorIs(t, run(), os.ErrExist)
		require.Equal(t, before, readFile(t, file))
	})
	t.Run("backup save FILE: encrypted to the cluster key", func(t *testing.T) {
		for _, inside := range []string{"user1", "bench-app", "u-2"} {
			require.NotContains(t, string(state), inside)
		}
		require.Equal(t, n.key().ID(), inspect(t, state).ClusterKey)
	})
	t.Run("backup save FILE: checksummed; backup inspect", func(t *testing.T) {
		require.Equal(t, backup.KindState, inspect(t, state).Kind)
		require.Equal(t, uint64(7), inspect(t, state).Counts["grants"])
		for _, at := range []int{3, len(state) / 2, len(state) - 1} {
			bad := bytes.Clone(state)
			bad[at] ^= 1
			_, err := backup.Inspect(bytes.NewReader(bad))
			require.Error(t, err)
		}
	})

	// After the backup tokens are refreshed and access is revoked.
	stolen := refresh(alice[1])
	alice[1] = refresh(refresh(refresh(stolen)))
	alice[2] = refresh(refresh(alice[2]))
	bob[0] = refresh(bob[0])
	var gone ledger.GrantID
	for g := range n.view().Grants() {
		if g.User == "u-2" && g.Due == 2 {
			gone = g.ID
		}
	}
	n.propose(&ledger.RevokeGrant{Actor: operator, Grant: gone})
	n.disable("alice")
	n.propose(&ledger.SetPassword{Actor: operator, User: "u-bob", Password: "another"})
	n.propose(&ledger.SetUserState{Actor: operator, User: "u-bob", State: ledger.Promote})
	client := n.view().Client("bench-app")
	n.propose(&ledger.ReviewClient{Actor: operator, ID: "bench-app", Verdict: ledger.Suspend, Revision: client.Revision})
	n.propose(&ledger.ReviewClient{Actor: operator, ID: "bench-app", Verdict: ledger.Resume, Revision: n.view().Client("bench-app").Revision})
	_, err := n.s.Issuer.Rekey.Replace(t.Context(), n.view().ActiveKey(ledger.ForSigning).ID)
	require.NoError(t, err)
	ring := n.view().ActiveKey(ledger.ForSigning).ID
	late, key := n.journal(), n.key()

	t.Run("backup restore FILE into an empty cluster", func(t *testing.T) {
		_, err := n.restore(state, admin.RestoreOptions{Journals: [][]byte{late}})
		require.ErrorContains(t, err, "belongs to a cluster already")
	})
	n.close()

	w := newWaitingTestNode(t, key)
	o := admin.RestoreOptions{Journals: [][]byte{late}}

	t.Run("restore --dry-run prints what would change", func(t *testing.T) {
		r := w.preview(state, late)
		for _, line := range []string{"user u-alice disabled", "user u-bob's password changed", "user u-bob made an administrator", "client bench-app suspended", "client bench-app resumed", "key " + ring + " activated", "grant " + gone.String()} {
			require.True(t, containsLine(r.Changes, line), "%s in %v", line, r.Changes)
		}
		require.NoDirExists(t, filepath.Join(w.dir, "raft"))
	})
	t.Run("the restore says which span the journal covers and is refused where there is a hole", func(t *testing.T) {
		require.Contains(t, w.refuses(state, admin.RestoreOptions{}), server.ErrGap.Error())
		r, err := w.restore(state, o)
		require.NoError(t, err)
		require.Len(t, r.Covered, 1)
		require.GreaterOrEqual(t, r.Covered[0].To, inspect(t, late).Seq)
		require.Equal(t, r.Covered[0].Ends, r.KnownUntil)
	})
	t.Run("A restore undoes no revocation that the journal still has", func(t *testing.T) {
		v := w.view()
		require.True(t, w.disabled("alice"))
		require.Equal(t, "another", v.User("u-bob").Password)
		require.True(t, v.User("u-bob").Admin)
		require.Equal(t, ledger.Approved, v.Client("bench-app").State)
		require.Equal(t, ring, v.ActiveKey(ledger.ForSigning).ID)
		require.NotZero(t, v.Grant(gone).Ended)
		status, _ := spend(w, bob[0])
		require.Equal(t, 400, status)
	})
	t.Run("A restore signs out nobody whose grant was in the backup; idle time starts anew", func(t *testing.T) {
		for _, token := range []string{alice[0], alice[2], alice[3], bob[1]} {
			status, _ := spend(w, token)
			require.Equal(t, 200, status)
		}
	})
	t.Run("a later generation is genuine once per grant: a spent token may win once until the rightful client's next refresh", func(t *testing.T) {
		status, thief := spend(w, stolen)
		require.Equal(t, 200, status)
		status, _ = spend(w, alice[1])
		require.Equal(t, 400, status, "the rightful client's fast-forward is the second")
		status, _ = spend(w, thief)
		require.Equal(t, 400, status, "the second fast-forward ended the grant")
	})
	t.Run("sweeping starts anew", func(t *testing.T) {
		at := ledger.Time(time.Now().UnixMilli())
		ids, _ := w.view().SweepableGrants(ledger.GrantID{}, 100, at)
		require.Empty(t, ids, "a grant that ended 40 days ago is kept at first")
		ids, _ = w.view().SweepableGrants(ledger.GrantID{}, 100, at.Add(25*time.Hour))
		require.Contains(t, ids, gone)
	})

	t.Run("one node; the others join it, and keep a journal beside the data", func(t *testing.T) {
		token := filepath.Join(t.TempDir(), "token")
		invited, err := admin.InviteNode.Call(t.Context(), w.operator(), admin.Invitation{Name: "n2", Lifetime: time.Hour})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(token, []byte(invited.Token.Reveal()), 0o600))
		second := startTestNode(t, func(c *server.Config) {
			c.Cluster.Name, c.Cluster.Join, c.Cluster.TokenFile = "n2", w.s.ClusterAddr.String(), token
		})
		second.await()
		w.disable("bob")
		require.Eventually(t, func() bool {
			label, err := second.s.Journal.Journal.Label()
			return err == nil && label != nil && second.disabled("bob")
		}, 20*time.Second, time.Millisecond)
		last := w.backup()
		var again []byte
		require.Eventually(t, func() bool { // a new leader's election is a command too
			again = second.journal()
			return inspect(t, again).Seq >= inspect(t, last).Seq
		}, 20*time.Second, 10*time.Millisecond)
		require.Equal(t, inspect(t, w.journal()).Timelines, inspect(t, again).Timelines)
		r := newWaitingTestNode(t, key).preview(last, again)
		require.Empty(t, r.Gap)
		require.Empty(t, r.Warnings)
	})
}

// withBenchFixtures makes a new cluster create the client of the benchmarks.
func withBenchFixtures(t testing.TB) func(*server.Config) {
	file := filepath.Join(t.TempDir(), "fixtures.yaml")
	require.NoError(t, os.WriteFile(file, []byte(benchFixtures), 0o600))
	o := dev.Options{Listen: "127.0.0.1:0", OpsListen: "127.0.0.1:0", DataDir: t.TempDir(), Fixtures: file}
	c, err := o.Config(io.Discard)
	require.NoError(t, err)
	return func(conf *server.Config) { conf.Prepare = c.Prepare }
}

func containsLine(lines []string, text string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, text) })
}
