package developer

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type settingsBody struct {
	Path          string
	Access        string // what a legacy application may do
	Legacy, Moved bool   // before and after the migration to scopes
	Without       int    // authorization requests without scope in the last 30 days
	Danger        ui.Danger
}

// settingsPage links to the pages that edit, migrate, transfer and delete an application.
func (w *Area) settingsPage(c *site.Request, v site.Session, client *ledger.Client) error {
	now := w.Ledger.Now()
	body := settingsBody{
		Path: parts.ClientPath(client.ID), Access: legacyAccess, Legacy: client.Legacy, Moved: client.WasLegacy && !client.Legacy,
	}
	transfer := ui.DangerLine{
		Title: "Transfer this application", Text: "Offer it to another user, who becomes its owner by accepting it.",
		Action: &ui.Action{Title: "Transfer", Path: body.Path + "/transfer", Tone: ui.Bad},
	}
	if offer := v.View.OfferOf(client); offer != nil {
		transfer.Text, transfer.Action.Title = "You offered it to "+recipientOf(v.View, offer)+", who hasn’t answered.", "See the offer"
	}
	body.Danger.Lines = []ui.DangerLine{transfer, {
		Title: "Delete this application", Text: w.whoLoses(c, &v, client) + ". This can’t be undone.",
		Action: &ui.Action{Title: "Delete", Path: body.Path + "/delete", Tone: ui.Bad},
	}}
	without, _ := client.RecentTraffic(now)
	body.Without = int(without)
	p := w.pageOfClient(&v, client, "Settings", "settings")
	p.Notice, p.Body = clientNotices.Text(c), body
	return w.Show(c, v, "settings", p)
}
