package admin

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// wellKnown has the hosts of well-known clients that publish a metadata document, for
// administrators to choose from: nothing is accepted because it is here. A host is here only if
// the client's own source or documentation names an address of its document on that host:
//
//	claude.ai            /oauth/mcp-oauth-client-metadata (Claude), /oauth/claude-code-client-metadata (Claude Code)
//	chatgpt.com          /oauth/client.json (ChatGPT), /oauth/codex/client.json (Codex), and one below /oauth/ for each server
//	vscode.dev           /oauth/client-metadata.json
//	insiders.vscode.dev  /oauth/client-metadata.json
//	zed.dev              /oauth/client-metadata.json
//	opencode.ai          /oauth/opencode/client.json
//
// Cursor and mcp-remote publish none. They register themselves, as LocalPublisher's clients.
var wellKnown = []suggestion{
	{Host: "claude.ai", Name: "Claude"},
	{Host: "chatgpt.com", Name: "ChatGPT and Codex"},
	{Host: "vscode.dev", Name: "Visual Studio Code"},
	{Host: "insiders.vscode.dev", Name: "Visual Studio Code Insiders"},
	{Host: "zed.dev", Name: "Zed"},
	{Host: "opencode.ai", Name: "OpenCode"},
}

// A suggestion is a host that an administrator may want to add.
type suggestion struct{ Host, Name string }

// Path returns the page that adds it.
func (s suggestion) Path() string {
	return site.PathAdminNewPublisher + "?" + url.Values{"host": {s.Host}}.Encode()
}

// wellKnownName returns the name of a well-known host, or "".
func wellKnownName(host string) string {
	if i := slices.IndexFunc(wellKnown, func(s suggestion) bool { return s.Host == host }); i >= 0 {
		return wellKnown[i].Name
	}
	return ""
}

const localName = "Programs on users’ computers"

type adminPublishersBody struct {
	Publishers []publisherLine
	Many       bool // there are enough for a search
	Search     ui.Search
	Empty      ui.Empty // instead of the list
	Suggested  []suggestion
	Letters    []ui.Link
	Table      ui.Table
}

// A publisherLine is one publisher of a list.
type publisherLine struct {
	Host, Name, Path string
	Pill             ui.Pill
	Pending          bool
	Clients          int
	RequestedBy      parts.Piece
	Requested        ui.Stamp
	Allowed          ui.Stamp // when a user last allowed one of its clients
}

func pillOf(p *ledger.Publisher) ui.Pill {
	state := ledger.ClientState(p.State)
	switch {
	case p.Host != ledger.LocalPublisher:
		return parts.StatePill(state)
	case p.State == ledger.PublisherApproved:
		return ui.Pill{Text: "On", Tone: ui.Good}
	}
	return ui.Pill{Text: "Off"}
}

// publisherOrOff returns a publisher. LocalPublisher is always there: it is off if it has no row.
func publisherOrOff(v ledger.View, host string) *ledger.Publisher {
	p := v.Publisher(host)
	if p == nil && host == ledger.LocalPublisher {
		return &ledger.Publisher{Host: host, State: ledger.PublisherRejected}
	}
	return p
}

// displayName returns the name of a publisher in lists.
func displayName(p *ledger.Publisher) string {
	if p.Host == ledger.LocalPublisher {
		return localName
	}
	return p.Name
}

func publisherLineOf(v *site.Session, p *ledger.Publisher) publisherLine {
	line := publisherLine{
		Host: p.Host, Name: displayName(p), Path: parts.PublisherPath(p.Host), Pill: pillOf(p), Pending: p.State == ledger.PublisherPending,
		RequestedBy: parts.UserPiece(v.View, p.RequestedBy), Requested: v.At(p.Requested),
	}
	var allowed ledger.Time
	for client := range v.View.ClientsOfPublisher(p.Host) {
		line.Clients++
		allowed = max(allowed, client.Document.Allowed)
	}
	line.Allowed = v.At(allowed)
	return line
}

