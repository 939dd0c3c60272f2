package web

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

var migrateForm = formKind{
	purpose: "migrate client", action: pathClient + "/migration", page: pathClient + "/migration",
	fields: []field{boundField("revision"), boundField("selected").labelled("The selection of scopes").chosen(), textField("confirm", "The confirmation").chosen()},
}

type migrationBody struct {
	Path    string
	Page    string // the address of this page
	Legacy  bool   // it is still to be done
	Without uint32 // authorization requests of the last 30 days, without scope
	With    uint32
	Last    lastRequest // of those without scope
	Asked   []string    // the scopes that others asked for

	Groups   []scopeGroup
	Selected []string
	URL      string     // the new authorization URL
	Compared comparison // of the selection with what was asked for
	Form     *form      // the second step; nil without a selection
}

// A lastRequest is the day on which something came last, and how long ago that
// is.
type lastRequest struct {
	Day ledger.Time // 0 for none that is known of
	Ago string
}

// lastWithout is the last day that counts requests without scope. Days are those
// of UTC, and are counted together: there is no time of one request.
func lastWithout(client *ledger.Client, now ledger.Time) lastRequest {
	const day = 24 * 60 * 60 * 1000
	for _, d := range slices.Backward(client.Traffic) {
		if d.WithoutScope > 0 {
			return lastRequest{ledger.Time(d.Day) * day, daysAgo(int(now/day) - int(d.Day))}
		}
	}
	return lastRequest{}
}

func daysAgo(n int) string {
	switch n {
	case 0:
		return "today"
	case 1:
		return "yesterday"
	}
	return count(n, "day") + " ago"
}

// A comparison says what the selection means for the requests that there are.
type comparison struct {
	Both   []string // selected and asked for
	Unused []string // selected, and nobody asked for it
	Missed []string // asked for, and not selected: such requests will fail
}

// migrationPage leads through section 9 of the service document: first the
// authorization URL gets its scope, then the same scopes are selected here. The
// selection is in the address, so that looking at what it means changes nothing.
func (w *Web) migrationPage(c *request, v session, client *ledger.Client) error {
	if !client.WasLegacy && !client.Legacy {
		return errNotFound
	}
	selected := catalogued(c.r.URL.Query()["scopes"])
	return w.showMigration(c, v, client, selected, w.migrateFormFor(&v, client, selected))
}

func (w *Web) migrateFormFor(v *session, client *ledger.Client, selected []string) *form {
	return v.clientForm(&migrateForm, client,
		"revision", strconv.FormatUint(client.Revision, 10), "selected", strings.Join(selected, " "))
}

// catalogued are those names that are scopes, each once, in catalogue order.
func catalogued(names []string) []string {
	return scope.FromClaim(strings.Join(names, " ")).Names()
}

func (w *Web) showMigration(c *request, v session, client *ledger.Client, selected []string, f *form) error {
	asked := catalogued(client.RequestedScopes)
	body := migrationBody{
		Path: clientPath(client.ID), Page: clientPath(client.ID, "migration"), Legacy: client.Legacy,
		Asked: asked, Selected: selected, Groups: scopeGroups(selected, false),
	}
	now := w.config.Ledger.Now()
	body.Without, body.With = client.RecentTraffic(now)
	body.Last = lastWithout(client, now)
	if len(selected) == 0 && len(asked) > 0 && !c.r.URL.Query().Has("scopes") {
		body.Groups = scopeGroups(asked, false) // a good guess, to begin with
	}
	if len(selected) > 0 {
		to := w.connecting(&v, client)
		to.Scopes = selected
		body.URL, body.Form = to.authorizationURL(), f
		body.Compared = compare(selected, asked)
	}
	p := page{Title: "Move to scopes", Trail: trailOf(client), Notice: clientNotices.text(c), Body: body}
	if body.Form != nil {
		p.Form = f
	}
	return w.show(c, v, "developer_migration", p)
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

// migrate selects the scopes, with which validation begins. While requests
// come without scope the ledger asks for a confirmation: their users would meet
// an error.
func (w *Web) migrate(c *request, v session, f *form, client *ledger.Client) error {
	revision, err := strconv.ParseUint(f.get("revision"), 10, 64)
	if err != nil {
		return errUnreadable
	}
	selected := catalogued([]string{f.get("selected")})
	if len(selected) == 0 {
		return errUnreadable // no page has such a form
	}
	if migrated(client, selected) {
		return w.redirectMigrated(c, client) // the same form, a second time
	}
	p := planned(client)
	p.Scopes = selected
	refused, err := w.propose(c, &v, "select scopes", &ledger.EditClient{
		Actor: v.actor(), ID: client.ID, Revision: revision, Profile: p, Confirm: f.get("confirm") == "yes",
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
		again.addProblem("confirm", "is missing: authorization requests still come without scope")
	default:
		again.refused(refused)
	}
	return w.showMigration(c, v, client, selected, again)
}

// migrated reports whether the selection is made already.
func migrated(client *ledger.Client, selected []string) bool {
	return !client.Legacy && slices.Equal(planned(client).Scopes, selected)
}

func (w *Web) redirectMigrated(c *request, client *ledger.Client) error {
	return c.redirectNotice(clientPath(client.ID, "migration"), clientNotices, "migrated")
}
