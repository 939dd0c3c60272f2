package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// addClient are the arguments of a good "client add".
func addClient(id string, more ...string) []string {
	return append([]string{
		"client", "add", "--id", id, "--name", "An App", "--owner", "alice", "--redirect-uri", callback,
	}, more...)
}

// importing runs "client import" of one line.
func (d *desk) importing(line string) cliResult {
	d.t.Helper()
	file := filepath.Join(d.t.TempDir(), "clients.json")
	require.NoError(d.t, os.WriteFile(file, []byte(line), 0o600))
	return d.cli().run("", "client", "import", file)
}

// documentClient: who makes a client, its id and its secret.
func documentClient(t *testing.T) {
	d := newDesk(t)

	// "Created by a developer in the developer settings of the web application."
	d.run("2.1_created_by_a_developer", func(d *desk) {
		create := &ledger.CreateClient{
			Actor: d.actor("bob"), ID: "bobs-app", Owner: "u-bob", Type: ledger.Confidential, Profile: profile("PROFILE_READ"),
		}
		require.Equal(d.t, ledger.NoCause, d.decided(create))
		shown := d.client("bobs-app")
		require.Equal(d.t, "bob", shown["owner"])
		require.Equal(d.t, "pending", shown["state"])

		stranger, other := *create, *create
		stranger.ID, stranger.Actor = "nobodys-app", ledger.Actor{Session: [32]byte{1}}
		require.Equal(d.t, ledger.NotSignedIn, d.decided(&stranger))
		other.ID, other.Owner = "alices-app", "u-alice"
		require.Equal(d.t, ledger.NotAllowed, d.decided(&other), "nobody makes a client of somebody else's")
	})

	// "Public identifier of the client."
	d.run("2.1_client_id_is_public", func(d *desk) {
		issued := d.granted(good("cal-app"))
		require.Equal(d.t, "cal-app", claimsOf(d.t, issued.Access)["client_id"])
		a := d.form("grant_type", "refresh_token", "refresh_token", issued.Refresh, "client_id", "cal-app")
		d.refuses(a, http.StatusUnauthorized, oauth.InvalidClient) // the id alone proves nothing
	})
	// "Sent as `client_id`."
	d.run("2.1_client_id_is_sent_as_client_id", func(d *desk) {
		code := d.codeFor(good("cal-app"))
		rest := []string{"grant_type", "authorization_code", "code", code, "redirect_uri", callback, "client_secret", "cal-app-secret"}
		for _, name := range []string{"id", "clientId", "client"} {
			d.refuses(d.form(append(rest, name, "cal-app")...), http.StatusBadRequest, oauth.InvalidRequest)
		}
		tokensOf(d.t, d.form(append(rest, "client_id", "cal-app")...))
		d.showsPage(d.as("alice").get(asking("cal-app", "client_id", "")+"&clientId=cal-app"), http.StatusBadRequest)
	})

	// "Confidential value."
	d.run("2.1_client_secret_is_confidential", func(d *desk) {
		secret := d.cli().object(addClient("confided-app", "--scope", "PROFILE_READ")...)["secret"].(string)
		for _, view := range [][]string{{"client", "show", "confided-app"}, {"client", "secret", "list", "confided-app"}, {"client", "list"}, {"audit"}} {
			for _, format := range []string{"text", "json"} {
				out := d.cli().ok("", append(view, "-o", format)...)
				require.NotContains(d.t, out, secret, view)
				require.NotContains(d.t, out, secret[:len(secret)-4], view)
			}
		}
		stored, err := json.Marshal(d.s.issuer.View().Client("confided-app"))
		require.NoError(d.t, err)
		require.NotContains(d.t, string(stored), secret[:len(secret)-4])
		a := d.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", "confided-app", "client_secret", secret+"x")
		require.NotContains(d.t, a.Body, secret)
	})

	// "At most 2 secrets are active at the same time."
	d.run("2.1_at_most_2_secrets_are_active", func(d *desk) { d.atMostTwoSecrets("two-secrets") })
	// "Active client secrets per client | 2"
	d.run("8_two_active_client_secrets_per_client", func(d *desk) {
		r := d.importing(`{"id":"three","name":"Three","owner":"alice","redirect_uris":["` + callback + `"],"secrets":["one-secret","two-secret","three-secret"]}`)
		require.Equal(d.t, exitRefused, r.code, r.out)
		require.Nil(d.t, d.s.issuer.View().Client("three"))
		r = d.importing(`{"id":"three","name":"Three","owner":"alice","redirect_uris":["` + callback + `"],"secrets":["one-secret","two-secret"]}`)
		require.Equal(d.t, exitOK, r.code, r.err)
		_, err := parseFixtures("f.yaml", []byte(strings.Replace(fixtureText, "second-secret]", "second-secret, third-secret]", 1)))
		require.ErrorContains(d.t, err, "has more than 2")
	})

	// "Sent as `client_secret` in token exchange and refresh."
	d.run("2.1_client_secret_is_sent_as_client_secret", func(d *desk) {
		code := d.codeFor(good("cal-app"))
		exchange := []string{"grant_type", "authorization_code", "code", code, "redirect_uri", callback, "client_id", "cal-app"}
		for _, name := range []string{"secret", "clientSecret", "password"} {
			d.refuses(d.form(append(exchange, name, "cal-app-secret")...), http.StatusUnauthorized, oauth.InvalidClient)
		}
		issued := tokensOf(d.t, d.form(append(exchange, "client_secret", "cal-app-secret")...))
		refresh := []string{"grant_type", "refresh_token", "refresh_token", issued.Refresh, "client_id", "cal-app"}
		d.refuses(d.form(append(refresh, "secret", "cal-app-secret")...), http.StatusUnauthorized, oauth.InvalidClient)
		tokensOf(d.t, d.form(append(refresh, "client_secret", "cal-app-secret")...))
	})

	// "Field names of the OAuth client record: not shown."
	d.run("2.1_not_shown_field_names_of_the_client", func(d *desk) {
		var names []string
		for name := range d.client("cal-app") {
			names = append(names, name)
		}
		require.ElementsMatch(d.t, []string{
			"id", "name", "type", "state", "kind", "owner", "owner_id", "has_proposal", "revision", "created_at", "changed_at",
			"purpose", "website", "redirect_uris", "scopes", "secrets", "reason", "proposal", "traffic", "asked_scopes",
		}, union(names, "purpose", "website", "reason", "proposal", "traffic", "asked_scopes"), "those in the second list may be left out")
	})
}