// publishersOf returns the publishers in a state, or all, which match a search: those that wait
// come first, the longest waiting before the others, then the rest by host.
func publishersOf(v ledger.View, state, find string) []*ledger.Publisher {
	all := []*ledger.Publisher{publisherOrOff(v, ledger.LocalPublisher)}
	for p := range v.Publishers() {
		if p.Host != ledger.LocalPublisher {
			all = append(all, p)
		}
	}
	find = strings.ToLower(find)
	all = slices.DeleteFunc(all, func(p *ledger.Publisher) bool {
		return state != "" && state != string(p.State) || !strings.Contains(p.Host, find) && !strings.Contains(strings.ToLower(displayName(p)), find)
	})
	waits := func(p *ledger.Publisher) int {
		if p.State == ledger.PublisherPending {
			return 0
		}
		return 1
	}
	slices.SortFunc(all, func(a, b *ledger.Publisher) int {
		if order := cmp.Compare(waits(a), waits(b)); order != 0 || waits(a) == 0 {
			return cmp.Or(order, cmp.Compare(a.Requested, b.Requested), cmp.Compare(a.Host, b.Host))
		}
		return cmp.Compare(a.Host, b.Host)
	})
	return all
}

// hostLetters is lettersOf for a list of publishers.
func hostLetters(c *site.Request, several bool, all []*ledger.Publisher) []ui.Link {
	before := map[string]string{} // the host before the first one with a letter
	var last string
	for _, p := range all {
		letter := p.Host[:1]
		if _, known := before[letter]; !known && p.State != ledger.PublisherPending {
			before[letter] = c.PageAt("after", last)
		}
		last = p.Host
	}
	links := lettersOf(c, several, func() string { return strings.Join(slices.Sorted(maps.Keys(before)), "") })
	for i := range links {
		links[i].Path = before[strings.ToLower(links[i].Title)]
	}
	return links
}

// adminPublishers lists the publishers.
func (w *Area) adminPublishers(c *site.Request, v site.Session) error {
	state := c.R.URL.Query().Get("state")
	body := &adminPublishersBody{Search: site.SearchOf(c, "Host or name")}
	others := "others are refused"
	if v.View.Settings().Agents == ledger.AgentsReviewed {
		others = "others wait here for your review"
	}
	states := []ui.Option{{Text: "Any state"}}
	for _, s := range []ledger.ClientState{ledger.Pending, ledger.Approved, ledger.Rejected} {
		states = append(states, ui.Option{Value: string(s), Text: parts.StateName(s)})
	}
	choose(state, states...)
	body.Search.Selects = []ui.Select{{Name: "state", Label: "State", Options: states}}
	find := body.Search.Query
	all := publishersOf(v.View, state, find)
	searched := find != "" || state != ""
	if body.Many = searched || len(all) >= fewRows; searched {
		body.Search.Clear = site.PathAdminPublishers
		body.Empty = ui.Empty{Title: "No publisher matches", Text: "Try another state, or all of them."}
	}
	if find != "" {
		body.Empty = ui.Empty{Title: "No publisher matches “" + find + "”", Text: "Try a part of its host or of its name."}
	}
	host := func(p *ledger.Publisher) string { return p.Host }
	shown, pages := site.PageOf(c, all, adminRowsPerPage, host)
	at := site.PositionIn(all, shown)
	pages.Count = site.CountOf(at, len(shown), "publisher")
	body.Table = ui.Table{Caption: "Publishers, those that wait for a review first", Pager: &pages, Columns: []ui.Column{
		{Title: "Publisher"}, {Title: "State"}, {Title: "Applications", Class: "num"}, {Title: "Last allowed"},
	}}
	body.Letters = hostLetters(c, len(all) > len(shown), all)
	for _, p := range shown {
		body.Publishers = append(body.Publishers, publisherLineOf(&v, p))
	}
	if !searched && pages.Back == "" {
		for _, s := range wellKnown {
			if v.View.Publisher(s.Host) == nil {
				body.Suggested = append(body.Suggested, s)
			}
		}
	}
	return w.showAdmin(c, v, "publishers", ui.Page{
		Title: "Publishers", Lead: "Hosts whose AI assistants and other agents may ask users for access; " + others + ".",
		Actions: []ui.Action{{Title: "Add a publisher", Path: site.PathAdminNewPublisher, Icon: "plus", Primary: true}},
		Notice:  removedNotice(c, publisherNotices), Body: body, Rows: len(shown),
		Truncate: func(n int) {
			body.Publishers, pages.Next, pages.Count = body.Publishers[:n], c.PageAt("after", host(shown[n-1])), site.CountOf(at, n, "publisher")
		},
	})
}

// linkOwner returns who owns a client: a user, or the publisher of its document.
func linkOwner(v ledger.View, client *ledger.Client) parts.Piece {
	if client.Document == nil {
		return parts.UserPiece(v, client.Owner)
	}
	host := client.Document.Host()
	link := parts.Piece{Text: titleOf(host)}
	if v.Settings().AcceptsAgents() && publisherOrOff(v, host) != nil {
		link.Path = parts.PublisherPath(host)
	}
	return link
}
