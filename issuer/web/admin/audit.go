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
		site.TextField("client", "Client ID"), site.TextField("user", "User"), site.TextField("kind", "What happened"),
		site.TextField("from", "From"), site.TextField("to", "Until"),
	},
}

type auditBody struct {
	Form     *site.Form
	Kinds    []kindGroup
	Events   []eventLine
	All      bool // there is no filter
	Pages    ui.Pager
	Download string
}

// An eventLine is one event of the list.
type eventLine struct {
	At                  ui.Stamp
	What, Detail        string
	Actor, Client, User nameLink
}

// audit shows the events, newest first.
func (w *Area) audit(c *site.Request, v site.Session) error {
	f, q := auditQuery(c, v.View)
	body := &auditBody{Form: f, Kinds: kindsWith(q.Kind), All: len(filtered(c)) == 0}
	p := ui.Page{Title: "Audit log", Form: f, Body: body}
	if !f.Failed() {
		q.Limit = eventsPerPage
		events, pages := site.PageBy(c, func(at string, back bool) ([]*ledger.Event, string) {
			var err error
			if q.Before, err = strconv.ParseUint(at, 10, 64); err != nil {
				q.Before = 0 // start at the newest
			}
			q.Back = back
			found, next := v.View.ListEvents(q)
			return found, eventKey(next)
		}, func(e *ledger.Event) string { return eventKey(e.Seq) })
		body.Events, body.Pages = eventLines(&v, events), pages
		p.Rows, p.Truncate = len(events), func(n int) {
			body.Events, body.Pages.Next = body.Events[:n], c.PageAt("after", eventKey(events[n-1].Seq))
		}
		body.Download = pathAdminEvents
		if !body.All {
			body.Download += "?" + filtered(c).Encode()
		}
	}
	return w.showAdmin(c, v, "audit", p)
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

// auditQuery parses the filters of the request. Errors are in the form.
func auditQuery(c *site.Request, v ledger.View) (*site.Form, ledger.EventQuery) {
	f := &site.Form{Kind: &auditForm, Values: filtered(c)}
	q := ledger.EventQuery{Client: f.Get("client"), User: f.Get("user"), Kind: f.Get("kind")}
	// An id has priority, so that a user name can't hide the events of the user with that id.
	if v.User(q.User) == nil {
		if u := v.UserByName(q.User); u != nil {
			q.User = u.ID // otherwise it may be the id of a user who no longer exists
		}
	}
	var ok bool
	if q.From, ok = parseMoment(f.Get("from"), 0); !ok {
		f.AddProblem("from", badMoment)
	}
	if q.To, ok = parseMoment(f.Get("to"), 24*time.Hour); !ok {
		f.AddProblem("to", badMoment)
	}
	if q.To != 0 && q.From >= q.To && !f.Failed() {
		f.AddProblem("to", "must be later than the beginning")
	}
	return f, q
}

const badMoment = "must be a day such as 2026-03-04, or a time in UTC such as 2026-03-04 15:30"

// parseMoment parses a time, or a day, to which it adds day. Empty text gives 0.
func parseMoment(text string, day time.Duration) (ledger.Time, bool) {
	if text == "" {
		return 0, true
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return ledger.Time(t.Add(day).UnixMilli()), true
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return ledger.Time(t.UnixMilli()), true
		}
	}
	return 0, false
}

func eventLines(v *site.Session, events []*ledger.Event) (lines []eventLine) {
	for _, e := range events {
		line := eventLine{At: v.At(e.At), Actor: actorOf(v.View, e), Client: linkClient(v.View, e.Client)}
		line.What, line.Detail = eventText(e)
		if e.User != e.Actor {
			line.User = linkUser(v.View, e.User)
		}
		lines = append(lines, line)
	}
	return lines
}

// actorOf names the actor: a user, an application, or the operator.
func actorOf(v ledger.View, e *ledger.Event) nameLink {
	switch {
	case e.Actor == ledger.Operator:
		return nameLink{Text: "Operator"}
	case ledger.RemoteOperator(e.Actor):
		return nameLink{Text: "Operator (" + e.Actor + ")"}
	case v.User(e.Actor) == nil && v.Client(e.Actor) != nil:
		return linkClient(v, e.Actor)
	}
	return linkUser(v, e.Actor)
}
