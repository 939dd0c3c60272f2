package account

import (
	"cmp"
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
	"disconnected":     "The app was disconnected. It can get no new access. What it had ends within 30 minutes.",
	"disconnected-all": "All apps were disconnected. They can get no new access. What they had ends within 30 minutes.",
}

type appsBody struct {
	Apps, Agents []connection // of the page
	All          int          // number of connections
	Found        int          // number of connections that the search found
	Many         bool         // there are more than fit on a page
	Search       ui.Search
	Pages        ui.Pager
	Lifetimes    lifetimes
	Danger       *ui.Danger // nil if there is only one connection
	Empty        ui.Empty   // if there are none
}

// lifetimes are how long an application's access lasts without the user, and that of an agent.
type lifetimes struct{ Access, Idle, Absolute, AgentIdle, AgentAbsolute time.Duration }

func lifetimesOf(v *site.Session) lifetimes {
	s := v.View.Settings()
	l := lifetimes{Access: oauth.AccessTokenLifetime * time.Second, Idle: s.RefreshIdle, Absolute: s.GrantAbsolute}
	l.AgentIdle, l.AgentAbsolute = s.AgentLifetimes()
	return l
}

// of returns the lifetimes of a connection: without use, and however much it is used.
func (l lifetimes) of(one *connection) (idle, absolute time.Duration) {
	if one.Agent != "" {
		return l.AgentIdle, l.AgentAbsolute
	}
	return l.Idle, l.Absolute
}

// A connection is an application that the user has allowed, with all live grants taken
// together.
type connection struct {
	ClientID string
	Path     string
	Name     string
	By       string // the name of its owner; "" for agents, and if the owner has no account any more
	Picture  *ui.Picture
	State    ledger.ClientState
	Legacy   bool
	Agent    string // the publisher of an agent, "" for other applications
	Shared   bool   // two parties seem to use one grant: see ledger.Grant.Shared
	First    ui.Stamp
	Used     ui.Stamp // of the last use

	Asks       parts.Asks // what it may do
	Disconnect *ui.Confirm

	Resources []*ledger.ResourceServer // where it can use the account, each once; nil stands for this service

	scopes  scope.Set
	lastUse ledger.Time // 0 if never
	latest  ledger.Time // when it was last used or allowed
	ends    ledger.Time // when the last of the grants ends, however much it is used
}

// Chips returns the kinds of data that the application views or changes.
func (one connection) Chips() []ui.Pill {
	var kinds []string
	for _, row := range one.Asks.Rows {
		kinds = append(kinds, row.Area)
	}
	return ui.Chips(kinds)
}

// Limited reports whether the application can use the account at some resource servers only.
func (one connection) Limited() bool { return !slices.Contains(one.Resources, nil) }

// connectedApps lists the connected applications, those used last first, and then the agents by
// publisher.
func (w *Area) connectedApps(c *site.Request, v site.Session) error {
	all := w.connections(&v)
	body := &appsBody{All: len(all), Many: len(all) > appsPerPage, Lifetimes: lifetimesOf(&v), Empty: noApps}
	body.Search = site.SearchOf(c, "Name of the app")
	found := all[:0:0]
	for _, one := range all {
		if site.Matches(body.Search, one.Name) {
			found = append(found, one)
		}
	}
	body.Found = len(found)
	key := func(one connection) string { return one.ClientID }
	shown, pages := site.PageOf(c, found, appsPerPage, key)
	body.Pages = pages
	for i := range shown {
		one := &shown[i]
		one.Asks = parts.AsksOf(one.scopes.String(), scope.Set{})
		one.Disconnect = one.disconnect(&v)
		one.Disconnect.Small = true
	}
	show := func(n int) {
		body.Apps, body.Agents = nil, nil
		for _, one := range shown[:n] {
			if one.Agent != "" {
				body.Agents = append(body.Agents, one)
			} else {
				body.Apps = append(body.Apps, one)
			}
		}
	}
	show(len(shown))
	if len(all) > 1 {
		body.Danger = disconnectAllDanger(&v, len(all))
	}
	return w.Show(c, v, "apps", ui.Page{
		Title: "Connected apps", Notice: appNotice(c, v.View), Body: body, Rows: len(shown),
		Truncate: func(n int) {
			show(n)
			body.Pages.Next = c.PageAt("after", key(shown[n-1]))
		},
	})
}

