package web

import (
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

type queueBody struct {
	Waiting []waiting
	Search  search
	Pages   pager
}

// A waiting is an application that awaits a review.
type waiting struct {
	Name, Path  string
	Owner       nameLink
	Since       ledger.Time
	Changes     string // what is proposed for an approved application; "" for a new one
	NameWarning bool   // the page of the client shows nameWarnings
}

// reviewQueue lists the applications that await a review, the longest waiting first.
func (w *Web) reviewQueue(c *request, v session) error {
	body := queueBody{Search: searchOf(c, "Name or client ID")}
	found, pages := pageBy(c, func(at string, back bool) ([]*ledger.Client, string) {
		return v.view.ReviewQueue(ledger.QueueQuery{Search: body.Search.Query, After: at, Back: back, Limit: adminRowsPerPage})
	}, clientKey)
	body.Pages = pages
	doubts := nameWarningsOf(v.view, found...)
	for _, client := range found {
		body.Waiting = append(body.Waiting, waiting{
			Name: client.Name, Path: adminClientPath(client.ID),
			Owner: linkUser(v.view, client.Owner), Since: client.WaitingSince(), Changes: changesOf(client), NameWarning: doubts[client.ID] != nil,
		})
	}
	return w.showAdmin(c, v, "admin_queue", page{Title: "Waiting for review", Body: body})
}

// changesOf names the fields that a proposed revision changes.
func changesOf(client *ledger.Client) string {
	if client.Proposed == nil {
		return ""
	}
	var fields []string
	for _, d := range ledger.Differences(&client.Profile, client.Proposed) {
		title := fieldTitles[d.Field]
		fields = append(fields, strings.ToLower(title[:1])+title[1:])
	}
	return strings.Join(fields, ", ")
}
