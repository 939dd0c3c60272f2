package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

func (ts *testServer) eventsOf(kind ledger.EventKind) (n int) {
	for e := range ts.s.Issuer.View().Events() {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// TestLongScope: reuse is detected however long the scope parameter is, and a recorded
// scope has each name once.
func TestLongScope(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	first := ts.tokens("cal-app")
	long := strings.Repeat("PROFILE_READ ", 2800)
	second := tokensOf(t, ts.refresh("cal-app", first.Refresh, "scope", long))
	require.Equal(t, "PROFILE_READ", second.Scope)
	third := tokensOf(t, ts.refresh("cal-app", second.Refresh))

	a := ts.refresh("cal-app", first.Refresh, "scope", strings.Repeat("Z", 36_000))
	require.Equal(t, 400, a.Status, a.Body)
	require.Equal(t, "invalid_grant", a.ErrorCode())
	require.Equal(t, 400, ts.refresh("cal-app", third.Refresh).Status, "the grant has ended")
}

// TestAuditCantBeFlooded: repeating the same request adds only one event to the audit
// trail.
func TestAuditCantBeFlooded(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	first := ts.tokens("cal-app")
	token := tokensOf(t, ts.refresh("cal-app", first.Refresh)).Refresh
	for range 50 {
		tokensOf(t, ts.refresh("cal-app", first.Refresh))
	}
	for range 20 { // alternate between a token and its successor
		next := tokensOf(t, ts.refresh("cal-app", token))
		tokensOf(t, ts.refresh("cal-app", token))
		token = next.Refresh
	}
	require.Contains(t, []int{1, 2}, ts.eventsOf(ledger.EventRetried), "one event a day; midnight may fall into the test")
	_, _, text := asked(t, ts.Ops+"/metrics")
	require.Contains(t, text, "\nmintmark_refresh_retries_total 70\n", "the metrics count every retry")
	require.Contains(t, text, "\nmintmark_shared_generations_total 19\n", "every generation requested twice, except the first two")
	require.Contains(t, []int{1, 2}, ts.eventsOf(ledger.EventShared))
	for range 10 {
		o := ts.propose(&ledger.Disconnect{Actor: ledger.Actor{Operator: true}, User: "u-alice", Client: "cal-app"})
		require.Nil(t, o.Refusal)
	}
	require.Equal(t, 1, ts.eventsOf(ledger.EventDisconnected))
}

// TestLongClientIDs: client ids that are too long share one limit, so they can't fill the
// memory.
func TestLongClientIDs(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	limited := false
	for i := 0; !limited && i < 3000; i++ { // the slower the machine, the more are forgiven meanwhile
		a := ts.form("grant_type", "refresh_token", "refresh_token", "x", "client_secret", "x",
			"client_id", fmt.Sprintf("%d-%s", i, strings.Repeat("x", 200)))
		require.Contains(t, []int{401, 429}, a.Status)
		limited = a.Status == 429
	}
	require.True(t, limited)
}

// TestTwoLengths: a request with both Content-Length and chunked encoding is the last of
// its connection (RFC 9112 §6.1).
func TestTwoLengths(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	c, err := net.Dial("tcp", hostOf(ts.Base))
	require.NoError(t, err)
	defer c.Close()
	_, err = io.WriteString(c, "POST "+oauth.PathToken+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"+
		"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET "+oauth.PathJWKS+" HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	r := bufio.NewReader(c)
	first, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	require.True(t, first.Close)
	_, _ = io.Copy(io.Discard, first.Body)
	_, err = http.ReadResponse(r, nil)
	require.Error(t, err, "no second response")
}

func TestTwoContentTypes(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	a := ts.request("POST", oauth.PathToken, "{}", "Content-Type", "application/json", "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(t, "invalid_request", a.ErrorCode())
}

// TestIdleOperatorsConnections: a client that keeps all connections of the operators'
// listener open without sending more requests does not lock others out.
func TestIdleOperatorsConnections(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	address := strings.TrimPrefix(ts.Ops, "http://")
	for range 256 { // the maximum number of connections
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer c.Close()
		_, err = fmt.Fprintf(c, "GET /livez HTTP/1.1\r\nHost: %s\r\n\r\n", address)
		require.NoError(t, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, ts.Ops+"/livez", nil)
	require.NoError(t, err)
	answer, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
}

func TestSharedDataFolderIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Chmod(dir, 0o777))
	o := dev.Options{Listen: "127.0.0.1:0", OpsListen: "127.0.0.1:0", DataDir: dir}
	c, err := o.Config(io.Discard)
	require.NoError(t, err)
	_, err = server.Start(t.Context(), c)
	require.ErrorContains(t, err, "everybody may write")
}