// union is a list with the members of another that it lacks.
func union(list []string, more ...string) []string {
	have := map[string]bool{}
	var all []string
	for _, s := range append(list, more...) {
		if !have[s] {
			have[s], all = true, append(all, s)
		}
	}
	return all
}

// atMostTwoSecrets: a third is refused to operator and owner, and a place is
// free again when one was revoked.
func (d *desk) atMostTwoSecrets(id string) {
	d.t.Helper()
	first := d.cli().object(addClient(id, "--scope", "PROFILE_READ")...)
	d.cli().ok("", "client", "approve", id)
	second := d.cli().object("client", "secret", "add", id)
	for _, s := range []any{first["secret"], second["secret"]} {
		a := d.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", id, "client_secret", s.(string))
		d.refuses(a, http.StatusBadRequest, oauth.InvalidGrant) // it authenticated
	}
	r := d.cli().run("", "client", "secret", "add", id)
	require.Equal(d.t, exitRefused, r.code)
	require.Contains(d.t, r.err, "at most 2 active secrets")
	require.Empty(d.t, r.out, "no secret was made")

	made, err := d.s.issuer.Secret("a secret of the owner's")
	require.NoError(d.t, err)
	add := &ledger.AddSecret{Actor: d.actor("alice"), Client: id, Secret: made}
	require.Equal(d.t, ledger.TooManySecrets, d.decided(add))

	d.cli().ok("", "client", "secret", "revoke", id, first["secret_id"].(string))
	require.Equal(d.t, ledger.NoCause, d.decided(add))
	require.Equal(d.t, ledger.TooManySecrets, d.decided(&ledger.AddSecret{
		Actor: d.actor("alice"), Client: id, Secret: ledger.NewSecret{ID: "s_another", Key: made.Key},
	}))
}

// tenURIs and one more.
func redirectURIs(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("https://cal.example/callback/%d", i))
	}
	return list
}

