package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

const (
	oldURL   = "" // without the parameter scope
	selected = "PROFILE_READ BOOKING_READ"
)

func legacyAsking(scopes string) string { return with("legacy-app", "scope", scopes) }

// documentMigration: section 9 in the right order.
func documentMigration(t *testing.T) {
	d, clock := newClocked(t)
	s := stepSequence{suite: d}
	api := newResourceServerAt(d, clock.Now)
	d.granted(legacyAsking(oldURL)) // in use, as ever
	before := d.client("legacy-app")

	// "Add a `scope` parameter to the authorization URL first."
	s.step("9_first_scope_is_added_to_the_authorization_URL", func(d *suite) {
		page := d.browserOf("alice").get(legacyAsking(selected))
		require.Equal(d.t, http.StatusOK, page.Status)
		require.Contains(d.t, page.Body, "See your bookings")
		require.NotContains(d.t, page.Body, "everything")
		require.Equal(d.t, "legacy", d.client("legacy-app")["kind"], "the client itself has not changed")
		require.Equal(d.t, true, claimsOf(d.t, d.granted(legacyAsking(oldURL)).Access)["legacy"], "old links go on working")
		d.errorResponse(legacyAsking("PROFILE_READ nonsense"), "invalid_scope")
	})
	// "New tokens carry only the scopes given."
	s.step("9_new_tokens_carry_only_the_scopes_given", func(d *suite) {
		issued := d.granted(legacyAsking(selected))
		refreshed := tokensOf(d.t, d.refresh("legacy-app", issued.Refresh))
		for _, t := range []tokens{issued, refreshed} {
			require.Equal(d.t, selected, t.Scope)
			require.Equal(d.t, false, claimsOf(d.t, t.Access)["legacy"])
			for _, row := range scopeRows {
				if strings.Contains(selected, row.scope()) {
					api.opens(d, "alice", row.routes()[0], t.Access)
				} else {
					api.closed(d, row.routes()[0], row.scope(), t.Access)
				}
			}
		}
		require.Equal(d.t, "SCHEDULE_READ", d.granted(legacyAsking("SCHEDULE_READ")).Scope, "any scope that exists")
	})
	// "Then select the matching scopes in the client settings."
	s.step("9_then_scopes_are_selected_in_the_settings", func(d *suite) {
		shown := d.client("legacy-app")
		require.Contains(d.t, shown["asked_scopes"], "BOOKING_READ", "what requests asked for")
		require.NotZero(d.t, shown["traffic"].(map[string]any)["without_scope"])
		edit := []string{"client", "set", "legacy-app", "--scope", selected}
		r := d.cli().Run("", edit...)
		require.Equal(d.t, cli.ExitRefused, r.Code, "some requests of the last 30 days came without scope")
		require.Contains(d.t, r.Err, "without scope")
		require.Equal(d.t, "legacy", d.client("legacy-app")["kind"])

		clock.forward(31 * 24 * time.Hour)
		d.people["alice"] = nil // her session is over
		d.cli().OK("", edit...)
		after := d.client("legacy-app")
		require.Equal(d.t, "scoped", after["kind"])
		require.Equal(d.t, "approved", after["state"], "it narrows, so it needs no review")
		require.ElementsMatch(d.t, []any{"PROFILE_READ", "BOOKING_READ"}, after["scopes"])
	})
	// "After saving, scope validation is enforced for all new authorization requests."
	s.step("9_after_saving_scopes_are_validated", func(d *suite) {
		d.errorResponse(legacyAsking("SCHEDULE_READ"), "invalid_scope") // it was good before
		d.errorResponse(legacyAsking(selected+" SCHEDULE_READ"), "invalid_scope")
		d.errorResponse(legacyAsking(oldURL), "invalid_scope")
		require.Equal(d.t, selected, d.granted(legacyAsking(selected)).Scope)
		require.Equal(d.t, "PROFILE_READ", d.granted(legacyAsking("PROFILE_READ")).Scope)
	})
	// "Migration of a legacy client to explicit scopes, without creating a new client, in this order:"
	s.step("9_migration_makes_no_new_client", func(d *suite) {
		after := d.client("legacy-app")
		for _, same := range []string{"id", "name", "type", "owner", "state", "redirect_uris", "created_at"} {
			require.Equal(d.t, before[same], after[same], same)
		}
		require.Len(d.t, after["secrets"], 1)
		require.Equal(d.t, before["secrets"].([]any)[0].(map[string]any)["id"], after["secrets"].([]any)[0].(map[string]any)["id"])
		tokensOf(d.t, d.refresh("legacy-app", d.granted(legacyAsking(selected)).Refresh)) // with the same secret
	})
	// "Migration of a legacy client to explicit scopes, without creating a new client, in this order:"
	s.step("9_migration_is_not_undone", func(d *suite) {
		line := `{"id":"legacy-app","name":"Legacy App","owner":"alice","redirect_uris":["` + callback + `"],"secret":"legacy-app-secret"}`
		require.Equal(d.t, cli.ExitRefused, d.importing(line).Code)
		require.Equal(d.t, cli.ExitRefused, d.cli().Run("", "client", "set", "legacy-app", "--scope", "").Code)
		require.Equal(d.t, "scoped", d.client("legacy-app")["kind"])
		d.errorResponse(legacyAsking(oldURL), "invalid_scope")
	})
}

