package site

import (
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// A MenuGroup is a titled part of the navigation.
type MenuGroup struct {
	ID, Title string
	Who       Audience
	Items     []MenuItem
}

// A MenuItem is an entry of the navigation.
type MenuItem struct {
	Title, Path, Icon string
	Adds              string // the path of the page that adds an entry; "" if it is below path
	Alone             bool   // the pages below path have entries of their own
	// Waits counts what waits there for a user; nil for nothing. Wait says of the number what it
	// counts, such as "waiting for review".
	Waits func(v ledger.View, u *ledger.User, now ledger.Time) int
	Wait  string
}

// shell returns the navigation around the page of a request. up is the page above it, or nil: if it
// has an entry, the page belongs to that one, whatever its path.
func (w *Site) shell(c *Request, v *Session, up *ui.Link) *ui.Shell {
	s := &ui.Shell{
		Person: PersonOf(v.User).Name, Account: PathAccount,
		SignOut: PathSignOut, SignOutToken: FormToken(v.ID, ForSignOut, "", ""),
		DraftKey: FormToken(v.ID, forDrafts, v.User.ID, ""),
	}
	if zone := ZoneOf(v.User.TimeZone); zone != nil {
		s.Zone = zone.String()
	}
	groups := w.Groups(v)
	above := slices.ContainsFunc(groups, func(g MenuGroup) bool {
		return slices.ContainsFunc(g.Items, func(i MenuItem) bool { return up != nil && i.Path == up.Path })
	})
	for _, group := range groups {
		shown := ui.NavGroup{ID: group.ID, Title: group.Title}
		for _, item := range group.Items {
			one := ui.NavItem{Title: item.Title, Path: item.Path, Icon: item.Icon, Here: c.route == item.Path}
			if one.Below = !one.Here && c.route != "" && (c.route == item.Adds || !item.Alone && strings.HasPrefix(c.route, item.Path+"/")); above {
				one.Below = item.Path == up.Path
			}
			if item.Waits != nil {
				one.Count = ui.NewCount(item.Waits(v.View, v.User, w.Ledger.Now()), item.Wait)
			}
			shown.Items = append(shown.Items, one)
		}
		s.Groups = append(s.Groups, shown)
	}
	return s
}

// Groups returns the part of the navigation that a user may see.
func (w *Site) Groups(v *Session) []MenuGroup {
	var list []MenuGroup
	for _, group := range w.Navigation {
		if group.Who == Administrators && !v.User.Admin {
			continue
		}
		items := group.Items
		group.Items = nil
		for _, item := range items {
			if !agentPath(item.Path) || v.View.Settings().AcceptsAgents() {
				group.Items = append(group.Items, item)
			}
		}
		list = append(list, group)
	}
	return list
}
