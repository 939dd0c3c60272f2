package main

import (
	"log/slog"
	"net/http"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestFourActsAskForThePassword: 15 minutes after the sign-in, four actions require the
// administrator's password again. Wrong passwords are recorded. An operator is not asked.
func TestFourActsAskForThePassword(t *testing.T) {
	t.Parallel()
	var log testkit.Buffer
	var ahead atomic.Int64
	ts := startTestServer(t, t.TempDir(), fixtureText, func(c *server.Config) {
		c.Log = slog.New(slog.NewJSONHandler(&log, nil))
		c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	admin := ts.browser()
	in := admin.submit(admin.get("/auth/sign-in"), "password", "username", "admin", "password", passwords["admin"])
	require.Equal(t, http.StatusSeeOther, in.Status, in.Body)
	user := func(name string) *ledger.User { return ts.s.Issuer.View().UserByName(name) }

	const given = "a password that was given"
	before := user("bob").Password
	for _, act := range []struct {
		page, holding string
		status        int
		fields        []string
		done          func() bool
	}{
		{"/admin/users/u-alice", "state", http.StatusSeeOther, nil, func() bool { return user("alice").Admin }},
		{"/admin/new-user", "admin", http.StatusOK, []string{"username", "carol", "password", given, "admin", "yes"}, func() bool { return user("carol") != nil }},
		{"/admin/users/u-bob/password", "password", http.StatusOK, []string{"password", given}, func() bool { return user("bob").Password != before }},
		{"/admin/clients/cal-app/transfer", "username", http.StatusSeeOther, []string{"username", "bob"}, func() bool { return ts.s.Issuer.View().Client("cal-app").Owner == "u-bob" }},
	} {
		require.NotContains(t, admin.get(act.page).Body, "own_password", "no password is required soon after the sign-in")
		ahead.Add(int64(16 * time.Minute))
		page := admin.get(act.page)
		require.Contains(t, page.Body, "own_password")
		for _, typed := range []string{"", "not the password", passwords["alice"]} {
			a := admin.submit(page, act.holding, append(act.fields, "own_password", typed)...)
			require.Equal(t, http.StatusUnprocessableEntity, a.Status, a.Body)
			require.False(t, act.done(), act.page)
		}
		a := admin.submit(page, act.holding, append(act.fields, "own_password", passwords["admin"])...)
		require.Equal(t, act.status, a.Status, a.Body)
		require.True(t, act.done(), act.page)
	}
	lines := securityLines(t, &log)
	require.NotEmpty(t, lines)
	for _, l := range lines {
		require.Equal(t, "sign_in", l["kind"])
		require.Equal(t, "password_wrong", l["cause"])
		require.Equal(t, "u-admin", l["user"])
	}
	require.Contains(t, ts.scrape(), `mintmark_authentication_failures_total{cause="password_wrong",kind="sign_in"} 8`)
	for _, secret := range []string{passwords["admin"], "not the password"} {
		require.NotContains(t, log.String(), secret)
	}

	ahead.Add(int64(16 * time.Minute))
	o := ts.propose(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-bob", State: ledger.Promote})
	require.Nil(t, o.Refusal)
}

var shownSecret = regexp.MustCompile(`mms_[A-Za-z0-9_-]{43}`)

// TestTakingOverRevokesSecrets: the secrets are revoked only if the new owner ticks the
// box.
func TestTakingOverRevokesSecrets(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	signedIn := func(user string) *browser {
		b := ts.browser()
		in := b.submit(b.get("/auth/sign-in"), "password", "username", user, "password", passwords[user])
		require.Equal(t, http.StatusSeeOther, in.Status, in.Body)
		return b
	}
	people := map[string]*browser{"alice": signedIn("alice"), "bob": signedIn("bob")}
	give := func(from, to string, fields ...string) answer {
		offered := people[from].submit(people[from].get("/developer/clients/cal-app/transfer"), "username", "username", to)
		require.Equal(t, http.StatusSeeOther, offered.Status, offered.Body)
		page := people[to].get("/developer/offers/cal-app")
		require.Contains(t, page.Body, "Revoke all secrets")
		a := people[to].submit(page, "revision", fields...)
		require.Equal(t, http.StatusSeeOther, a.Status, a.Body)
		return people[to].get(a.Header.Get("Location"))
	}
	held := ts.tokens("cal-app")
	refresh := func(secret string) answer {
		return ts.form("grant_type", "refresh_token", "client_id", "cal-app", "client_secret", secret, "refresh_token", held.Refresh)
	}

	require.Contains(t, give("alice", "bob").Body, "Its former owner may know its secrets")
	held = tokensOf(t, refresh("cal-app-secret"))
	held = tokensOf(t, refresh(generatedSecret))

	require.Contains(t, give("bob", "alice", "revoke", "yes").Body, "all its secrets were revoked")
	for _, secret := range []string{"cal-app-secret", generatedSecret} {
		require.Equal(t, string(oauth.InvalidClient), refresh(secret).ErrorCode())
	}
	require.Contains(t, ts.scrape(), `mintmark_authentication_failures_total{cause="secret_revoked",kind="client_authentication"} 2`)
	for e := range ts.s.Issuer.View().EventsBackwards() {
		require.Equal(t, ledger.EventClientTransferred, e.Kind)
		require.Equal(t, "u-bob, all secrets revoked", e.Detail)
		break
	}

	// The application's users stay connected; it uses a secret of the new owner.
	alice := people["alice"]
	made := alice.submit(alice.get("/developer/clients/cal-app/secrets"), "sealed")
	require.Equal(t, http.StatusOK, made.Status, made.Body)
	tokensOf(t, refresh(shownSecret.FindString(made.Body)))
}
