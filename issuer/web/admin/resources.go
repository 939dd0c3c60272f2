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
	Search  ui.Search
	New     string
	Pages   ui.Pager
}

// A resourceLine is one resource server of the list.
type resourceLine struct {
	Name, ID, Path string
	Secrets        int      // active ones
	Used           ui.Stamp // last use of a secret
}

// adminResources lists the resource servers by name.
func (w *Area) adminResources(c *site.Request, v site.Session) error {
	body := &adminResourcesBody{Search: site.SearchOf(c, "Name or identifier"), New: parts.PathAdminNewResource}
	find := strings.ToLower(body.Search.Query)
	var all []*ledger.ResourceServer
	for s := range v.View.ResourceServers() {
		if strings.Contains(strings.ToLower(s.Name), find) || strings.Contains(strings.ToLower(s.ID), find) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *ledger.ResourceServer) int {
		return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	name := func(s *ledger.ResourceServer) string { return s.Name }
	shown, pages := site.PageOf(c, all, adminRowsPerPage, name)
	at := positionIn(all, shown)
	body.Pages = pages
	body.Pages.Count = site.CountOf(at, len(shown))
	for _, s := range shown {
		line := resourceLine{Name: s.Name, ID: s.ID, Path: parts.ResourcePath(s.Name), Secrets: s.ActiveSecrets()}
		var used ledger.Time
		for i := range s.Secrets {
			used = max(used, s.Secrets[i].Used)
		}
		line.Used = v.At(used)
		body.Servers = append(body.Servers, line)
	}
	return w.showAdmin(c, v, "resources", ui.Page{
		Title: "Resource servers", Actions: []ui.Action{{Title: "Register a resource server", Path: parts.PathAdminNewResource, Icon: "plus", Primary: true}}, Notice: resourceNotices.Text(c), Body: body, Rows: len(shown),
		Truncate: func(n int) {
			body.Servers, body.Pages.Next, body.Pages.Count = body.Servers[:n], c.PageAt("after", name(shown[n-1])), site.CountOf(at, n)
		},
	})
}
