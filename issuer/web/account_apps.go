package web

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

const (
	pathApps    = "/connected-apps"
	appsPerPage = 10
)

var (
	disconnectForm = formKind{
		purpose: forDisconnect, ends: true, action: pathApps + "/disconnect", page: pathApps, fields: []field{boundField("client")},
	}
	disconnectAllForm = formKind{purpose: forDisconnectAll, ends: true, action: pathApps + "/disconnect-all", page: pathApps}
)

var appNotices = notices{
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
	AllForm     *form
	Lifetimes   lifetimes
}

// lifetimes are how long an application's access lasts without the user, and that of an agent.
type lifetimes struct{ Access, Idle, Absolute, AgentIdle, AgentAbsolute time.Duration }

func lifetimesOf(v *session) lifetimes {
	s := v.view.Settings()
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
	First    ledger.Time
	Used     ledger.Time // 0 if never
	Form     *form

	Permissions int // number of permissions
	Writes      int // number of permissions that can change something

	Resources []*ledger.ResourceServer // where it can use the account, each once; nil stands for this service

	scopes scope.Set
}

// Limited reports whether the application can use the account at some resource servers only.
func (one connection) Limited() bool { return !slices.Contains(one.Resources, nil) }

// connectedApps lists the connected applications in the order in which they were allowed, and
// then the agents by publisher.
func (w *Web) connectedApps(c *request, v session) error {
	all := w.connections(&v)
	body := appsBody{All: len(all), Many: len(all) > appsPerPage, AllForm: v.form(&disconnectAllForm, nil), Lifetimes: lifetimesOf(&v)}
	body.Search = searchOf(c, "Name of the application")
	found := all[:0:0]
	for _, one := range all {
		body.AnyLegacy = body.AnyLegacy || one.Legacy
		if matches(body.Search, one.Name) {
			found = append(found, one)
		}
	}
	body.Found = len(found)
	body.Connections, body.Pages = pageOf(c, found, appsPerPage, func(one connection) string { return one.ClientID })
	for i := range body.Connections {
		one := &body.Connections[i]
		one.count()
		one.Form = v.form(&disconnectForm, url.Values{"client": {one.ClientID}})
	}
	return w.show(c, v, "account_apps", ui.Page{Title: "Connected apps", Notice: appNotices.text(c), Body: body})
}

// connections returns the user's live grants by application.
func (w *Web) connections(v *session) []connection {
	var list []connection
	position := map[string]int{}
	for _, g := range v.view.GrantsOf(v.user.ID, w.config.Ledger.Now()) { // oldest first
		i, ok := position[g.Client]
		if !ok {
			client := v.view.Client(g.Client)
			i, position[g.Client] = len(list), len(list)
			list = append(list, connection{
				Agent: agentOf(client), ClientID: client.ID, Path: pathApps + "/" + url.PathEscape(client.ID),
				Name: nameOfApp(client), Picture: publicPicture(client), State: client.State, First: g.Created,
			})
		}
		one := &list[i]
		one.Legacy, one.Shared = one.Legacy || g.Legacy, one.Shared || g.Shared()
		one.scopes = one.scopes.Union(scope.FromClaim(g.Scope))
		one.Used = max(one.Used, g.Used)
		if s, ok := v.view.ResourceServerOf(g); ok && !slices.Contains(one.Resources, s) {
			one.Resources = append(one.Resources, s)
		}
	}
	slices.SortStableFunc(list, func(a, b connection) int { return strings.Compare(a.Agent, b.Agent) })
	return list
}

func agentOf(client *ledger.Client) string {
	if client.Document == nil {
		return ""
	}
	return client.Document.Host()
}

// nameOfApp returns the name of a client for its users. Anybody can write any name in a
// metadata document, so the host of its publisher comes first.
func nameOfApp(client *ledger.Client) string {
	if client.Document == nil {
		return client.Name
	}
	return publisherName(client.Document) + " (" + client.Name + ")"
}

// publisherName names the publisher of a client to users.
func publisherName(d *ledger.Document) string {
	if d.Host() == ledger.LocalPublisher {
		return "a program on a computer"
	}
	return d.Host()
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
func (w *Web) disconnect(c *request, v session, f *form) error {
	return w.revokeGrants(c, v, f.get("client"), "disconnected")
}

// disconnectAll ends all grants of the user.
func (w *Web) disconnectAll(c *request, v session, _ *form) error {
	return w.revokeGrants(c, v, "", "disconnected-all")
}

func (w *Web) revokeGrants(c *request, v session, client, word string) error {
	refused, err := w.propose(c, &v, "disconnect", &ledger.Disconnect{Actor: v.actor(), User: v.user.ID, Client: client})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return errNotFound
	}
	c.client = client
	return c.redirectNotice(pathApps, appNotices, word)
}

// matches reports whether a text contains the search, ignoring case.
func matches(s ui.Search, text string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(s.Query))
}
