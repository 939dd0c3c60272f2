package parts

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// Figures returns how much an application is used, and by how many people if they are counted.
// Days and hours are in UTC.
func Figures(u *ledger.Usage, people ledger.Connected, counted bool, now ledger.Time) []ui.Stat {
	var newcomers, allows, refreshes, refusals []uint32
	days, hours := u.LastDays(now), u.LastHours(now)
	for _, d := range days {
		newcomers, allows = append(newcomers, d.People), append(allows, d.Allows)
	}
	for _, h := range hours {
		refreshes, refusals = append(refreshes, h.Refreshes), append(refusals, h.Refusals)
	}
	onDay := func(n int) string {
		return "on " + ledger.DayTime(days[n].Day).Std().UTC().Format("2 January")
	}
	atHour := func(n int) string {
		return "at " + time.Unix(hours[n].Hour*60*60, 0).UTC().Format("15:04 UTC")
	}
	connected := "Counting…"
	if counted {
		connected = ui.Thousands(uint64(people.Users))
	}
	return []ui.Stat{
		{Label: "People connected", Value: connected, Bars: ui.NewBars(newcomers, "New people in 30 days", "day", onDay), Note: "New people per day"},
		{Label: "Authorizations, 30 days", Value: ui.Thousands(total(allows)), Bars: ui.NewBars(allows, "Authorizations in 30 days", "day", onDay), Note: "Allowed per day"},
		{Label: "Refreshes, 24 hours", Value: ui.Thousands(total(refreshes)), Bars: ui.NewBars(refreshes, "Refreshes in 24 hours", "hour", atHour), Note: "Per hour"},
		{Label: "Refused requests, 24 hours", Value: ui.Thousands(total(refusals)), Bars: ui.NewBars(refusals, "Refused requests in 24 hours", "hour", atHour), Note: "Per hour"},
	}
}

func total(values []uint32) (n uint64) {
	for _, v := range values {
		n += uint64(v)
	}
	return n
}

// PeopleOf returns who is connected to an application, as counted last; false if nobody has
// counted yet.
func PeopleOf(ctx context.Context, counters *Counters[ledger.Connected], v ledger.View, client string, now ledger.Time) (ledger.Connected, bool) {
	return counters.Last(ctx, client, now, func() ledger.Connected {
		return v.Connected(client, now, MaxCountedUsers)
	})
}