// appNotice returns the notice of what was done, with the name of the app.
func appNotice(c *site.Request, view ledger.View) string {
	text := appNotices.Text(c)
	if client := view.Client(c.NoticeOf()); client != nil {
		text = strings.Replace(text, "The app", parts.NameOfApp(client), 1)
	}
	return text
}

var noApps = ui.Empty{Title: "No app is connected", Text: "Apps that you allow to use your account are listed here."}

// endOfAccess completes a sentence about an app, or several, that the user disconnects.
func endOfAccess(v *site.Session) string {
	return " can get no new access from now on. What it has ends within " + ui.Duration(lifetimesOf(v).Access) + "."
}

// disconnect returns the button that disconnects the application, and asks before.
func (one *connection) disconnect(v *site.Session) *ui.Confirm {
	return &ui.Confirm{
		Button: "Disconnect", About: one.Name, Title: "Disconnect " + one.Name + "?", Text: disconnectText(v, one.State),
		Do: "Disconnect", Tone: ui.Bad, Form: v.Form(&disconnectForm, url.Values{"client": {one.ClientID}}),
	}
}

func disconnectAllDanger(v *site.Session, all int) *ui.Danger {
	apps, text := ui.Plural(all, "app"), "Each"+endOfAccess(v)+" They keep what they have copied."
	if all > appsPerPage {
		text = "Those on other pages of this list too. " + text
	}
	return &ui.Danger{Lines: []ui.DangerLine{{
		Title: "Disconnect all apps", Text: text,
		Confirm: &ui.Confirm{
			Button: "Disconnect all", About: "apps", Title: "Disconnect all " + apps + "?", Text: "Each" + endOfAccess(v),
			Do: "Disconnect all " + apps, Tone: ui.Bad, Form: v.Form(&disconnectAllForm, nil),
		},
	}}}
}

// connections returns the user's live grants by application.
func (w *Area) connections(v *site.Session) []connection {
	var list []connection
	lasting := lifetimesOf(v)
	position := map[string]int{}
	for _, g := range v.View.GrantsOf(v.User.ID, w.Ledger.Now()) { // oldest first
		i, ok := position[g.Client]
		if !ok {
			client := v.View.Client(g.Client)
			i, position[g.Client] = len(list), len(list)
			list = append(list, connection{
				Agent: parts.AgentOf(client), ClientID: client.ID, Path: appPath(client.ID),
				Name: parts.NameOfApp(client), By: parts.MadeBy(v.View, client), Picture: parts.PublicPicture(client), State: client.State, First: v.At(g.Created),
			})
		}
		one := &list[i]
		one.Legacy, one.Shared = one.Legacy || g.Legacy, one.Shared || g.Shared()
		one.scopes = one.scopes.Union(scope.FromClaim(v.View.ScopeOf(g)))
		one.lastUse, one.latest = max(one.lastUse, g.Used), max(one.latest, g.Used, g.Created)
		_, absolute := lasting.of(one)
		one.ends = max(one.ends, g.Created.Add(absolute))
		if s, ok := v.View.ResourceServerOf(g); ok && !slices.Contains(one.Resources, s) {
			one.Resources = append(one.Resources, s)
		}
	}
	for i := range list {
		list[i].Used = v.At(list[i].lastUse)
	}
	slices.SortStableFunc(list, func(a, b connection) int {
		return cmp.Or(strings.Compare(a.Agent, b.Agent), cmp.Compare(b.latest, a.latest))
	})
	return list
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
	return c.RedirectNoticeOf(parts.PathApps, appNotices, word, client)
}
