package developer

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// figures returns how much an application is used. Days and hours are in UTC.
func figures(u *ledger.Usage, people ledger.Connected, counted bool, now ledger.Time) []ui.Stat {
	var newcomers, allows, refreshes, refusals []uint32
	days, hours := u.LastDays(now), u.LastHours(now)
	for _, d := range days {
		newcomers, allows = append(newcomers, d.People), append(allows, d.Allows)
	}
	for _, h := range hours {
		refreshes, refusals = append(refreshes, h.Refreshes), append(refusals, h.Refusals)
	}
	onDay := func(n int) string {
		return "on " + time.Unix(int64(days[n].Day)*24*60*60, 0).UTC().Format("2 January")
	}
	atHour := func(n int) string {
		return "at " + time.Unix(hours[n].Hour*60*60, 0).UTC().Format("15:04 UTC")
	}
	connected := "Counting…"
	if counted {
		connected = ui.Thousands(uint64(people.Users))
	}
	return []ui.Stat{
		{Label: "People connected", Value: connected, Bars: ui.NewBars(newcomers, "New people in 30 days", "day", onDay), Note: "Bars: new people each day"},
		{Label: "Authorizations, 30 days", Value: ui.Thousands(sum(allows)), Bars: ui.NewBars(allows, "Authorizations in 30 days", "day", onDay), Note: "How often people allowed it"},
		{Label: "Refreshes, 24 hours", Value: ui.Thousands(sum(refreshes)), Bars: ui.NewBars(refreshes, "Refreshes in 24 hours", "hour", atHour), Note: "Counted every 5 minutes"},
		{Label: "Refused, 24 hours", Value: ui.Thousands(sum(refusals)), Bars: ui.NewBars(refusals, "Refused requests in 24 hours", "hour", atHour), Note: "With its client ID, by anybody"},
	}
}

func sum(values []uint32) (n uint64) {
	for _, v := range values {
		n += uint64(v)
	}
	return n
}

// refusedLastDay returns how many requests were refused within 24 hours.
func refusedLastDay(u *ledger.Usage, now ledger.Time) (n int) {
	for _, h := range u.LastHours(now) {
		n += int(h.Refusals)
	}
	return n
}

// waitPeople is how long a page waits for a newer number than the last one.
const waitPeople = 5 * time.Millisecond

// people returns who is connected to an application, as counted last.
func (w *Area) people(c *site.Request, v *site.Session, client *ledger.Client, now ledger.Time) (ledger.Connected, bool) {
	ctx := c.R.Context()
	if w.counters.Known(client.ID) {
		short, cancel := context.WithTimeout(ctx, waitPeople)
		defer cancel()
		ctx = short
	}
	is, _, known := w.counters.Get(ctx, client.ID, now, func() ledger.Connected {
		return v.View.Connected(client.ID, now, parts.MaxCountedUsers)
	})
	return is, known
}