// documentClientLimits: redirect URIs and scopes.
func documentClientLimits(t *testing.T) {
	d := newDesk(t)
	add := func(id string, uris []string, more ...string) []string {
		args := []string{"client", "add", "--id", id, "--name", "An App", "--owner", "alice", "--scope", "PROFILE_READ"}
		for _, uri := range uris {
			args = append(args, "--redirect-uri", uri)
		}
		return append(args, more...)
	}

	// "Up to 10 per client."
	d.run("2.1_up_to_10_redirect_URIs", func(d *desk) {
		d.cli().ok("", add("ten-uris", redirectURIs(10))...)
		d.cli().ok("", "client", "approve", "ten-uris")
		for _, uri := range redirectURIs(10) {
			to := d.as("alice").allow("alice", asking("ten-uris", "redirect_uri", uri, "scope", "PROFILE_READ"))
			require.NotEmpty(d.t, to.Query().Get("code"))
			require.True(d.t, strings.HasPrefix(to.String(), uri+"?"), to)
		}
		r := d.cli().run("", add("eleven-uris", redirectURIs(11))...)
		require.Equal(d.t, exitRefused, r.code)
		require.Contains(d.t, r.err, "has more than 10")
	})
	// "Redirect URIs per client | 10"
	d.run("8_ten_redirect_URIs_per_client", func(d *desk) {
		d.cli().ok("", add("growing", redirectURIs(1))...)
		grow := func(n int) cliResult {
			args := []string{"client", "set", "growing"}
			for _, uri := range redirectURIs(n) {
				args = append(args, "--redirect-uri", uri)
			}
			return d.cli().run("", args...)
		}
		require.Equal(d.t, exitOK, grow(10).code)
		require.Equal(d.t, exitRefused, grow(11).code)
		require.Len(d.t, d.client("growing")["redirect_uris"], 10)

		p := profile("PROFILE_READ")
		p.RedirectURIs = redirectURIs(11)
		actor := d.actor("alice")
		revision := d.s.issuer.View().Client("growing").Revision
		require.Equal(d.t, ledger.TooManyURIs, d.decided(&ledger.EditClient{Actor: actor, ID: "growing", Revision: revision, Profile: p}))
		require.Equal(d.t, ledger.TooManyURIs, d.decided(&ledger.CreateClient{Actor: actor, ID: "eleven", Owner: "u-alice", Type: ledger.Public, Profile: p}))
		text, err := json.Marshal(map[string]any{"id": "eleven", "name": "Eleven", "owner": "alice", "redirect_uris": redirectURIs(11)})
		require.NoError(d.t, err)
		require.Equal(d.t, exitRefused, d.importing(string(text)).code)
		require.Nil(d.t, d.s.issuer.View().Client("eleven"))
	})

	// "At least one is required at creation."
	d.run("2.1_at_least_one_scope_is_required_at_creation", func(d *desk) {
		for _, scopes := range []string{"", " ", ","} {
			r := d.cli().run("", addClient("no-scopes", "--scope", scopes)...)
			require.Equal(d.t, exitRefused, r.code, r.out)
			require.Contains(d.t, r.err, "needs at least one")
		}
		require.Equal(d.t, exitLocal, d.cli().run("", addClient("no-scopes")...).code, "the flag is required")
		require.Nil(d.t, d.s.issuer.View().Client("no-scopes"))
		d.cli().ok("", addClient("one-scope", "--scope", "APPS_READ")...)
		require.Equal(d.t, []any{"APPS_READ"}, d.client("one-scope")["scopes"])
	})
	// "Minimum scopes at client creation | 1"
	d.run("8_minimum_scopes_at_client_creation_is_1", func(d *desk) {
		create := &ledger.CreateClient{Actor: d.actor("alice"), ID: "from-settings", Owner: "u-alice", Type: ledger.Public, Profile: profile()}
		r := d.propose(create).Refusal
		require.NotNil(d.t, r)
		require.Equal(d.t, "scopes", r.Field)
		create.Profile = profile("PROFILE_READ")
		require.Equal(d.t, ledger.NoCause, d.decided(create))
		_, err := parseFixtures("f.yaml", []byte(strings.Replace(fixtureText, "scopes: [PROFILE_READ, BOOKING_READ], secrets: [other", "scopes: [], secrets: [other", 1)))
		require.ErrorContains(d.t, err, "scopes")
	})
}

