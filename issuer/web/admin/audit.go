package admin

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// eventsPerPage is the number of events on one page.
const eventsPerPage = 25

// auditForm has the filters of the audit trail. It is sent by GET, so that the address of a
// result can be kept and shared.
var auditForm = site.FormKind{
	Action: parts.PathAdminAudit, Page: parts.PathAdminAudit,
	Fields: []site.Field{
		site.TextField("client", "Application"), site.TextField("user", "User"), site.TextField("kind", "Event"),
		site.TextField("from", "From"), site.TextField("to", "Until"),
	},
}

type auditBody struct {
	Form    *site.Form
	Choices []ui.Option // of the filter by kind, before the kinds
	Kinds   []kindGroup
	Filters []parts.Piece // in words; empty if only sign-ins are left out, or nothing is
	Events  []parts.Told
	Unknown *unknownName // if there are no events because of it
	Zone    string       // of the times
	Table   ui.Table
}

// An unknownName is the text of a filter that neither a user nor an application has. Search leads to
// the list that finds parts of names too.
type unknownName struct {
	What, Name string
	Search     ui.Action
}

// An auditDay has the events of one day, or all events of a page that has no headings for days.
type auditDay struct {
	Date   string // the heading; "" for none
	Events []parts.Told
}

// More reports whether a filter is set that a narrow window folds away.
func (b *auditBody) More() bool { return b.Form.Get("user")+b.Form.Get("from")+b.Form.Get("to") != "" }

// Days groups the events by day. With a filter, few events fall on the same day, so there is one
// group, and each event shows its own date.
func (b *auditBody) Days() (days []auditDay) {
	if len(b.Filters) > 0 {
		return []auditDay{{Events: b.Events}}
	}
	for _, e := range b.Events {
		if n := len(days); n == 0 || days[n-1].Date != e.At.Date {
			days = append(days, auditDay{Date: e.At.Date})
		}
		last := &days[len(days)-1]
		last.Events = append(last.Events, e)
	}
	return days
}

// audit shows the events, newest first.
func (w *Area) audit(c *site.Request, v site.Session) error {
	clock, values := v.Clock(), filtered(c)
	if !values.Has("kind") {
		values.Set("kind", defaultKind(values))
	}
	download := pathAdminEvents + "?" + values.Encode()
	f, q := auditQuery(values, v.View, clock)
	body := &auditBody{Form: f, Choices: kindChoices(f.Get("kind")), Kinds: kindsWith(f.Get("kind")), Zone: "Times are in " + clock.Location().String() + "."}
	p := ui.Page{Title: "Audit log", Form: f, Body: body}
	if !f.Failed() {
		q.Limit, q.Oldest = eventsPerPage, c.R.URL.Query().Get("sort") == oldestFirst
		events, pages := site.PageBy(c, func(at string, back bool) ([]*ledger.Event, string) {
			var err error
			if q.Before, err = strconv.ParseUint(at, 10, 64); err != nil {
				q.Before = 0 // start at the newest
			}
			q.Back = back
			found, next := v.View.ListEvents(q)
			return found, eventKey(next)
		}, func(e *ledger.Event) string { return eventKey(e.Seq) })
		body.Events = parts.Sentences(v.View, events, clock, everybody)
		body.Filters, body.Unknown = filtersOf(v.View, f.Get("kind"), q, clock), unknownIn(v.View, q)
		var at ledger.Position
		if len(events) > 0 {
			at = v.View.EventsPosition(q, events[0].Seq)
			p.Actions = []ui.Action{{Title: "Download JSON", About: "these events, one a line", Path: download}}
		}
		pages.Count = site.CountOf(at, len(events), "event")
		body.Table = ui.Table{Caption: "Events", Pager: &pages, Columns: []ui.Column{{Title: "Event"}, {Title: "By"}, whenColumn(c, q.Oldest)}, Brief: true}
		p.Rows, p.Truncate = len(events), func(n int) {
			body.Events, pages.Next, pages.Count = body.Events[:n], c.PageAt("after", eventKey(events[n-1].Seq)), site.CountOf(at, n, "event")
		}
	}
	return w.showAdmin(c, v, "audit", p)
}

// filtersOf returns what the filters select, for a line above the events. kind is what was chosen.
func filtersOf(v ledger.View, kind string, q ledger.EventQuery, clock ui.Clock) (list []parts.Piece) {
	add := func(text string) { list = append(list, parts.Piece{Text: text}) }
	if q.Kind != "" {
		add(kindText(kind))
	}
	if q.Client != "" {
		list = append(list, parts.ClientPiece(v, q.Client))
	}
	if q.User != "" {
		list = append(list, parts.UserPiece(v, q.User))
	}
	if q.From != 0 {
		add("from " + clock.At(int64(q.From)).Exact)
	}
	if q.To != 0 {
		add("until " + clock.At(int64(q.To)).Exact)
	}
	if len(list) > 0 && q.Except != "" {
		add("without signing in and out")
	}
	return list
}

