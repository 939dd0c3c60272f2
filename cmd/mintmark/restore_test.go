package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/bench"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
)

// tokenAnswer refreshes with a token of the benchmark's client.
func tokenAnswer(t testing.TB, address, token string) (status int, next string) {
	t.Helper()
	w, err := dial(address)
	require.NoError(t, err)
	defer w.conn.Close()
	status, body, err := w.post("/v2/auth/oauth2/token",
		"grant_type=refresh_token&client_id=bench-app&client_secret=bench-secret&refresh_token="+token)
	require.NoError(t, err)
	next, _ = bench.RefreshTokenIn(body)
	return status, next
}

// TestRestoreSignsNobodyOut: a restored cluster has the state of the backup and the
// changes of its journal. Every grant continues with the client's current token, and
// every revocation stays.
func TestRestoreSignsNobodyOut(t *testing.T) {
	dir := t.TempDir()
	_, tokens, _ := seed(t, dir, 60) // three users
	n := newNodeOf(t, filepath.Join(dir, "data"))
	n.start(t)
	require.True(t, n.WaitReady(20*time.Second))
	refresh := func(i int) {
		t.Helper()
		status, next := tokenAnswer(t, n.Public, tokens[i])
		require.Equal(t, 200, status)
		tokens[i] = next
	}
	for i := range 20 {
		refresh(i)
	}
	spent := tokens[5]
	operator := n.operator(t)
	files := t.TempDir()
	saved, kept := filepath.Join(files, "state"), filepath.Join(files, "journal")
	var state, journal bytes.Buffer
	require.NoError(t, admin.SaveBackup(t.Context(), operator, &state))

	for range 3 { // generations that are newer than the backup
		for i := range 20 {
			refresh(i)
		}
	}
	disabled, err := admin.SetUserState.Call(t.Context(), operator, admin.UserStateChange{User: "u-1", State: "disable"})
	require.NoError(t, err)
	require.Equal(t, "disabled", disabled.State)
	grants, err := admin.ListGrants.Call(t.Context(), operator, admin.GrantFilter{User: "u-0"})
	require.NoError(t, err)
	ended := grants.Grants[0].ID
	_, err = admin.RevokeGrant.Call(t.Context(), operator, admin.GrantRef{ID: ended})
	require.NoError(t, err)
	require.NoError(t, admin.SaveJournal(t.Context(), operator, &journal))
	require.NoError(t, os.WriteFile(saved, state.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(kept, journal.Bytes(), 0o600))
	h, err := backup.Inspect(bytes.NewReader(state.Bytes()))
	require.NoError(t, err)
	require.Equal(t, uint64(60), h.Counts["grants"])
	require.NotContains(t, h.Counts, "restores", "the cluster has no earlier restore")
	n.Kill()

	// The journal read from the folder of the killed node has the same changes.
	dead, warning := readOffline(t, n.Dir, "journal")
	require.Empty(t, warning)
	require.Greater(t, len(dead), 100)

	fresh := newWaitingProcess(t, dir)
	_, err = admin.RestoreBackup(t.Context(), fresh.operator(t), bytes.NewReader(state.Bytes()), admin.RestoreOptions{AcceptGap: true})
	require.ErrorContains(t, err, "cluster key", "the key of the backup is not there yet")
	key, err := os.ReadFile(filepath.Join(n.Dir, "cluster.key"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(fresh.Dir, "cluster.key"), key, 0o600))
	restore := func(o admin.RestoreOptions) (admin.RestoreReport, error) {
		return admin.RestoreBackup(t.Context(), fresh.operator(t), bytes.NewReader(state.Bytes()), o)
	}
	_, err = restore(admin.RestoreOptions{})
	require.ErrorIs(t, err, server.ErrGap, "there is no journal")
	report, err := restore(admin.RestoreOptions{Journals: [][]byte{journal.Bytes(), dead}, DryRun: true})
	require.NoError(t, err)
	require.Empty(t, report.Gap)
	require.NotEmpty(t, report.Changes)
	fresh.expectWaiting()
	damaged := bytes.Clone(journal.Bytes())
	damaged[len(damaged)/2] ^= 1
	_, err = restore(admin.RestoreOptions{Journals: [][]byte{damaged}})
	require.Error(t, err)
	again, err := restore(admin.RestoreOptions{Journals: [][]byte{journal.Bytes(), dead}})
	require.NoError(t, err)
	require.Equal(t, report.Changes, again.Changes)
	fresh.running()
	require.NoFileExists(t, filepath.Join(fresh.Dir, "restoring"))

	signedOut := 0
	for i := range 20 {
		status, next := tokenAnswer(t, fresh.Public, tokens[i])
		if status != 200 {
			signedOut++
			continue
		}
		tokens[i] = next
	}
	require.Equal(t, 1, signedOut, "only the grant that was revoked after the backup is refused")
	status, _ := tokenAnswer(t, fresh.Public, spent)
	require.Equal(t, 400, status, "a spent token is refused")
	status, _ = tokenAnswer(t, fresh.Public, tokens[5])
	require.Equal(t, 400, status, "reuse of the spent token ended the grant")
	for i := 20; i < 40; i++ {
		status, _ := tokenAnswer(t, fresh.Public, tokens[i])
		require.Equal(t, 400, status, "the user was disabled after the backup")
	}
	for i := 40; i < 60; i++ {
		status, _ := tokenAnswer(t, fresh.Public, tokens[i])
		require.Equal(t, 200, status)
	}
	_, err = restore(admin.RestoreOptions{AcceptGap: true})
	require.ErrorContains(t, err, "belongs to a cluster already")
}

// waitingProcess is a node without a cluster.
type waitingProcess struct {
	*nodeProcess
	t testing.TB
}

func newWaitingProcess(t testing.TB, dir string) *waitingProcess {
	t.Helper()
	w := &waitingProcess{newNodeProcess(t, dir, "fresh"), t}
	w.launch(t)
	require.Eventually(t, func() bool {
		c, err := net.Dial("unix", filepath.Join(w.Dir, admin.SocketName))
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, 20*time.Second, 10*time.Millisecond)
	return w
}

func (w *waitingProcess) expectWaiting() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Second)
	defer cancel()
	s, err := admin.ShowCluster.Call(ctx, w.operator(w.t), admin.StatusQuery{})
	require.NoError(w.t, err)
	require.False(w.t, s.Healthy)
	require.False(w.t, w.Ready())
}

// running waits until the node serves.
func (w *waitingProcess) running() {
	w.t.Helper()
	w.serving(w.t)
	require.True(w.t, w.WaitReady(20*time.Second))
}

// TestRestoreCutShortNeverServes: a restored state without its journal would bring back
// what was revoked.
func TestRestoreCutShortNeverServes(t *testing.T) {
	dir := t.TempDir()
	seed(t, dir, 1)
	data := filepath.Join(dir, "data")
	require.NoError(t, os.WriteFile(filepath.Join(data, "restoring"), nil, 0o600))
	o := config.Default()
	o.DataDir, o.Name = data, "n1"
	o.Listen, o.OpsListen, o.ClusterListen = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	c, err := server.FromOptions(&o, version, o.Logger(io.Discard))
	require.NoError(t, err)
	_, err = server.Start(t.Context(), c)
	require.ErrorContains(t, err, "cut short")
}
