package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// documentClientState: a new client is pending.
func documentClientState(t *testing.T) {
	d := newSuite(t)
	secret := d.cli().Object(addClient("new-app", "--scope", "PROFILE_READ")...)["secret"].(string)
	ask := with("new-app", "scope", "PROFILE_READ")
	refresh := []string{"grant_type", "refresh_token", "refresh_token", "x", "client_id", "new-app", "client_secret", secret}

	// "A newly created client is in the state `pending`"
	d.run("2.1_a_new_client_is_pending", func(d *suite) {
		require.Equal(d.t, "pending", d.client("new-app")["state"])
		require.Equal(d.t, ledger.NoCause, d.decided(&ledger.CreateClient{
			Actor: d.actor("admin"), ID: "admins-app", Owner: "u-admin", Type: ledger.Public, Profile: profile("PROFILE_READ"),
		}))
		require.Equal(d.t, "pending", d.client("admins-app")["state"], "an administrator's own too")
	})
	// "Named state of an OAuth client: `pending` (a new client; administrator review is required before use)."
	d.run("3_named_state_is_pending", func(d *suite) {
		require.Regexp(d.t, `(?m)^new-app .* pending `, d.cli().OK("", "client", "list", "--state", "pending"))
		require.NotContains(d.t, d.cli().OK("", "client", "list", "--state", "approved"), "new-app")
	})
	// "cannot be used until a service administrator has reviewed it."
	d.run("2.1_cannot_be_used_until_an_administrator_has_reviewed_it", func(d *suite) {
		d.showsPage(d.browserOf("alice").get(ask), http.StatusForbidden) // its owner
		d.showsPage(d.browserOf("bob").get(ask), http.StatusForbidden)
		refused(d.t, d.form(refresh...), http.StatusBadRequest, oauth.UnauthorizedClient)

		approve := func(user string) ledger.Cause {
			return d.decided(&ledger.ReviewClient{Actor: d.actor(user), ID: "new-app", Verdict: ledger.Approve, Revision: 1})
		}
		require.Equal(d.t, ledger.NotAllowed, approve("bob"))
		require.Equal(d.t, ledger.NotAllowed, approve("alice"), "the owner is no administrator")
		d.showsPage(d.browserOf("alice").get(ask), http.StatusForbidden)
		require.Equal(d.t, ledger.NoCause, approve("admin"))

		require.Equal(d.t, "approved", d.client("new-app")["state"])
		refused(d.t, d.form(refresh...), http.StatusBadRequest, oauth.InvalidGrant)
		require.NotEmpty(d.t, d.answered(ask).Get("code"))
	})
	// "The client is `pending` until reviewed by an administrator."
	d.run("5.2_pending_until_reviewed", func(d *suite) {
		d.cli().OK("", addClient("rejected-new", "--scope", "PROFILE_READ")...)
		d.cli().OK("", "client", "reject", "rejected-new", "--reason", "no purpose is given")
		d.showsPage(d.browserOf("alice").get(with("rejected-new", "scope", "PROFILE_READ")), http.StatusForbidden)
		d.cli().OK("", addClient("reviewed-new", "--scope", "PROFILE_READ")...)
		require.Equal(d.t, "pending", d.client("reviewed-new")["state"])
		d.cli().OK("", "client", "approve", "reviewed-new")
		require.NotEmpty(d.t, d.answered(with("reviewed-new", "scope", "PROFILE_READ")).Get("code"))
	})
}

// documentClientKind: legacy and scoped.
func documentClientKind(t *testing.T) {
	d := newSuite(t)

	// "A client created before scopes were introduced is a legacy client (see section 9)."
	d.run("2.1_a_client_from_before_scopes_is_a_legacy_client", func(d *suite) {
		r := d.importing(`{"id":"old-app","name":"Old App","owner":"alice","redirect_uris":["` + callback + `"],"secret":"old-app-secret"}`)
		require.Equal(d.t, cli.ExitOK, r.Code, r.Err)
		shown := d.client("old-app")
		require.Equal(d.t, "legacy", shown["kind"])
		require.Equal(d.t, "approved", shown["state"], "it was in use before")
		require.Empty(d.t, shown["scopes"])
		issued := d.granted(with("old-app", "scope", ""))
		require.Equal(d.t, true, claimsOf(d.t, issued.Access)["legacy"])
	})
	// "Other clients are scoped clients."
	d.run("2.1_other_clients_are_scoped_clients", func(d *suite) {
		d.cli().OK("", addClient("new-kind", "--scope", "PROFILE_READ")...)
		require.Equal(d.t, "scoped", d.client("new-kind")["kind"])
		for c := range d.s.Issuer.View().Clients() {
			require.Equal(d.t, c.ID == "legacy-app" || c.ID == "old-app", c.Legacy, c.ID)
		}
		line := `{"id":"new-kind","name":"New","owner":"alice","redirect_uris":["` + callback + `"],"secret":"new-kind-secret"}`
		require.Equal(d.t, cli.ExitRefused, d.importing(line).Code, "a scoped client never becomes a legacy client")
		require.Equal(d.t, "scoped", d.client("new-kind")["kind"])
		require.Equal(d.t, false, claimsOf(d.t, d.granted(good("cal-app")).Access)["legacy"])
	})
}
