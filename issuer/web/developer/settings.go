package developer

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type settingsBody struct {
	Path          string
	Legacy, Moved bool   // before and after the migration to scopes
	Without       int    // authorization requests without scope in the last 30 days
	OfferedTo     string // name of a user; "" if there is no offer
	Danger        ui.Danger
}

// settingsPage leads to what is rarely done to an application, and can't be undone.
func (w *Area) settingsPage(c *site.Request, v site.Session, client *ledger.Client) error {
	now := w.Ledger.Now()
	people, counted := w.people(c, &v, client, now)
	body := settingsBody{
		Path: parts.ClientPath(client.ID), Legacy: client.Legacy, Moved: client.WasLegacy && !client.Legacy,
	}
	lose := "Everybody loses access"
	switch {
	case !counted || people.Users == 0:
	case people.Users == 1:
		lose = "One person loses access"
	default:
		lose = ui.Comma(people.Users) + " people lose access"
	}
	body.Danger.Lines = []ui.DangerLine{{
		Title: "Delete this application", Text: lose + ". This can’t be undone.",
		Action: &ui.Action{Title: "Delete", Path: body.Path + "/delete", Tone: ui.Bad},
	}}
	without, _ := client.RecentTraffic(now)
	body.Without = int(without)
	if offer := v.View.OfferOf(client); offer != nil {
		body.OfferedTo = recipientOf(v.View, offer)
	}
	p := w.pageOfClient(&v, client, "Settings", "settings")
	p.Notice, p.Body = clientNotices.Text(c), body
	return w.Show(c, v, "settings", p)
}
