package admin

import (
	"net/url"
	"slices"
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
	Hosts       string // of the website and of the first redirect URI
	Chips       []ui.Pill
	Place       int // in the whole queue; 0 if it is unknown
	Since       ui.Stamp
	Changes     string // what is proposed for an approved application; "" for a new one
	NameWarning bool   // the page of the client shows nameWarnings
}

var queueNotices = site.Notices{"approve": "Approved. Nothing else waits for a review."}

// reviewQueue lists the applications that await a review, the longest waiting first.
func (w *Area) reviewQueue(c *site.Request, v site.Session) error {
	body := &queueBody{Search: site.SearchOf(c, "Name or client ID")}
	if body.Search.Query != "" {
		body.Search.Clear = site.PathAdmin
	}
	q := ledger.QueueQuery{Search: body.Search.Query, Limit: adminRowsPerPage}
	found, pages := site.PageBy(c, func(at string, back bool) ([]*ledger.Client, string) {
		q.After, q.Back = at, back
		return v.View.ReviewQueue(q)
	}, parts.ClientKey)
	body.Pages = pages
	if pages.First == "" {
		body.Publishers, body.All = waitingPublishersOf(&v, body.Search.Query)
		body.AllPath = site.PathAdminPublishers + "?" + url.Values{"state": {string(ledger.PublisherPending)}}.Encode()
	}
	var at ledger.Position
	if len(found) > 0 {
		at = v.View.QueuePosition(q, found[0].ID)
	}
	body.Pages.Count = site.CountOf(at, len(found))
	for _, client := range found {
		line := waitingOf(&v, client, nameWarningsOf(v.View, client) != nil)
		if at.First > 0 && q.Search == "" {
			line.Place = at.First + len(body.Waiting)
		}
		body.Waiting = append(body.Waiting, line)
	}
	return w.showAdmin(c, v, "queue", ui.Page{
		Title: "Reviews", Body: body, Rows: len(found), Notice: queueNotice(c, &v),
		Truncate: func(n int) {
			body.Waiting, body.Pages.Next, body.Pages.Count = body.Waiting[:n], c.PageAt("after", parts.ClientKey(found[n-1])), site.CountOf(at, n)
		},
	})
}

// queueNotice names the application that was reviewed last.
func queueNotice(c *site.Request, v *site.Session) string {
	text := queueNotices.Text(c)
	if client := v.View.Client(c.NoticeOf()); client != nil && text != "" {
		return "Approved " + client.Name + "."
	}
	return text
}

func waitingOf(v *site.Session, client *ledger.Client, nameWarning bool) waiting {
	return waiting{
		Name: client.Name, Path: parts.AdminClientPath(client.ID), Owner: linkOwner(v.View, client), Hosts: hostsOf(askedOf(client)), Chips: chipsOf(client),
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

// chipsOf returns what a client asks for in a few words, and whether that is powerful. Of a change
// only the scopes that it adds count.
func chipsOf(client *ledger.Client) []ui.Pill {
	asked := client.Scopes
	if client.Proposed != nil {
		asked = slices.DeleteFunc(slices.Clone(client.Proposed.Scopes), func(name string) bool { return slices.Contains(client.Scopes, name) })
	}
	texts, powerful := parts.ScopeWords(asked)
	chips := ui.Chips(texts)
	if powerful {
		chips = append([]ui.Pill{{Text: "Powerful", Tone: ui.Bad}}, chips...)
	}
	return chips
}

// hostsOf returns the host of the website and, if it is another one, that of the first redirect
// URI; of a redirect URI with a scheme of its own, the scheme.
func hostsOf(p *ledger.Profile) string {
	hosts := []string{}
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
	return strings.Join(hosts, " · ")
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
