package developer

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// refusedLastDay returns how many requests were refused within 24 hours.
func refusedLastDay(u *ledger.Usage, now ledger.Time) (n int) {
	for _, h := range u.LastHours(now) {
		n += int(h.Refusals)
	}
	return n
}

// people returns who is connected to an application, as counted last.
func (w *Area) people(c *site.Request, v *site.Session, client *ledger.Client, now ledger.Time) (ledger.Connected, bool) {
	return parts.PeopleOf(c.R.Context(), w.counters, v.View, client.ID, now)
}
