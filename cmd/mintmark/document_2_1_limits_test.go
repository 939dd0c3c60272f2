package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// atMostTwoSecrets: a third is refused to operator and owner, and a place is
// free again when one was revoked.
func (d *suite) atMostTwoSecrets(id string) {
	d.t.Helper()
	first := d.cli().Object(addClient(id, "--scope", "PROFILE_READ")...)
	d.cli().OK("", "client", "approve", id)
	second := d.cli().Object("client", "secret", "add", id)
	for _, s := range []any{first["secret"], second["secret"]} {
		a := d.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", id, "client_secret", s.(string))
		refused(d.t, a, http.StatusBadRequest, oauth.InvalidGrant) // it authenticated
	}
	r := d.cli().Run("", "client", "secret", "add", id)
	require.Equal(d.t, cli.ExitRefused, r.Code)
	require.Contains(d.t, r.Err, "at most 2 active secrets")
	require.Empty(d.t, r.Out, "no secret was made")

	made, err := d.s.Issuer.Secret("a secret of the owner's")
	require.NoError(d.t, err)
	add := &ledger.AddSecret{Actor: d.actor("alice"), Client: id, Secret: made, After: d.newest(id)}
	require.Equal(d.t, ledger.TooManySecrets, d.decided(add))

	d.cli().OK("", "client", "secret", "revoke", id, first["secret_id"].(string))
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
	d := newSuite(t)
	add := func(id string, uris []string, more ...string) []string {
		args := []string{"client", "add", "--id", id, "--name", "An App", "--owner", "alice", "--scope", "PROFILE_READ"}
		for _, uri := range uris {
			args = append(args, "--redirect-uri", uri)
		}
		return append(args, more...)
	}

	// "Up to 10 per client."
	d.run("2.1_up_to_10_redirect_URIs", func(d *suite) {
		d.cli().OK("", add("ten-uris", redirectURIs(10))...)
		d.cli().OK("", "client", "approve", "ten-uris")
		for _, uri := range redirectURIs(10) {
			to := d.browserOf("alice").allow("alice", with("ten-uris", "redirect_uri", uri, "scope", "PROFILE_READ"))
			require.NotEmpty(d.t, to.Query().Get("code"))
			require.True(d.t, strings.HasPrefix(to.String(), uri+"?"), to)
		}
		r := d.cli().Run("", add("eleven-uris", redirectURIs(11))...)
		require.Equal(d.t, cli.ExitRefused, r.Code)
		require.Contains(d.t, r.Err, "has more than 10")
	})
	// "Redirect URIs per client | 10"
	d.run("8_ten_redirect_URIs_per_client", func(d *suite) {
		d.cli().OK("", add("growing", redirectURIs(1))...)
		grow := func(n int) testkit.Result {
			args := []string{"client", "set", "growing"}
			for _, uri := range redirectURIs(n) {
				args = append(args, "--redirect-uri", uri)
			}
			return d.cli().Run("", args...)
		}
		require.Equal(d.t, cli.ExitOK, grow(10).Code)
		require.Equal(d.t, cli.ExitRefused, grow(11).Code)
		require.Len(d.t, d.client("growing")["redirect_uris"], 10)

		p := profile("PROFILE_READ")
		p.RedirectURIs = redirectURIs(11)
		actor := d.actor("alice")
		revision := d.s.Issuer.View().Client("growing").Revision
		require.Equal(d.t, ledger.TooManyURIs, d.decided(&ledger.EditClient{Actor: actor, ID: "growing", Revision: revision, Profile: p}))
		require.Equal(d.t, ledger.TooManyURIs, d.decided(&ledger.CreateClient{Actor: actor, ID: "eleven", Owner: "u-alice", Type: ledger.Public, Profile: p}))
		text, err := json.Marshal(map[string]any{"id": "eleven", "name": "Eleven", "owner": "alice", "redirect_uris": redirectURIs(11)})
		require.NoError(d.t, err)
		require.Equal(d.t, cli.ExitRefused, d.importing(string(text)).Code)
		require.Nil(d.t, d.s.Issuer.View().Client("eleven"))
	})

	// "At least one is required at creation."
	d.run("2.1_at_least_one_scope_is_required_at_creation", func(d *suite) {
		for _, scopes := range []string{"", " ", ","} {
			r := d.cli().Run("", addClient("no-scopes", "--scope", scopes)...)
			require.Equal(d.t, cli.ExitRefused, r.Code, r.Out)
			require.Contains(d.t, r.Err, "needs at least one")
		}
		require.Equal(d.t, cli.ExitLocal, d.cli().Run("", addClient("no-scopes")...).Code, "the flag is required")
		require.Nil(d.t, d.s.Issuer.View().Client("no-scopes"))
		d.cli().OK("", addClient("one-scope", "--scope", "APPS_READ")...)
		require.Equal(d.t, []any{"APPS_READ"}, d.client("one-scope")["scopes"])
	})
	// "Minimum scopes at client creation | 1"
	d.run("8_minimum_scopes_at_client_creation_is_1", func(d *suite) {
		create := &ledger.CreateClient{Actor: d.actor("alice"), ID: "from-settings", Owner: "u-alice", Type: ledger.Public, Profile: profile()}
		r := d.propose(create).Refusal
		require.NotNil(d.t, r)
		require.Equal(d.t, "scopes", r.Field)
		create.Profile = profile("PROFILE_READ")
		require.Equal(d.t, ledger.NoCause, d.decided(create))
		_, err := dev.ParseFixtures("f.yaml", []byte(strings.Replace(fixtureText, "scopes: [PROFILE_READ, BOOKING_READ], secrets: [other", "scopes: [], secrets: [other", 1)))
		require.ErrorContains(d.t, err, "scopes")
	})
}