// documentWrongOrder: the settings first.
func documentWrongOrder(t *testing.T) {
	d := newSuite(t)

	// "Changing the client scopes before the authorization URL carries `scope` breaks the flow for users who visit the old URL without a `scope` parameter."
	d.run("9_wrong_order_breaks_the_old_URL", func(d *suite) {
		require.NotEmpty(d.t, d.answered(legacyAsking(oldURL)).Get("code"))
		page := d.browserOf("bob").get(legacyAsking(oldURL)) // open while the settings change
		edit := &ledger.EditClient{Actor: d.actor("alice"), ID: "legacy-app", Revision: 1, Profile: d.s.Issuer.View().Client("legacy-app").Profile}
		edit.Profile.Scopes = []string{"PROFILE_READ", "BOOKING_READ"}
		require.Equal(d.t, ledger.ConfirmMigration, d.decided(edit), "the owner is warned")
		edit.Confirm = true
		require.Equal(d.t, ledger.NoCause, d.decided(edit))

		d.errorResponse(legacyAsking(oldURL), "invalid_scope")
		sent := d.browserOf("bob").submit(page, "decision", "decision", "allow")
		require.Contains(d.t, sent.Header.Get("Location"), "error=invalid_scope")
		require.NotContains(d.t, sent.Header.Get("Location"), "code=")
		require.Equal(d.t, selected, d.granted(legacyAsking(selected)).Scope, "the new URL works")
	})
}

// documentOldTokens: what was issued before the migration.
func documentOldTokens(t *testing.T) {
	d := newSuite(t)
	s := stepSequence{suite: d}
	api := newResourceServer(d)
	alice, second, bob := d.grantedBy("alice", legacyAsking(oldURL)), d.grantedBy("alice", legacyAsking(oldURL)), d.grantedBy("bob", legacyAsking(oldURL))
	code := d.codeFor(legacyAsking(oldURL)) // not exchanged yet
	d.cli().OK("", "client", "set", "legacy-app", "--scope", selected, "--yes")

	works := func(d *suite, user string, held *tokens) {
		d.t.Helper()
		for range 2 {
			require.Equal(d.t, http.StatusOK, d.me(held.Access).Status)
			api.opens(d, user, "DELETE /v2/schedules/{id}", held.Access)
			*held = tokensOf(d.t, d.refresh("legacy-app", held.Refresh))
			require.Empty(d.t, held.Scope)
			require.Equal(d.t, true, claimsOf(d.t, held.Access)["legacy"])
		}
	}
	// "Tokens issued before the migration continue to work until users re-authorize."
	s.step("9_tokens_from_before_the_migration_continue_to_work", func(d *suite) {
		works(d, "alice", &alice)
		works(d, "alice", &second)
		works(d, "bob", &bob)
		late := tokensOf(d.t, d.exchange("legacy-app", code))
		require.Equal(d.t, true, claimsOf(d.t, late.Access)["legacy"])
	})
	// "until users re-authorize."
	s.step("9_tokens_from_before_the_migration_end_as_the_user_re_authorizes", func(d *suite) {
		code := d.codeFor(legacyAsking(selected))
		works(d, "alice", &alice) // to the last moment: the code may never be redeemed
		fresh := tokensOf(d.t, d.exchange("legacy-app", code))
		require.Equal(d.t, selected, fresh.Scope)
		for _, old := range []tokens{alice, second} {
			refused(d.t, d.refresh("legacy-app", old.Refresh), http.StatusBadRequest, oauth.InvalidGrant)
			require.Equal(d.t, http.StatusUnauthorized, d.me(old.Access).Status)
		}
		tokensOf(d.t, d.refresh("legacy-app", fresh.Refresh))
		works(d, "bob", &bob) // who has not re-authorized
	})
}
