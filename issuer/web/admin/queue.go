package admin

import (
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type queueBody struct {
	Publishers []publisherLine // those that wait longest, on the first page
	All        int             // publishers that wait
	AllPath    string          // the page that lists them
	Waiting    []waiting
	Search     ui.Search
	Pages      ui.Pager
}

// A waiting is an application that awaits a review.
type waiting struct {
	Name, Path  string
	Owner       parts.Piece
	Since       ui.Stamp
	Changes     string // what is proposed for an approved application; "" for a new one
	NameWarning bool   // the page of the client shows nameWarnings
}

// reviewQueue lists the applications that await a review, the longest waiting first.
func (w *Area) reviewQueue(c *site.Request, v site.Session) error {
	body := &queueBody{Search: site.SearchOf(c, "Name, client ID or host")}
	found, pages := site.PageBy(c, func(at string, back bool) ([]*ledger.Client, string) {
		return v.View.ReviewQueue(ledger.QueueQuery{Search: body.Search.Query, After: at, Back: back, Limit: adminRowsPerPage})
	}, parts.ClientKey)
	body.Pages = pages
	if pages.First == "" {
		body.Publishers, body.All = waitingPublishersOf(&v, body.Search.Query)
		body.AllPath = site.PathAdminPublishers + "?" + url.Values{"state": {string(ledger.PublisherPending)}}.Encode()
	}
	doubts := nameWarningsOf(v.View, found...)
	for _, client := range found {
		body.Waiting = append(body.Waiting, waiting{
			Name: client.Name, Path: parts.AdminClientPath(client.ID),
			Owner: linkOwner(v.View, client), Since: v.At(client.WaitingSince()), Changes: changesOf(client), NameWarning: doubts[client.ID] != nil,
		})
	}
	return w.showAdmin(c, v, "queue", ui.Page{
		Title: "Waiting for review", Body: body, Rows: len(found),
		Truncate: func(n int) {
			body.Waiting, body.Pages.Next = body.Waiting[:n], c.PageAt("after", parts.ClientKey(found[n-1]))
		},
	})
}

// changesOf names the fields that a proposed revision changes.
func changesOf(client *ledger.Client) string {
	if client.Proposed == nil {
		return ""
	}
	var fields []string
	for _, d := range ledger.Differences(&client.Profile, client.Proposed) {
		title := parts.FieldTitles[d.Field]
		fields = append(fields, strings.ToLower(title[:1])+title[1:])
	}
	return strings.Join(fields, ", ")
}
