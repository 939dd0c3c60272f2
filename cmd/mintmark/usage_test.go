package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// TestUsageOfAClient verifies the figures that operators see of a client: of its authorizations at
// once, and of its refreshes and refusals, in browsers too, when the server has reported them.
func TestUsageOfAClient(t *testing.T) {
	t.Parallel()
	s := newSuite(t)
	first := s.tokens("cal-app")
	second := s.refreshed("cal-app", first.Refresh)
	s.refreshed("cal-app", second.Refresh)
	require.Equal(t, http.StatusUnauthorized, s.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", "cal-app", "client_secret", "wrong").Status)
	s.showsPage(s.browser().get(s.Base+"/auth/oauth2/authorize?client_id=cal-app&redirect_uri=https%3A%2F%2Fevil.example%2F"), http.StatusBadRequest)

	usage := func() (u admin.Usage, day admin.DayUsage, hour admin.HourUsage) {
		u = *operated(s, admin.ShowClient, admin.ClientRef{ID: "cal-app", Usage: true}).Usage
		for _, d := range u.Days {
			day.Authorizations, day.NewUsers = day.Authorizations+d.Authorizations, day.NewUsers+d.NewUsers
		}
		for _, h := range u.Hours {
			hour.Refreshes, hour.Refusals = hour.Refreshes+h.Refreshes, hour.Refusals+h.Refusals
		}
		return u, day, hour
	}
	u, day, hour := usage()
	require.Equal(t, admin.LiveGrants{Grants: 1, Users: 1}, u.LiveGrants)
	require.Equal(t, admin.DayUsage{Authorizations: 1, NewUsers: 1}, day)
	require.Zero(t, hour)

	require.NoError(t, s.s.Issuer.ReportUsage(t.Context()))
	_, _, hour = usage()
	require.Equal(t, admin.HourUsage{Refreshes: 2, Refusals: 2}, hour)
	shown := s.cli().OK("", "client", "show", "cal-app")
	require.Regexp(t, `(?m)^Connected +1 user, 1 grant$`, shown)
	require.Regexp(t, `(?m)^Allowed +1 time in the last 30 days, 1 of them by new users$`, shown)
	require.Regexp(t, `(?m)^Refreshed +2 times in the last 24 hours$`, shown)
	require.Regexp(t, `(?m)^Refused +2 times in the last 24 hours$`, shown)
}
