package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
)

const alicePassword = "correct horse"

// newEnv returns an Env with the user alice, who owns the pending client cal-app.
func newEnv(t *testing.T) (*admintest.Env, *admin.Caller) {
	t.Helper()
	w := admintest.New(t)
	c, err := admin.NewCaller(w.Serve())
	require.NoError(t, err)
	t.Cleanup(c.Close)
	ask(t, c, admin.AddUser, admin.NewUser{ID: "u-alice", Username: "alice", Name: "Alice", Password: alicePassword})
	ask(t, c, admin.AddClient, calApp())
	return w, c
}

func calApp() admin.NewClient {
	return admin.NewClient{
		ID: "cal-app", Name: "Calendar App", Owner: "alice", Type: "confidential",
		RedirectURIs: []string{"https://cal.example/callback"}, Scopes: []string{"PROFILE_READ", "BOOKING_READ"},
	}
}

// ask runs an operation that must succeed.
func ask[Q, A any](t *testing.T, c *admin.Caller, o admin.Operation[Q, A], q Q) A {
	t.Helper()
	a, err := o.Call(t.Context(), c, q)
	require.NoError(t, err)
	return a
}

// refused runs an operation that must be refused.
func refused[Q, A any](t *testing.T, c *admin.Caller, o admin.Operation[Q, A], q Q) *admin.Problem {
	t.Helper()
	_, err := o.Call(t.Context(), c, q)
	var p *admin.Problem
	require.ErrorAs(t, err, &p)
	return p
}

func approve(t *testing.T, c *admin.Caller, id string) {
	t.Helper()
	ask(t, c, admin.ReviewClient, admin.Review{ID: id, Verdict: "approve"})
}

func legacyApp() admin.LegacyClient {
	return admin.LegacyClient{
		ID: "old-app", Name: "Old App", Type: "confidential", Owner: "alice",
		RedirectURIs: []string{"https://old.example/cb"}, Secrets: []admin.Plain{"old-secret-of-1999"},
	}
}

func authenticates(w *admintest.Env, client, secret string) bool {
	s, _ := w.Secret(secret)
	for _, have := range w.View().Client(client).Secrets {
		if have.Active() && have.Digest == s.Digest {
			return true
		}
	}
	return false
}

var _ admin.Ledger = (*admintest.Env)(nil)