// documentClientState: a new client is pending.
func documentClientState(t *testing.T) {
	d := newDesk(t)
	secret := d.cli().object(addClient("new-app", "--scope", "PROFILE_READ")...)["secret"].(string)
	ask := asking("new-app", "scope", "PROFILE_READ")
	refresh := []string{"grant_type", "refresh_token", "refresh_token", "x", "client_id", "new-app", "client_secret", secret}

	// "A newly created client is in the state `pending`"
	d.run("2.1_a_new_client_is_pending", func(d *desk) {
		require.Equal(d.t, "pending", d.client("new-app")["state"])
		require.Equal(d.t, ledger.NoCause, d.decided(&ledger.CreateClient{
			Actor: d.actor("admin"), ID: "admins-app", Owner: "u-admin", Type: ledger.Public, Profile: profile("PROFILE_READ"),
		}))
		require.Equal(d.t, "pending", d.client("admins-app")["state"], "an administrator's own too")
	})
	// "Named state of an OAuth client: `pending` (a new client; administrator review is required before use)."
	d.run("3_named_state_is_pending", func(d *desk) {
		require.Regexp(d.t, `(?m)^new-app .* pending `, d.cli().ok("", "client", "list", "--state", "pending"))
		require.NotContains(d.t, d.cli().ok("", "client", "list", "--state", "approved"), "new-app")
	})
	// "cannot be used until a service administrator has reviewed it."
	d.run("2.1_cannot_be_used_until_an_administrator_has_reviewed_it", func(d *desk) {
		d.showsPage(d.as("alice").get(ask), http.StatusForbidden) // its owner
		d.showsPage(d.as("bob").get(ask), http.StatusForbidden)
		d.refuses(d.form(refresh...), http.StatusBadRequest, oauth.UnauthorizedClient)

		approve := func(user string) ledger.Cause {
			return d.decided(&ledger.ReviewClient{Actor: d.actor(user), ID: "new-app", Verdict: ledger.Approve, Revision: 1})
		}
		require.Equal(d.t, ledger.NotAllowed, approve("bob"))
		require.Equal(d.t, ledger.NotAllowed, approve("alice"), "the owner is no administrator")
		d.showsPage(d.as("alice").get(ask), http.StatusForbidden)
		require.Equal(d.t, ledger.NoCause, approve("admin"))

		require.Equal(d.t, "approved", d.client("new-app")["state"])
		d.refuses(d.form(refresh...), http.StatusBadRequest, oauth.InvalidGrant)
		require.NotEmpty(d.t, d.answered(ask).Get("code"))
	})
	// "The client is `pending` until reviewed by an administrator."
	d.run("5.2_pending_until_reviewed", func(d *desk) {
		d.cli().ok("", addClient("rejected-new", "--scope", "PROFILE_READ")...)
		d.cli().ok("", "client", "reject", "rejected-new", "--reason", "no purpose is given")
		d.showsPage(d.as("alice").get(asking("rejected-new", "scope", "PROFILE_READ")), http.StatusForbidden)
		d.cli().ok("", addClient("reviewed-new", "--scope", "PROFILE_READ")...)
		require.Equal(d.t, "pending", d.client("reviewed-new")["state"])
		d.cli().ok("", "client", "approve", "reviewed-new")
		require.NotEmpty(d.t, d.answered(asking("reviewed-new", "scope", "PROFILE_READ")).Get("code"))
	})
}

// documentClientKind: legacy and scoped.
func documentClientKind(t *testing.T) {
	d := newDesk(t)

	// "A client created before scopes were introduced is a legacy client (see section 9)."
	d.run("2.1_a_client_from_before_scopes_is_a_legacy_client", func(d *desk) {
		r := d.importing(`{"id":"old-app","name":"Old App","owner":"alice","redirect_uris":["` + callback + `"],"secret":"old-app-secret"}`)
		require.Equal(d.t, exitOK, r.code, r.err)
		shown := d.client("old-app")
		require.Equal(d.t, "legacy", shown["kind"])
		require.Equal(d.t, "approved", shown["state"], "it was in use before")
		require.Empty(d.t, shown["scopes"])
		issued := d.granted(asking("old-app", "scope", ""))
		require.Equal(d.t, true, claimsOf(d.t, issued.Access)["legacy"])
	})
	// "Other clients are scoped clients."
	d.run("2.1_other_clients_are_scoped_clients", func(d *desk) {
		d.cli().ok("", addClient("new-kind", "--scope", "PROFILE_READ")...)
		require.Equal(d.t, "scoped", d.client("new-kind")["kind"])
		for c := range d.s.issuer.View().Clients() {
			require.Equal(d.t, c.ID == "legacy-app" || c.ID == "old-app", c.Legacy, c.ID)
		}
		line := `{"id":"new-kind","name":"New","owner":"alice","redirect_uris":["` + callback + `"],"secret":"new-kind-secret"}`
		require.Equal(d.t, exitRefused, d.importing(line).code, "a scoped client never becomes a legacy client")
		require.Equal(d.t, "scoped", d.client("new-kind")["kind"])
		require.Equal(d.t, false, claimsOf(d.t, d.granted(good("cal-app")).Access)["legacy"])
	})
}
