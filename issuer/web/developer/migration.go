package developer

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

var keepDraftForm = site.FormKind{
	Purpose: "keep draft", Action: pathClient + "/migration/draft", Page: pathClient + "/migration",
	Fields: []site.Field{site.ListField("scopes", "The selection of scopes").Chosen().Worded(parts.ScopeText)},
}

var migrateForm = site.FormKind{
	Purpose: "migrate client", Action: pathClient + "/migration", Page: pathClient + "/migration",
	Fields: []site.Field{site.BoundField("revision"), site.BoundField("selected").Labelled("The selection of scopes").Chosen(), site.TextField("confirm", "The confirmation").Chosen()},
}

type migrationBody struct {
	Path   string
	Page   string      // the path of this page
	Access string      // what a legacy application may do
	Legacy bool        // the migration has not been done
	Saved  *ui.Callout // says that the selection was saved; or nil

	Without, With         uint32 // authorization requests without and with scope in the last 30 days
	WithoutBars, WithBars *ui.Bars
	Last                  lastRequest // the last request without scope
	Asked                 []string    // scopes that other requests asked for

	Draft *site.Form

	Matrix   ui.Matrix
	Selected []string
	URL      ui.Code    // the new authorization URL
	Compared comparison // the selection compared with the requested scopes
	Form     *site.Form // for the second step; nil without a selection
}

// A lastRequest is the day of the last request of some kind, and how long ago that is.
type lastRequest struct {
	Day ui.Stamp
	Ago string
}

// lastWithout returns the last day with requests without scope. Requests are counted by
// day (UTC); single ones have no time.
func lastWithout(client *ledger.Client, now ledger.Time) lastRequest {
	for _, d := range slices.Backward(client.Traffic) {
		if d.WithoutScope > 0 {
			return lastRequest{ui.Clock{}.Day(int64(ledger.DayTime(d.Day))), daysAgo(daysSince(d.Day, now))}
		}
	}
	return lastRequest{Day: ui.Stamp{Zero: true}}
}

// daysSince returns how many days before now a day is, in UTC.
func daysSince(day int32, now ledger.Time) int {
	return int(now.Std().Sub(ledger.DayTime(day).Std()) / (24 * time.Hour))
}

func daysAgo(n int) string {
	switch n {
	case 0:
		return "today"
	case 1:
		return "yesterday"
	}
	return ui.Plural(n, "day") + " ago"
}

// A comparison compares the selection with the scopes of recent requests.
type comparison struct {
	Both   []string // selected and requested
	Unused []string // selected, but not requested
	Missed []string // requested, but not selected: such requests will fail
}

// migrationPage leads through section 9 of the service document: first the authorization
// URL gets its scope, then the same scopes are selected here. Until then the selection is a
// draft, which enforces nothing.
func (w *Area) migrationPage(c *site.Request, v site.Session, client *ledger.Client) error {
	if !client.WasLegacy && !client.Legacy {
		return site.ErrNotFound
	}
	return w.showMigration(c, v, client, client.Draft, w.migrateFormFor(&v, client, client.Draft))
}

func (w *Area) migrateFormFor(v *site.Session, client *ledger.Client, selected []string) *site.Form {
	return parts.ClientForm(v, &migrateForm, client,
		"revision", strconv.FormatUint(client.Revision, 10), "selected", strings.Join(selected, " "))
}

// catalogued returns the names that are scopes, each once, in catalogue order.
func catalogued(names []string) []string {
	return scope.FromClaim(strings.Join(names, " ")).Names()
}

func (w *Area) showMigration(c *site.Request, v site.Session, client *ledger.Client, selected []string, f *site.Form) error {
	asked := catalogued(client.RequestedScopes)
	body := migrationBody{
		Path: parts.ClientPath(client.ID), Page: parts.ClientPath(client.ID, "migration"), Access: strings.Replace(legacyAccess, "It", client.Name, 1), Legacy: client.Legacy,
		Asked: asked, Selected: selected, Matrix: parts.ScopeMatrix(selected),
	}
	now := w.Ledger.Now()
	body.Without, body.With = client.RecentTraffic(now)
	body.WithoutBars, body.WithBars = trafficBars(client, now)
	body.Last = lastWithout(client, now)
	body.Draft = parts.ClientForm(&v, &keepDraftForm, client)
	if len(selected) == 0 && len(asked) > 0 {
		body.Matrix = parts.ScopeMatrix(asked) // preselect the requested scopes
	}
	if len(selected) > 0 {
		to := w.connecting(&v, client)
		to.Scopes = selected
		body.URL, body.Form = to.code("url", "New authorization URL"), f
		body.Compared = compare(selected, asked)
	}
	p := ui.Page{Title: "Move " + client.Name + " to scopes", Up: upTo(client), Notice: clientNotices.Text(c)}
	if body.Form != nil {
		p.Form = f
		if c.Notice() == "draft-kept" { // beside the URL, which the address leads to
			body.Saved, p.Notice = &ui.Callout{Tone: ui.Good, Text: p.Notice, Role: "status"}, ""
		}
	}
	p.Body = body
	return w.Show(c, v, "migration", p)
}

