package admin

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/attention"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type queueBody struct {
	Publishers []publisherLine
	Waiting    []waiting
	Search     ui.Search
	Pages      ui.Pager
	Empty      ui.Empty // instead of the list
}

// A waiting is an application that awaits a review.
type waiting struct {
	Name, Path  string
	Owner       parts.Piece
	Hosts       []string // of the website and of the first redirect URI
	Chips       []ui.Pill
	Since       ui.Stamp
	Changes     string // the fields that are to change of an approved application; "" for a new one
	NameWarning bool   // the page of the client shows nameWarnings
}

var queueNotices = site.Notices{"approve": "Approved. Nothing else is waiting for review."}

// queueTabs are the two parts of the queue, none if no agents are accepted.
func queueTabs(v *site.Session, publishers bool) []ui.Tab {
	if !v.View.Settings().AcceptsAgents() {
		return nil
	}
	return []ui.Tab{
		{Title: "Applications", Path: site.PathAdmin, Here: !publishers, Count: ui.NewCount(v.View.CountWaiting(attention.MaxCount+1), "waiting")},
		{Title: "Publishers", Path: site.PathWaitingPublishers, Here: publishers, Count: ui.NewCount(attention.CountPublishers(v.View), "waiting")},
	}
}

// reviewPublishers lists the publishers that await a review, the longest waiting first.
func (w *Area) reviewPublishers(c *site.Request, v site.Session) error {
	body := &queueBody{Empty: ui.Empty{
		Title: "No publisher is waiting for review", Text: "A publisher appears here when a user wants to use one of its applications for the first time.",
		Actions: []ui.Action{{Title: "All publishers", Path: site.PathAdminPublishers}},
	}}
	host := func(p *ledger.Publisher) string { return p.Host }
	all := publishersOf(v.View, string(ledger.PublisherPending), "")
	shown, pages := site.PageOf(c, all, adminRowsPerPage, host)
	at := site.PositionIn(all, shown)
	body.Pages = pages
	body.Pages.Count = site.CountOf(at, len(shown), "publisher")
	for _, p := range shown {
		body.Publishers = append(body.Publishers, publisherLineOf(&v, p))
	}
	return w.showAdmin(c, v, "queue", ui.Page{
		Title: "Reviews", Name: "Reviews", Tabs: queueTabs(&v, true), Body: body, Rows: len(shown),
		Truncate: func(n int) {
			body.Publishers, body.Pages.Next, body.Pages.Count = body.Publishers[:n], c.PageAt("after", host(shown[n-1])), site.CountOf(at, n, "publisher")
		},
	})
}

// reviewQueue lists the applications that await a review, the longest waiting first.
func (w *Area) reviewQueue(c *site.Request, v site.Session) error {
	if c.R.URL.Query().Get("show") == "publishers" && v.View.Settings().AcceptsAgents() {
		return w.reviewPublishers(c, v)
	}
	body := &queueBody{Search: site.SearchOf(c, "Name, client ID or owner")}
	body.Empty = ui.Empty{
		Title: "No application is waiting for review",
		Text:  "A new application can’t be used before an administrator approves it. Changes to an approved one wait here too, while it works as it is.",
	}
	if body.Search.Query != "" {
		body.Search.Clear = site.PathAdmin
		body.Empty = ui.Empty{
			Title: "No review matches “" + body.Search.Query + "”", Text: "No waiting application has this name, client ID or owner. It may have been decided already.",
			Actions: []ui.Action{{Title: "Search all applications", Path: parts.PathAdminClients + "?" + url.Values{"q": {body.Search.Query}}.Encode()}},
		}
	}
	q := ledger.QueueQuery{Search: body.Search.Query, Limit: adminRowsPerPage}
	found, pages := site.PageBy(c, func(at string, back bool) ([]*ledger.Client, string) {
		q.After, q.Back = at, back
		return v.View.ReviewQueue(q)
	}, parts.ClientKey)
	body.Pages = pages
	var at ledger.Position
	if len(found) > 0 {
		at = v.View.QueuePosition(q, found[0].ID)
	}
	body.Pages.Count = site.CountOf(at, len(found), "application")
	for _, client := range found {
		body.Waiting = append(body.Waiting, waitingOf(&v, client, nameWarningsOf(v.View, client) != nil))
	}
	notice, approved := approvedNotice(c, v.View)
	return w.showAdmin(c, v, "queue", ui.Page{
		Title: "Reviews", Name: "Reviews", Tabs: queueTabs(&v, false), Body: body, Rows: len(found), Notice: cmp.Or(notice, queueNotices.Text(c)), See: approved,
		Truncate: func(n int) {
			body.Waiting, body.Pages.Next, body.Pages.Count = body.Waiting[:n], c.PageAt("after", parts.ClientKey(found[n-1])), site.CountOf(at, n, "application")
		},
	})
}

// approvedNotice returns the notice about another application that was just approved, with a link to
// that application. Both are zero if no application was approved.
func approvedNotice(c *site.Request, v ledger.View) (text string, link *ui.Link) {
	client := v.Client(c.NoticeOf())
	if client == nil {
		return "", nil
	}
	return "Approved " + client.Name + ".", &ui.Link{Title: "View application", Path: parts.AdminClientPath(client.ID)}
}

func waitingOf(v *site.Session, client *ledger.Client, nameWarning bool) waiting {
	return waiting{
		Name: client.Name, Path: parts.AdminClientPath(client.ID), Owner: linkOwner(v.View, client), Hosts: hostsOf(askedOf(client)), Chips: chipsOf(client, 3),
		Since: v.At(client.WaitingSince()), Changes: changesOf(client), NameWarning: nameWarning,
	}
}

// askedOf returns what a client is to become by a review.
func askedOf(client *ledger.Client) *ledger.Profile {
	if client.Proposed != nil {
		return client.Proposed
	}
	return &client.Profile
}

// chipsOf returns what a client asks for in at most that many words, and whether that is powerful. Of
// a change only the scopes that it adds count.
func chipsOf(client *ledger.Client, most int) []ui.Pill {
	asked := client.Scopes
	if client.Proposed != nil {
		asked = slices.DeleteFunc(slices.Clone(client.Proposed.Scopes), func(name string) bool { return slices.Contains(client.Scopes, name) })
	}
	texts, powerful := parts.ScopeWords(asked)
	chips := ui.FewChips(texts, most)
	if powerful {
		chips = append([]ui.Pill{{Text: "Powerful", Tone: ui.Bad}}, chips...)
	}
	return chips
}

// hostsOf returns the host of the website and, if it is another one, that of the first redirect
// URI; of a redirect URI with a scheme of its own, the scheme.
func hostsOf(p *ledger.Profile) (hosts []string) {
	if host := parts.HostOf(p.Website); host != "" {
		hosts = append(hosts, host)
	}
	if len(p.RedirectURIs) > 0 {
		host := parts.HostOf(p.RedirectURIs[0])
		if host == "" {
			host, _, _ = strings.Cut(p.RedirectURIs[0], "/")
		}
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
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
