package admin

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type adminResourcesBody struct {
	Servers []resourceLine
	Many    bool // there are enough for a search
	Search  ui.Search
	Empty   ui.Empty // instead of the list
	Table   ui.Table
}

// fewRows is the number of rows in which a reader finds one without a search.
const fewRows = 10

// A resourceLine is one resource server of the list.
type resourceLine struct {
	Name, ID, Path string
	Secrets        int      // active ones
	Scopes         int      // that introspection shows; 0 means all
	Used           ui.Stamp // last use of a secret
}

// adminResources lists the resource servers by name.
func (w *Area) adminResources(c *site.Request, v site.Session) error {
	body := &adminResourcesBody{Search: site.SearchOf(c, "Name or identifier")}
	body.Empty = ui.Empty{Title: "There are no resource servers yet", Text: "An API that only verifies access tokens needs no registration."}
	if find := body.Search.Query; find != "" {
		body.Search.Clear = parts.PathAdminResources
		body.Empty = ui.Empty{Title: "No resource server matches “" + find + "”", Text: "Try a part of the name or of the identifier."}
	}
	var all []*ledger.ResourceServer
	for s := range v.View.ResourceServers() {
		if site.Matches(body.Search, s.Name) || site.Matches(body.Search, s.ID) {
			all = append(all, s)
		}
	}
	body.Many = body.Search.Query != "" || len(all) >= fewRows
	slices.SortFunc(all, func(a, b *ledger.ResourceServer) int {
		return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	name := func(s *ledger.ResourceServer) string { return s.Name }
	shown, pages := site.PageOf(c, all, adminRowsPerPage, name)
	at := site.PositionIn(all, shown)
	pages.Count = site.CountOf(at, len(shown), "resource server")
	body.Table = ui.Table{Caption: "Resource servers by name", Pager: &pages, Columns: []ui.Column{
		{Title: "Resource server"}, {Title: "Scopes"}, {Title: "Active secrets"}, {Title: "Last used"},
	}}
	for _, s := range shown {
		line := resourceLine{Name: s.Name, ID: s.ID, Path: parts.ResourcePath(s.Name), Secrets: s.ActiveSecrets(), Scopes: len(s.Scopes)}
		var used ledger.Time
		for i := range s.Secrets {
			used = max(used, s.Secrets[i].Used)
		}
		line.Used = v.At(used)
		body.Servers = append(body.Servers, line)
	}
	return w.showAdmin(c, v, "resources", ui.Page{
		Title: "Resource servers", Lead: "APIs that introspect access tokens, or read which tokens were revoked.",
		Actions: []ui.Action{{Title: "Register a resource server", Path: parts.PathAdminNewResource, Icon: "plus", Primary: true}},
		Notice:  removedNotice(c, resourceNotices), Body: body, Rows: len(shown),
		Truncate: func(n int) {
			body.Servers, pages.Next, pages.Count = body.Servers[:n], c.PageAt("after", name(shown[n-1])), site.CountOf(at, n, "resource server")
		},
	})
}

// removedNotice names what was removed from a list.
func removedNotice(c *site.Request, notices site.Notices) string {
	text := notices.Text(c)
	if name := c.NoticeOf(); name != "" {
		text = strings.Replace(text, "Removed", "Removed "+name, 1)
	}
	return text
}
