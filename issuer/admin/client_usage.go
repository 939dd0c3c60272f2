package admin

import (
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Usage has figures of a client. Refreshes and refusals are those that the nodes have reported,
// each every five minutes.
type Usage struct {
	LiveGrants
	Days  []DayUsage  `json:"days"`  // the last 30, the oldest first
	Hours []HourUsage `json:"hours"` // the last 24, the oldest first
}

// DayUsage counts the authorizations of one day.
type DayUsage struct {
	Day            string `json:"day"` // UTC, such as 2026-03-04
	Authorizations uint32 `json:"authorizations"`
	NewUsers       uint32 `json:"new_users"` // who had no grant for the client
}

// HourUsage counts the requests of one hour.
type HourUsage struct {
	Hour      time.Time `json:"hour"` // its beginning
	Refreshes uint32    `json:"refreshes"`
	Refusals  uint32    `json:"refusals"` // at the endpoints and at the authorization step
}

// usageOf returns the figures of a client. It walks all users.
func (c *call) usageOf(v ledger.View, client string) *Usage {
	out, now := new(Usage), c.Ledger.Now()
	u := v.Usage(client)
	for _, d := range u.LastDays(now) {
		day := time.Unix(int64(d.Day)*24*60*60, 0).UTC().Format(time.DateOnly)
		out.Days = append(out.Days, DayUsage{Day: day, Authorizations: d.Allows, NewUsers: d.People})
	}
	for _, h := range u.LastHours(now) {
		out.Hours = append(out.Hours, HourUsage{Hour: time.Unix(h.Hour*60*60, 0).UTC(), Refreshes: h.Refreshes, Refusals: h.Refusals})
	}
	c.countGrants(v, func(g *ledger.Grant) *LiveGrants {
		if g.Client != client {
			return nil
		}
		return &out.LiveGrants
	})
	return out
}
