package issuer_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/replica"
)

// TestSecretsEnd verifies that the leader revokes a secret when its end has come, and not before.
func TestSecretsEnd(t *testing.T) {
	b := issuertest.New(t)
	secret, err := b.Secret("another-secret")
	require.NoError(t, err)
	old := b.View().Client("app").Secrets[0].ID
	b.Accept(&ledger.AddSecret{Actor: ledger.Actor{Operator: true}, Client: "app", Secret: secret, EndOld: time.Hour})
	b.EndSecrets(t.Context())
	require.Equal(t, 2, b.View().Client("app").ActiveSecrets())

	b.Offset.Store(int64(time.Hour))
	require.Eventually(t, func() bool { return !b.View().Client("app").SecretOf(old).Active() }, 10*time.Second, 10*time.Millisecond,
		"the duty runs every few seconds")
	require.True(t, b.View().Client("app").SecretOf(secret.ID).Active())
	require.Equal(t, old+" at its end", b.View().LastEvent().Detail)
	last := b.View().Client("app").Last
	b.EndSecrets(t.Context())
	require.Equal(t, last, b.View().Client("app").Last)
}

// lockedLog is a log that can be read while the node writes to it.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestDutiesOfAPastLeader verifies that a node that no longer leads logs no failure of the duties
// that were under way: the next leader continues.
func TestDutiesOfAPastLeader(t *testing.T) {
	var log lockedLog
	b := issuertest.New(t)
	b.Stop()
	b.Log = slog.New(slog.NewTextHandler(&log, nil))
	b.Start()
	_, err := b.Keyring.Rotate(t.Context(), ledger.ForSigning)
	require.NoError(t, err)
	b.Accept(ledger.NewReportFailures(b.Node.ID(), ledger.HourOf(b.Now()), ledger.FailureCounts{SignIns: 1}))
	past, cancel := context.WithCancel(t.Context())
	cancel()
	b.Offset.Store(int64(100 * 24 * time.Hour)) // a rotation, a step of a key and a sum of failures are due
	for _, duty := range b.LeaderDuties() {
		duty(past)
	}
	require.NotContains(t, log.String(), context.Canceled.Error())
}

// TestFirstTimelineWithoutALeader verifies that an outage is logged once.
func TestFirstTimelineWithoutALeader(t *testing.T) {
	node, err := cluster.Open(t.Context(), cluster.Config{Dir: t.TempDir(), Bootstrap: true, Machine: replica.Machine(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	require.NoError(t, node.Close(t.Context()))
	var log lockedLog
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // several attempts
	defer cancel()
	issuer.BeginTimeline(ctx, node, slog.New(slog.NewTextHandler(&log, nil)))
	require.Equal(t, 1, strings.Count(log.String(), "first timeline not begun"), log.String())
}
