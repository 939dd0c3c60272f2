package server

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/replica"
)

// looks is a context that counts how often it was looked at.
type looks struct {
	context.Context
	count atomic.Int64
}

func (l *looks) Err() error {
	l.count.Add(1)
	return l.Context.Err()
}

// TestWaitForSettingsPauses: a node that waits for settings pauses between its attempts, also
// if they fail at once, as those of a removed node do.
func TestWaitForSettingsPauses(t *testing.T) {
	node, err := cluster.Open(t.Context(), cluster.Config{Dir: t.TempDir(), Bootstrap: true, Machine: replica.Machine(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	require.NoError(t, node.Close(t.Context())) // its views fail at once, too
	s := &Server{Node: node, PublicAddr: &net.TCPAddr{}, config: Config{
		Settings: func(current ledger.Settings, _ string) (ledger.Settings, error) { return current, ErrNoSettings },
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 5*settingsPause)
	defer cancel()
	began, l := time.Now(), &looks{Context: ctx}
	_, err = s.configure(l)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.LessOrEqual(t, l.count.Load(), 2+3*int64(time.Since(began)/settingsPause), "busy loop")
}

// TestAbandonedAddresses: the addresses of an operator who has hung up are not used.
func TestAbandonedAddresses(t *testing.T) {
	s := newClosing()
	s.initRequests, s.PublicAddr = make(chan admin.NewCluster), &net.TCPAddr{}
	s.config.Settings = func(current ledger.Settings, _ string) (ledger.Settings, error) { return current, nil }
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	passed := make(chan error, 1)
	go func() { passed <- s.passAddresses(gone, admin.NewCluster{}) }()
	select {
	case err := <-passed:
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(20 * time.Second):
		close(s.stopping)
		t.Fatal("the request still waits")
	}
}
