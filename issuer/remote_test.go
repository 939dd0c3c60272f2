package issuer_test

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestOperatorTokenOnThreeNodes verifies over TLS that every node accepts a token once
// one node has added it, and that every node refuses the token once another node has
// answered its revocation, while other requests with it are in progress.
func TestOperatorTokenOnThreeNodes(t *testing.T) {
	c := issuertest.NewPeers(t)
	var local []*admin.Caller
	var remote []func(admin.Plain) *admin.Caller
	for _, p := range c.All {
		conf := admin.Config{
			Ledger: p.Issuer, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler),
			Secret: p.Issuer.Secret, SecretOfSHA256: p.Issuer.SecretOfSHA256, SecretOfHash: p.Issuer.SecretOfHash, Digest: p.Issuer.Digest, Declared: p.Issuer.Declared,
		}
		dir, _ := admintest.Open(t, admin.NewHandler(conf))
		socket, err := admin.NewCaller(dir)
		require.NoError(t, err)
		t.Cleanup(socket.Close)
		local = append(local, socket)
		h := httptest.NewUnstartedServer(admin.NewRemoteHandler(admin.Remote{
			Config: conf, Refused: func(*http.Request, ledger.Cause, string) {},
		}))
		h.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
		h.StartTLS()
		t.Cleanup(h.Close)
		remote = append(remote, func(token admin.Plain) *admin.Caller {
			caller, err := admin.NewRemoteCaller(admin.RemoteServer{URL: h.URL, Authority: poolOf(h), Token: token})
			require.NoError(t, err)
			t.Cleanup(caller.Close)
			return caller
		})
	}
	for round := range 12 {
		added, err := admin.AddOperatorToken.Call(t.Context(), local[round%3], admin.NewOperatorToken{
			Name: "ci", Scopes: []string{"read"}, Lifetime: time.Hour,
		})
		require.NoError(t, err)
		var callers []*admin.Caller
		for i := range remote {
			callers = append(callers, remote[i](added.Token))
			_, err := admin.ListUsers.Call(t.Context(), callers[i], admin.UserFilter{})
			require.NoError(t, err, "round %d, node %d", round, i)
		}
		var busy sync.WaitGroup
		var stop atomic.Bool
		for _, caller := range callers {
			busy.Go(func() {
				for !stop.Load() {
					_, _ = admin.ListUsers.Call(t.Context(), caller, admin.UserFilter{})
				}
			})
		}
		_, err = admin.RevokeOperatorToken.Call(t.Context(), local[(round+1)%3], admin.OperatorTokenRef{Token: added.ID})
		require.NoError(t, err)
		for i, caller := range callers {
			_, err := admin.ListUsers.Call(t.Context(), caller, admin.UserFilter{})
			var p *admin.Problem
			require.ErrorAs(t, err, &p, "round %d, node %d", round, i)
			require.Equal(t, ledger.OperatorTokenRevoked, p.Cause, "round %d, node %d: %v", round, i, p)
		}
		stop.Store(true)
		busy.Wait()
	}
}

func poolOf(h *httptest.Server) *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(h.Certificate())
	return p
}
