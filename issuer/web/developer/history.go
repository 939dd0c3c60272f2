package developer

import (
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const (
	historyPerPage = 25
	historyMost    = 500 // the newest events of an application that its owner can see
)

type historyBody struct {
	History []eventRow
	Pages   ui.Pager
}

// An eventRow is an event in the history of an application.
type eventRow struct {
	At           ui.Stamp
	What, Detail string
	By           string
	key          string
}

// historyPage shows what happened to an application, the newest first.
func (w *Area) historyPage(c *site.Request, v site.Session, client *ledger.Client) error {
	all := w.history(&v, client, historyMost)
	body := &historyBody{}
	body.History, body.Pages = site.PageOf(c, all, historyPerPage, func(e eventRow) string { return e.key })
	p := ui.Page{Title: "History", Name: client.Name, Up: upToSettings(client), Body: body, Rows: len(body.History)}
	p.Truncate = func(n int) {
		body.History, body.Pages.Next = body.History[:n], c.PageAt("after", body.History[n-1].key)
	}
	return w.Show(c, v, "history", p)
}

// history returns the newest events of an application that the audit trail still has.
func (w *Area) history(v *site.Session, client *ledger.Client, most int) (rows []eventRow) {
	for _, e := range v.View.HistoryOf(client.ID, most) {
		row := eventRow{At: v.At(e.At), By: doneBy(v, client, e), key: strconv.FormatUint(e.Seq, 10)}
		row.What, row.Detail = eventWords(client, e)
		rows = append(rows, row)
	}
	return rows
}

// doneBy names who did something to an application, to its owner. Administrators and other
// users stay unnamed.
func doneBy(v *site.Session, client *ledger.Client, e *ledger.Event) string {
	switch {
	case e.Actor == v.User.ID:
		return "You"
	case e.Actor == ledger.Operator, ledger.RemoteOperator(e.Actor):
		return "The\u00a0operator"
	case e.Kind == ledger.EventClientReviewed:
		return "An\u00a0administrator"
	case e.Actor == e.User:
		return "The\u00a0owner then"
	}
	return "Another\u00a0person"
}

// eventWords describes an event to the owner of the application.
func eventWords(client *ledger.Client, e *ledger.Event) (what, detail string) {
	switch e.Kind {
	case ledger.EventClientReviewed:
		verdict, reason := e.Review()
		return map[ledger.Verdict]string{
			ledger.Approve: "Approved", ledger.Reject: "Rejected", ledger.Suspend: "Suspended", ledger.Resume: "Resumed",
		}[verdict], reason
	case ledger.EventSecretAdded, ledger.EventSecretEdited, ledger.EventSecretRevoked:
		id, more, _ := strings.Cut(e.Detail, " ")
		name := "a secret"
		if s := client.SecretOf(id); s != nil {
			name = strings.TrimSpace("secret ••••" + s.Tail + " " + s.Name)
		}
		verb := map[ledger.EventKind]string{ledger.EventSecretAdded: "Generated ", ledger.EventSecretEdited: "Changed ", ledger.EventSecretRevoked: "Revoked "}[e.Kind]
		if e.Kind == ledger.EventSecretRevoked {
			return verb + name, more
		}
		return verb + name, ""
	}
	return kindWords[e.Kind], ""
}

var kindWords = map[ledger.EventKind]string{
	ledger.EventClientCreated: "Registered", ledger.EventClientEdited: "Edited", ledger.EventClientProposed: "Proposed changes",
	ledger.EventScopesSelected: "Moved to scopes", ledger.EventClientOffered: "Offered to another person",
	ledger.EventOfferEnded: "The offer ended", ledger.EventClientTransferred: "Changed hands", ledger.EventClientDeleted: "Deleted",
	ledger.EventClientImported: "Imported", ledger.EventClientApplied: "Set from a file",
}
