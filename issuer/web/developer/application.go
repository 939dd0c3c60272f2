package developer

import (
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// pageOfClient returns a page of an application with the head that its pages share. below is
// the last part of its path, "" for the overview. An administrator who doesn't own it has the
// pages that administrators may see.
func (w *Area) pageOfClient(v *site.Session, client *ledger.Client, title, below string) ui.Page {
	p := ui.Page{
		Title: title, Name: client.Name, Picture: parts.PictureOf(&client.Profile), Pills: parts.ClientPills(client),
		Copy: &ui.Copy{ID: "client-id", Label: "client ID", Value: client.ClientID()},
	}
	p.Pills[0] = parts.OwnerStatePill(client.State)
	if client.Refused != nil {
		p.Pills = append(p.Pills, refusedPill)
	}
	owned := client.Owner == v.User.ID
	if owned {
		p.Up = site.Up("Applications", parts.PathDeveloper)
		p.Actions = []ui.Action{{Title: "Edit", Path: parts.ClientPath(client.ID, "edit")}}
	} else {
		p.Up = site.Up(client.Name, parts.AdminClientPath(client.ID))
	}
	refused := refusedLastDay(v.View.Usage(client.ID), w.Ledger.Now())
	for _, tab := range []struct {
		ui.Tab
		shared bool // with administrators
	}{
		{Tab: ui.Tab{Title: "Overview"}},
		{Tab: ui.Tab{Title: "Credentials", Path: "secrets"}},
		{Tab: ui.Tab{Title: "Scopes & URIs", Path: "scopes"}},
		{Tab: ui.Tab{Title: "Connect", Path: "connect"}},
		{Tab: ui.Tab{Title: "Users", Path: "users"}, shared: true},
		{Tab: ui.Tab{Title: "Errors", Path: "errors", Count: ui.NewCount(refused, "refused in 24 hours")}, shared: true},
		{Tab: ui.Tab{Title: "Settings", Path: "settings"}},
	} {
		if !owned && !tab.shared || tab.Path == "secrets" && client.Public() {
			continue
		}
		tab.Here, tab.Path = tab.Path == below, strings.TrimSuffix(parts.ClientPath(client.ID, tab.Path), "/")
		p.Tabs = append(p.Tabs, tab.Tab)
	}
	return p
}

// upTo returns the link from a page below an application's to the application.
func upTo(client *ledger.Client) *ui.Link { return site.Up(client.Name, parts.ClientPath(client.ID)) }

// upToSettings returns the link from a page below an application's settings to these.
func upToSettings(client *ledger.Client) *ui.Link {
	return site.Up("Settings of "+client.Name, parts.ClientPath(client.ID, "settings"))
}