// trafficBars returns the charts of the requests without and with scope, on one scale. Days
// are in UTC.
func trafficBars(client *ledger.Client, now ledger.Time) (withoutBars, withBars *ui.Bars) {
	const days = 30
	without, with := make([]uint32, days), make([]uint32, days)
	for _, d := range client.Traffic {
		if n := days - 1 - daysSince(d.Day, now); n >= 0 && n < days {
			without[n], with[n] = d.WithoutScope, d.WithScope
		}
	}
	on := func(n int) string {
		return "on " + (ui.Clock{}).Day(int64(now.Add(time.Duration(n+1-days)*24*time.Hour))).Text
	}
	withoutBars = ui.NewBars(without, "Requests without scope in 30 days", "day", on)
	withBars = ui.NewBars(with, "Requests with scope in 30 days", "day", on)
	withoutBars.Top = max(slices.Max(without), slices.Max(with))
	withBars.Top = withoutBars.Top
	return withoutBars, withBars
}

// keepDraft keeps the selection of scopes until the migration.
func (w *Area) keepDraft(c *site.Request, v site.Session, f *site.Form, client *ledger.Client) error {
	refused, err := w.Propose(c, &v, "keep a draft", &ledger.KeepDraft{Actor: v.Actor(), Client: client.ID, Scopes: catalogued(f.Values["scopes"])})
	switch {
	case err != nil:
		return err
	case refused != nil && refused.Cause == ledger.WrongState:
		return w.redirectMigrated(c, client) // the scopes were selected meanwhile
	case refused != nil:
		return site.ErrNotFound
	}
	return c.RedirectNotice(parts.ClientPath(client.ID, "migration#new-url"), clientNotices, "draft-kept")
}

func compare(selected, asked []string) (c comparison) {
	for _, s := range selected {
		if slices.Contains(asked, s) {
			c.Both = append(c.Both, s)
		} else {
			c.Unused = append(c.Unused, s)
		}
	}
	for _, s := range asked {
		if !slices.Contains(selected, s) {
			c.Missed = append(c.Missed, s)
		}
	}
	return c
}

// migrate selects the scopes, after which scopes are enforced. While requests arrive
// without scope, the ledger requires a confirmation, since their users would get an
// error.
func (w *Area) migrate(c *site.Request, v site.Session, f *site.Form, client *ledger.Client) error {
	revision, err := strconv.ParseUint(f.Get("revision"), 10, 64)
	if err != nil {
		return site.ErrUnreadable
	}
	selected := catalogued([]string{f.Get("selected")})
	if len(selected) == 0 {
		return site.ErrUnreadable // no page has such a form
	}
	if migrated(client, selected) {
		return w.redirectMigrated(c, client) // the same form was sent twice
	}
	p := planned(client)
	p.Scopes = selected
	refused, err := w.Propose(c, &v, "select scopes", &ledger.EditClient{
		Actor: v.Actor(), ID: client.ID, Revision: revision, Profile: p, Confirm: f.Get("confirm") == "yes",
	})
	switch {
	case err != nil:
		return err
	case refused == nil:
		return w.redirectMigrated(c, client)
	}
	if client, err = w.ownedFresh(c, &v); err != nil {
		return err
	}
	if migrated(client, selected) {
		return w.redirectMigrated(c, client)
	}
	again := w.migrateFormFor(&v, client, selected)
	switch refused.Cause {
	case ledger.ConfirmMigration:
		again.AddSentence("confirm", "Confirm that requests without scope will be refused: some still come.")
	default:
		again.Refused(refused)
	}
	return w.showMigration(c, v, client, selected, again)
}

// migrated reports whether the selection has been made.
func migrated(client *ledger.Client, selected []string) bool {
	return !client.Legacy && slices.Equal(planned(client).Scopes, selected)
}

func (w *Area) redirectMigrated(c *site.Request, client *ledger.Client) error {
	return c.RedirectNotice(parts.ClientPath(client.ID, "migration"), clientNotices, "migrated")
}
