package account

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

const appsPerPage = 10

var (
	disconnectForm = site.FormKind{
		Purpose: forDisconnect, Ends: true, Action: parts.PathApps + "/disconnect", Page: parts.PathApps, Fields: []site.Field{site.BoundField("client")},
	}
	disconnectAllForm = site.FormKind{Purpose: forDisconnectAll, Ends: true, Action: parts.PathApps + "/disconnect-all", Page: parts.PathApps}
)

var appNotices = site.Notices{
	"disconnected":     "The application was disconnected. It gets no new access; what it got just before may keep working for up to 30 minutes.",
	"disconnected-all": "All applications were disconnected. They get no new access; what they got just before may keep working for up to 30 minutes.",
}

type appsBody struct {
	Connections []connection
	All         int  // number of connections
	Found       int  // number of connections that the search found
	Many        bool // there are more than fit on a page
	Search      ui.Search
	Pages       ui.Pager
	AnyLegacy   bool
	AllForm     *site.Form
	Lifetimes   lifetimes
}

// lifetimes are how long an application's access lasts without the user, and that of an agent.
type lifetimes struct{ Access, Idle, Absolute, AgentIdle, AgentAbsolute time.Duration }

func lifetimesOf(v *site.Session) lifetimes {
	s := v.View.Settings()
	l := lifetimes{Access: oauth.AccessTokenLifetime * time.Second, Idle: s.RefreshIdle, Absolute: s.GrantAbsolute}
	l.AgentIdle, l.AgentAbsolute = s.AgentLifetimes()
	return l
}

// A connection is an application that the user has allowed, with all live grants taken
// together.
type connection struct {
	ClientID string
	Path     string
	Name     string
	Picture  *ui.Picture
	State    ledger.ClientState
	Legacy   bool
	Agent    string // the publisher of an agent, "" for other applications
	Shared   bool   // two parties seem to use one grant: see ledger.Grant.Shared
	First    ui.Stamp
	Used     ui.Stamp // of the last use
	Form     *site.Form

	Permissions int // number of permissions
	Writes      int // number of permissions that can change something

	Resources []*ledger.ResourceServer // where it can use the account, each once; nil stands for this service

	scopes  scope.Set
	lastUse ledger.Time // 0 if never
}

// Limited reports whether the application can use the account at some resource servers only.
func (one connection) Limited() bool { return !slices.Contains(one.Resources, nil) }

// connectedApps lists the connected applications in the order in which they were allowed, and
// then the agents by publisher.
func (w *Area) connectedApps(c *site.Request, v site.Session) error {
	all := w.connections(&v)
	body := appsBody{All: len(all), Many: len(all) > appsPerPage, AllForm: v.Form(&disconnectAllForm, nil), Lifetimes: lifetimesOf(&v)}
	body.Search = site.SearchOf(c, "Name of the application")
	found := all[:0:0]
	for _, one := range all {
		body.AnyLegacy = body.AnyLegacy || one.Legacy
		if site.Matches(body.Search, one.Name) {
			found = append(found, one)
		}
	}
	body.Found = len(found)
	body.Connections, body.Pages = site.PageOf(c, found, appsPerPage, func(one connection) string { return one.ClientID })
	for i := range body.Connections {
		one := &body.Connections[i]
		one.count()
		one.Form = v.Form(&disconnectForm, url.Values{"client": {one.ClientID}})
	}
	return w.Show(c, v, "apps", ui.Page{Title: "Connected apps", Notice: appNotices.Text(c), Body: body})
}

// connections returns the user's live grants by application.
func (w *Area) connections(v *site.Session) []connection {
	var list []connection
	position := map[string]int{}
	for _, g := range v.View.GrantsOf(v.User.ID, w.Ledger.Now()) { // oldest first
		i, ok := position[g.Client]
		if !ok {
			client := v.View.Client(g.Client)
			i, position[g.Client] = len(list), len(list)
			list = append(list, connection{
				Agent: parts.AgentOf(client), ClientID: client.ID, Path: parts.PathApps + "/" + url.PathEscape(client.ID),
				Name: parts.NameOfApp(client), Picture: parts.PublicPicture(client), State: client.State, First: v.At(g.Created),
			})
		}
		one := &list[i]
		one.Legacy, one.Shared = one.Legacy || g.Legacy, one.Shared || g.Shared()
		one.scopes = one.scopes.Union(scope.FromClaim(v.View.ScopeOf(g)))
		one.lastUse = max(one.lastUse, g.Used)
		if s, ok := v.View.ResourceServerOf(g); ok && !slices.Contains(one.Resources, s) {
			one.Resources = append(one.Resources, s)
		}
	}
	for i := range list {
		list[i].Used = v.At(list[i].lastUse)
	}
	slices.SortStableFunc(list, func(a, b connection) int { return strings.Compare(a.Agent, b.Agent) })
	return list
}

// count sets Permissions and Writes.
func (one *connection) count() {
	for _, s := range scope.Catalogue() {
		if one.scopes.Has(s.Name) {
			one.Permissions++
			if s.Writes {
				one.Writes++
			}
		}
	}
}

// disconnect ends all grants of the user for one application.
func (w *Area) disconnect(c *site.Request, v site.Session, f *site.Form) error {
	return w.revokeGrants(c, v, f.Get("client"), "disconnected")
}

// disconnectAll ends all grants of the user.
func (w *Area) disconnectAll(c *site.Request, v site.Session, _ *site.Form) error {
	return w.revokeGrants(c, v, "", "disconnected-all")
}

func (w *Area) revokeGrants(c *site.Request, v site.Session, client, word string) error {
	refused, err := w.Propose(c, &v, "disconnect", &ledger.Disconnect{Actor: v.Actor(), User: v.User.ID, Client: client})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return site.ErrNotFound
	}
	c.Client = client
	return c.RedirectNotice(parts.PathApps, appNotices, word)
}
