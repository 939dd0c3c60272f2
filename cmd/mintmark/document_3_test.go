package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// documentTransitions: section 3 leaves them open. Every verdict is tried on
// every state.
func documentTransitions(t *testing.T) {
	d := newSuite(t)

	// "Transitions: not shown."
	d.run("3_not_shown_transitions", func(d *suite) {
		to := map[string]map[string]string{
			"pending":   {"approve": "approved", "reject": "rejected"},
			"approved":  {"suspend": "suspended"},
			"rejected":  {},
			"suspended": {"resume": "approved"},
		}
		for from, edges := range to {
			for _, verdict := range []string{"approve", "reject", "suspend", "resume"} {
				id := from + "-" + verdict
				d.cli().OK("", addClient(id, "--scope", "PROFILE_READ")...)
				switch from {
				case "approved":
					d.cli().OK("", "client", "approve", id)
				case "rejected":
					d.cli().OK("", "client", "reject", id, "--reason", "no purpose")
				case "suspended":
					d.cli().OK("", "client", "approve", id)
					d.cli().OK("", "client", "suspend", id)
				}
				require.Equal(d.t, from, d.client(id)["state"])
				args := []string{"client", verdict, id}
				if verdict == "reject" {
					args = append(args, "--reason", "none")
				}
				r := d.cli().Run("", args...)
				if edges[verdict] == "" {
					require.Equal(d.t, cli.ExitRefused, r.Code, "%s of a %s client: %s", verdict, from, r.Out)
					require.Equal(d.t, from, d.client(id)["state"])
				} else {
					require.Equal(d.t, cli.ExitOK, r.Code, r.Err)
					require.Equal(d.t, edges[verdict], d.client(id)["state"])
				}
			}
		}
	})
	// "Transitions: not shown."
	d.run("3_not_shown_an_edit_of_the_owner_returns_a_rejected_client_to_pending", func(d *suite) {
		c := d.s.Issuer.View().Client("rejected-app")
		p := c.Profile
		p.Purpose = "Shows bookings."
		edit := &ledger.EditClient{Actor: d.actor("alice"), ID: c.ID, Revision: c.Revision, Profile: p}
		require.Equal(d.t, ledger.NoCause, d.decided(edit))
		require.Equal(d.t, "pending", d.client(c.ID)["state"])
		require.Equal(d.t, ledger.Conflict, d.decided(edit), "a state change carries the revision it was decided on")
	})
	// "Transitions: not shown."
	d.run("3_not_shown_a_suspended_client_stops_at_once_and_revives", func(d *suite) {
		issued := d.granted(with("other-app"))
		d.cli().OK("", "client", "suspend", "other-app")
		d.showsPage(d.browserOf("alice").get(good("other-app")), http.StatusForbidden)
		refused(d.t, d.refresh("other-app", issued.Refresh), http.StatusBadRequest, oauth.UnauthorizedClient)
		require.Equal(d.t, http.StatusUnauthorized, d.me(issued.Access).Status)
		d.cli().OK("", "client", "resume", "other-app")
		require.Equal(d.t, http.StatusOK, d.me(issued.Access).Status)
		issued = tokensOf(d.t, d.refresh("other-app", issued.Refresh))
		require.Equal(d.t, http.StatusOK, d.me(issued.Access).Status)
	})
	// "Transitions: not shown."
	d.run("3_not_shown_an_approved_client_stays_live_while_an_edit_waits", func(d *suite) {
		c := d.s.Issuer.View().Client("cal-app")
		p := c.Profile
		p.Name, p.RedirectURIs = "Better Calendar", []string{callback, "https://new.example/callback"} // one is added, one is removed
		require.Equal(d.t, ledger.NoCause, d.decided(&ledger.EditClient{Actor: d.actor("alice"), ID: c.ID, Revision: c.Revision, Profile: p}))
		require.NotEmpty(d.t, d.answered(good("cal-app")).Get("code"))
		added := with("cal-app", "redirect_uri", "https://new.example/callback")
		removed := with("cal-app", "redirect_uri", "https://cal.example/callback")
		d.showsPage(d.browserOf("alice").get(added), http.StatusBadRequest)
		d.showsPage(d.browserOf("alice").get(removed), http.StatusBadRequest)
		d.cli().OK("", "client", "approve", "cal-app")
		require.NotEmpty(d.t, d.answered(added).Get("code"))
		d.showsPage(d.browserOf("alice").get(removed), http.StatusBadRequest)
	})
	// "Transitions: not shown."
	d.run("3_not_shown_a_deleted_client_ends_its_grants", func(d *suite) {
		issued := d.granted(good("other-app"))
		d.cli().OK("", "client", "delete", "other-app", "--yes")
		d.showsPage(d.browserOf("alice").get(good("other-app")), http.StatusBadRequest)
		refused(d.t, d.refresh("other-app", issued.Refresh), http.StatusUnauthorized, oauth.InvalidClient)
		require.Equal(d.t, http.StatusUnauthorized, d.me(issued.Access).Status)
	})
}