// unknownIn returns the filter that names nothing.
func unknownIn(v ledger.View, q ledger.EventQuery) *unknownName {
	unknown := func(what, name, list string) *unknownName {
		return &unknownName{what, name, ui.Action{Title: "Search " + what + "s for “" + name + "”", Path: list + "?" + url.Values{"q": {name}}.Encode()}}
	}
	switch {
	case q.User != "" && v.User(q.User) == nil:
		return unknown("user", q.User, parts.PathAdminUsers)
	case q.Client != "" && v.Client(q.Client) == nil:
		return unknown("application", q.Client, parts.PathAdminClients)
	}
	return nil
}

// oldestFirst is the other order of events, in an address.
const oldestFirst = "oldest"

// whenColumn is the head of the times, which leads to the other order.
func whenColumn(c *site.Request, oldest bool) ui.Column {
	to, order := oldestFirst, "descending"
	if oldest {
		to, order = "", "ascending"
	}
	column := site.SortColumn(c, "When", to, "", ledger.Position{Exact: true})
	column.Order = order
	return column
}

// eventKey returns the form of an event in an address; "" for none.
func eventKey(seq uint64) string {
	if seq == 0 {
		return ""
	}
	return strconv.FormatUint(seq, 10)
}

// filtered returns the filters of the request.
func filtered(c *site.Request) url.Values {
	values := url.Values{}
	for _, field := range auditForm.Fields {
		if value := strings.TrimSpace(c.R.URL.Query().Get(field.Name)); value != "" {
			values.Set(field.Name, value[:min(len(value), site.MaxSearch)])
		}
	}
	return values
}

// auditQuery parses the filters of a request, whose times are those of the clock's zone. Errors
// are in the form, which names users and applications instead of their ids.
func auditQuery(values url.Values, v ledger.View, clock ui.Clock) (*site.Form, ledger.EventQuery) {
	f := &site.Form{Kind: &auditForm, Values: values}
	q := ledger.EventQuery{Client: f.Get("client"), User: f.Get("user")}
	kind := f.Get("kind")
	switch except, ok := strings.CutPrefix(kind, "-"); {
	case ok:
		q.Except = except
	case kind != everyKind:
		q.Kind, q.Verdicts = parseKind(kind)
	}
	// An id has priority, so that a name can't hide the events of the user or the application
	// with that id. A text that is neither may be the id of one that no longer exists.
	if u := v.User(q.User); u != nil {
		if v.UserByName(u.Username) == u {
			f.Values.Set("user", u.Username)
		}
	} else if u := v.UserByName(q.User); u != nil {
		q.User = u.ID
	}
	if client := v.Client(q.Client); client != nil {
		if len(named(v, client.Name)) == 1 {
			f.Values.Set("client", client.Name)
		}
	} else if q.Client != "" {
		switch found := named(v, q.Client); len(found) {
		case 0:
		case 1:
			q.Client = found[0].ID
		default:
			f.AddProblem("client", "is the name of several: enter a client ID")
		}
	}
	moment := func(name string, end bool) (at ledger.Time) {
		t, ok := parseMoment(f.Get(name), end, clock.Location())
		switch {
		case !ok:
			f.AddProblem(name, badMoment)
		case !t.IsZero():
			at = ledger.Time(t.UnixMilli())
			f.Values.Set(name, t.In(clock.Location()).Format(inputTime))
		}
		return at
	}
	q.From, q.To = moment("from", false), moment("to", true)
	if q.To != 0 && q.From >= q.To && !f.Failed() {
		f.AddProblem("to", "must be later than the beginning")
	}
	return f, q
}

// named returns the applications with a name, at most two.
func named(v ledger.View, name string) []*ledger.Client {
	found, _ := v.ListClients(ledger.ClientQuery{From: name, Limit: 2})
	return slices.DeleteFunc(found, func(c *ledger.Client) bool { return !strings.EqualFold(c.Name, name) })
}

// badMoment is for a browser without inputs for times, and for addresses.
var badMoment = "must be a day such as " + unbroken("2026-03-04") + ", or a time such as " + unbroken("2026-03-04 15:30")

// joiner keeps a line from being broken (U+2060), as after a hyphen.
const joiner = "\u2060"

func unbroken(text string) string {
	return strings.NewReplacer("-", "-"+joiner, " ", "\u00a0").Replace(text)
}

// inputTime is the layout of an input for times (HTML §2.3.5.5).
const inputTime = "2006-01-02T15:04"

// parseMoment parses a time. A day means its beginning or, with end, its end. Empty text gives
// the zero time.
func parseMoment(text string, end bool, zone *time.Location) (time.Time, bool) {
	text = strings.NewReplacer(joiner, "", "\u00a0", " ").Replace(text) // as in badMoment
	if text == "" {
		return time.Time{}, true
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		if end {
			t = t.AddDate(0, 0, 1)
		}
		return t, true
	}
	for _, layout := range []string{inputTime, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// everybody reads the audit log: all are named, with links.
var everybody = parts.Reader{Admin: true, Links: true}
