package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
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
func (d *suite) importing(line string) testkit.Result {
	d.t.Helper()
	file := filepath.Join(d.t.TempDir(), "clients.json")
	require.NoError(d.t, os.WriteFile(file, []byte(line), 0o600))
	return d.cli().Run("", "client", "import", file)
}

// documentClient: who makes a client, its id and its secret.
func documentClient(t *testing.T) {
	d := newSuite(t)

	// "Created by a developer in the developer settings of the web application."
	d.run("2.1_created_by_a_developer", func(d *suite) {
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
	d.run("2.1_client_id_is_public", func(d *suite) {
		issued := d.granted(good("cal-app"))
		require.Equal(d.t, "cal-app", claimsOf(d.t, issued.Access)["client_id"])
		a := d.form("grant_type", "refresh_token", "refresh_token", issued.Refresh, "client_id", "cal-app")
		refused(d.t, a, http.StatusUnauthorized, oauth.InvalidClient) // the id alone proves nothing
	})
	// "Sent as `client_id`."
	d.run("2.1_client_id_is_sent_as_client_id", func(d *suite) {
		code := d.codeFor(good("cal-app"))
		rest := []string{"grant_type", "authorization_code", "code", code, "redirect_uri", callback, "client_secret", "cal-app-secret"}
		for _, name := range []string{"id", "clientId", "client"} {
			refused(d.t, d.form(append(rest, name, "cal-app")...), http.StatusBadRequest, oauth.InvalidRequest)
		}
		tokensOf(d.t, d.form(append(rest, "client_id", "cal-app")...))
		d.showsPage(d.browserOf("alice").get(with("cal-app", "client_id", "")+"&clientId=cal-app"), http.StatusBadRequest)
	})

	// "Confidential value."
	d.run("2.1_client_secret_is_confidential", func(d *suite) {
		secret := d.cli().Object(addClient("confided-app", "--scope", "PROFILE_READ")...)["secret"].(string)
		for _, view := range [][]string{{"client", "show", "confided-app"}, {"client", "secret", "list", "confided-app"}, {"client", "list"}, {"audit"}} {
			for _, format := range []string{"text", "json"} {
				out := d.cli().OK("", append(view, "-o", format)...)
				keepsSecret(d.t, out, secret)
			}
		}
		stored, err := json.Marshal(d.s.Issuer.View().Client("confided-app"))
		require.NoError(d.t, err)
		keepsSecret(d.t, string(stored), secret)
		a := d.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", "confided-app", "client_secret", secret+"x")
		keepsSecret(d.t, a.Body, secret)
	})

	// "At most 2 secrets are active at the same time."
	d.run("2.1_at_most_2_secrets_are_active", func(d *suite) { d.atMostTwoSecrets("two-secrets") })
	// "Active client secrets per client | 2"
	d.run("8_two_active_client_secrets_per_client", func(d *suite) {
		r := d.importing(`{"id":"three","name":"Three","owner":"alice","redirect_uris":["` + callback + `"],"secrets":["one-secret","two-secret","three-secret"]}`)
		require.Equal(d.t, cli.ExitRefused, r.Code, r.Out)
		require.Nil(d.t, d.s.Issuer.View().Client("three"))
		r = d.importing(`{"id":"three","name":"Three","owner":"alice","redirect_uris":["` + callback + `"],"secrets":["one-secret","two-secret"]}`)
		require.Equal(d.t, cli.ExitOK, r.Code, r.Err)
		_, err := dev.ParseFixtures("f.yaml", []byte(strings.Replace(fixtureText, generatedSecret+"]", generatedSecret+", third-secret]", 1)))
		require.ErrorContains(d.t, err, "has more than 2")
	})

	// "Sent as `client_secret` in token exchange and refresh."
	d.run("2.1_client_secret_is_sent_as_client_secret", func(d *suite) {
		code := d.codeFor(good("cal-app"))
		exchange := []string{"grant_type", "authorization_code", "code", code, "redirect_uri", callback, "client_id", "cal-app"}
		for _, name := range []string{"secret", "clientSecret", "password"} {
			refused(d.t, d.form(append(exchange, name, "cal-app-secret")...), http.StatusUnauthorized, oauth.InvalidClient)
		}
		issued := tokensOf(d.t, d.form(append(exchange, "client_secret", "cal-app-secret")...))
		refresh := []string{"grant_type", "refresh_token", "refresh_token", issued.Refresh, "client_id", "cal-app"}
		refused(d.t, d.form(append(refresh, "secret", "cal-app-secret")...), http.StatusUnauthorized, oauth.InvalidClient)
		tokensOf(d.t, d.form(append(refresh, "client_secret", "cal-app-secret")...))
	})

	// "Field names of the OAuth client record: not shown."
	d.run("2.1_not_shown_field_names_of_the_client", func(d *suite) {
		var names []string
		for name := range d.client("cal-app") {
			names = append(names, name)
		}
		require.ElementsMatch(d.t, []string{
			"id", "name", "type", "state", "kind", "owner", "owner_id", "has_proposal", "revision", "created_at", "changed_at",
			"purpose", "website", "privacy_url", "terms_url", "redirect_uris", "scopes", "secrets", "reason", "proposal", "traffic", "asked_scopes", "usage",
		}, union(names, "purpose", "website", "privacy_url", "terms_url", "reason", "proposal", "traffic", "asked_scopes", "usage"), "those in the second list may be left out")
	})
}

// keepsSecret checks that a text has no more of a secret than its last four
// characters.
func keepsSecret(t *testing.T, text, secret string) {
	t.Helper()
	for i := range len(secret) - 5 {
		require.NotContains(t, text, secret[i:i+6])
	}
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
