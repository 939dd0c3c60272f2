package admin

import (
	"net/url"
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
		site.TextField("client", "Client ID"), site.TextField("user", "User"), site.TextField("kind", "Event"),
		site.TextField("from", "From"), site.TextField("to", "Until"),
	},
}

type auditBody struct {
	Form     *site.Form
	Kinds    []kindGroup
	Events   []parts.Told
	All      bool   // there is no filter
	Zone     string // of the times in the filter
	Table    ui.Table
	Download string
}

// audit shows the events, newest first.
func (w *Area) audit(c *site.Request, v site.Session) error {
	clock := v.Clock()
	f, q := auditQuery(c, v.View, clock)
	body := &auditBody{Form: f, Kinds: kindsWith(q.Kind), All: len(filtered(c)) == 0, Zone: "Times are in " + clock.Location().String() + "."}
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
		var at ledger.Position
		if len(events) > 0 {
			at = v.View.EventsPosition(q, events[0].Seq)
		}
		pages.Count = site.CountOf(at, len(events))
		body.Table = ui.Table{Caption: "Events", Pager: &pages, Columns: []ui.Column{{Title: "Event"}, {Title: "By"}, whenColumn(c, q.Oldest)}}
		p.Rows, p.Truncate = len(events), func(n int) {
			body.Events, pages.Next, pages.Count = body.Events[:n], c.PageAt("after", eventKey(events[n-1].Seq)), site.CountOf(at, n)
		}
		body.Download = pathAdminEvents
		if !body.All {
			body.Download += "?" + filtered(c).Encode()
		}
	}
	return w.showAdmin(c, v, "audit", p)
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
	column.Order, column.Class = order, "num"
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

// auditQuery parses the filters of the request, whose times are those of the clock's zone. Errors
// are in the form.
func auditQuery(c *site.Request, v ledger.View, clock ui.Clock) (*site.Form, ledger.EventQuery) {
	f := &site.Form{Kind: &auditForm, Values: filtered(c)}
	q := ledger.EventQuery{Client: f.Get("client"), User: f.Get("user"), Kind: f.Get("kind")}
	// An id has priority, so that a user name can't hide the events of the user with that id.
	if v.User(q.User) == nil {
		if u := v.UserByName(q.User); u != nil {
			q.User = u.ID // otherwise it may be the id of a user who no longer exists
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

// badMoment is for a browser without inputs for times, and for addresses.
const badMoment = "must be a day such as 2026-03-04, or a time such as 2026-03-04 15:30"

// inputTime is the layout of an input for times (HTML §2.3.5.5).
const inputTime = "2006-01-02T15:04"

// parseMoment parses a time. A day means its beginning or, with end, its end. Empty text gives
// the zero time.
func parseMoment(text string, end bool, zone *time.Location) (time.Time, bool) {
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
