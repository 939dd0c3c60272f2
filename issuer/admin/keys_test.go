package admin_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func TestKeys(t *testing.T) {
	w, c := newEnv(t)
	list := ask(t, c, admin.ListKeys, admin.KeyFilter{}).Keys
	require.NotEmpty(t, list)
	for _, k := range list {
		require.Equal(t, "active", k.State)
		require.Equal(t, k.Activated.Add(90*24*time.Hour), k.NextStep, "the time of its rotation")
	}

	require.Equal(t, "k9", ask(t, c, admin.RotateKeys, admin.Rotation{Purpose: "signing"}).ID)
	_, err := admin.RotateKeys.Call(context.Background(), c, admin.Rotation{Purpose: "signing"})
	problem := new(admin.Problem)
	require.ErrorAs(t, err, &problem)
	require.Equal(t, admin.Refused, problem.Class, "a second key was announced")

	for _, k := range ask(t, c, admin.ListKeys, admin.KeyFilter{}).Keys {
		if k.Purpose == "signing" {
			require.Equal(t, w.Now().Add(2*w.View().Settings().JWKSMaxAge).Std(), k.NextStep)
		}
	}
	_, err = admin.RotateKeys.Call(context.Background(), c, admin.Rotation{Purpose: "lunch"})
	require.ErrorAs(t, err, &problem)
}

// TestReplaceKey verifies that the log names a leaked key, and that the steps taken are
// reported.
func TestReplaceKey(t *testing.T) {
	w := admintest.New(t)
	var asked []string
	answer, failure := admin.Rotated{ID: "k2", Purpose: "signing", Dropped: "k1", Steps: []string{"key k1 is dropped"}}, error(nil)
	w.Replace = func(_ context.Context, leaked string) (admin.Rotated, error) {
		asked = append(asked, leaked)
		return answer, failure
	}
	c, err := admin.NewCaller(w.Serve())
	require.NoError(t, err)
	defer c.Close()
	require.Equal(t, answer, ask(t, c, admin.RotateKeys, admin.Rotation{Leaked: "k1"}))
	require.Contains(t, w.Log.String(), "key k1", "the log must name the key")

	problem := new(admin.Problem)
	_, err = admin.RotateKeys.Call(t.Context(), c, admin.Rotation{Leaked: "k1", Purpose: "signing"})
	require.ErrorAs(t, err, &problem)
	require.Equal(t, admin.Refused, problem.Class)
	require.Equal(t, []string{"k1"}, asked)
	failure = admintest.Rule("there is no key k1")
	_, err = admin.RotateKeys.Call(t.Context(), c, admin.Rotation{Leaked: "k1"})
	require.ErrorAs(t, err, &problem)
	require.Equal(t, admin.Refused, problem.Class)
	require.ErrorContains(t, err, "there is no key k1")
}

// TestSecretsOfKeys verifies that the list shows how many secrets still need a credential
// key.
func TestSecretsOfKeys(t *testing.T) {
	_, c := newEnv(t)
	for _, k := range ask(t, c, admin.ListKeys, admin.KeyFilter{}).Keys {
		require.Equal(t, map[string]int{"credential": 1}[k.Purpose], k.Secrets)
	}
}

// TestAfterALeak verifies that secrets under a dropped key are listed as void.
func TestAfterALeak(t *testing.T) {
	w, c := newEnv(t)
	approve(t, c, "cal-app")
	w.Allow("u-alice", "cal-app", "PROFILE_READ")
	live := ask(t, c, admin.ListGrants, admin.GrantFilter{Client: "cal-app"})
	require.Len(t, live.Grants, 1)

	w.Do(&ledger.AddKey{Key: ledger.Key{ID: "c2", Purpose: ledger.ForCredentials, Number: 2, Sealed: []byte("sealed")}})
	w.Do(&ledger.AcknowledgeKeys{Node: "n1", Opened: []string{"c1", "c2"}})
	w.Do(&ledger.ActivateKey{ID: "c2", Voters: []string{"n1"}})
	before := ask(t, c, admin.ShowClient, admin.ClientRef{ID: "cal-app"}).Secrets
	w.Do(&ledger.DropKey{ID: "c1", Emergency: true})

	after := ask(t, c, admin.ShowClient, admin.ClientRef{ID: "cal-app"}).Secrets
	require.Len(t, after, len(before))
	for i := range after {
		require.Equal(t, "active", before[i].State)
		require.Equal(t, "void", after[i].State)
	}
	require.Empty(t, ask(t, c, admin.ListGrants, admin.GrantFilter{Client: "cal-app"}).Grants)
	ended := ask(t, c, admin.ListGrants, admin.GrantFilter{Client: "cal-app", Ended: true}).Grants
	require.Len(t, ended, 1)
	require.Equal(t, "ended", ended[0].State)
	require.Equal(t, ledger.KeyNotRecorded.String(), ended[0].EndCause)
	require.Zero(t, ask(t, c, admin.ShowUser, admin.UserRef{User: "alice"}).Grants)

	// Until the node's keyring follows, a new secret would be one that nobody could use.
	p := refused(t, c, admin.AddSecret, admin.NewSecret{Client: "cal-app"})
	require.Equal(t, admin.Unavailable, p.Class)
	require.ErrorContains(t, p, "nothing was changed")
}
