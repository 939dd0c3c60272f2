package developer

import (
	"strconv"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const (
	historyPerPage = 25
	historyMost    = 500 // the newest events of an application that its owner can see
)

type historyBody struct {
	History []parts.Told
	Pages   ui.Pager
}

// historyPage shows what happened to an application, the newest first.
func (w *Area) historyPage(c *site.Request, v site.Session, client *ledger.Client) error {
	key := func(e *ledger.Event) string { return strconv.FormatUint(e.Seq, 10) }
	events, pages := site.PageOf(c, v.View.HistoryOf(client.ID, historyMost), historyPerPage, key)
	body := &historyBody{History: told(&v, client, events), Pages: pages}
	p := w.pageOfClient(&v, client, "History", "")
	p.Up, p.Body, p.Rows = upTo(client), body, len(events)
	p.Truncate = func(n int) {
		body.History, body.Pages.Next = body.History[:n], c.PageAt("after", key(events[n-1]))
	}
	return w.Show(c, v, "history", p)
}

// told returns events of an application in words for its owner.
func told(v *site.Session, client *ledger.Client, events []*ledger.Event) []parts.Told {
	return parts.Sentences(v.View, events, v.Clock(), parts.Reader{User: v.User.ID, On: client.ID})
}
