package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

var (
	newPublisherForm = formKind{
		purpose: forNewPublisher, action: pathAdminNewPublisher, page: pathAdminNewPublisher,
		fields: append([]field{textField("host", "Host")}, publisherFields...),
	}
	editPublisherForm = formKind{
		purpose: forEditPublisher, action: pathAdminPublisher + "/edit", page: pathAdminPublisher + "/edit",
		fields: append([]field{boundField("expected_last")}, publisherFields...),
	}
	// publisherFields have the names of the fields of ledger.PutPublisher.
	publisherFields = []field{
		textField("name", "Name"), listField("scopes", "The selection of scopes").chosen(),
		listField("defaults", "The selection of default scopes").chosen(), textField("max_clients", "Most applications"),
		listField("long_retry", "Shared refresh tokens").chosen(), textField("redirect_uris", "Private-use redirect URIs"), ownPasswordField(),
	}
)

var publisherNotices = notices{
	"approved":  "The publisher was approved. Users can allow its clients from now on, and a page that waited for this goes on by itself.",
	"on":        "It was turned on. Users can allow programs on their computers from now on.",
	"saved":     "Saved. It counts for what is allowed from now on.",
	"unchanged": "There was nothing to change.",
	"revoked":   "All access was ended. Its clients have to ask every user again.",
	"rejected":  "The publisher was rejected, and all access of its clients was ended.",
	"off":       "It was turned off, and all access of these programs was ended.",
	"removed":   "The publisher was removed, and all access of its clients was ended.",
}

type adminPublisherBody struct {
	Publisher                    *ledger.Publisher
	Local                        bool // it is ledger.LocalPublisher
	Pill                         ui.Pill
	Pending, Approved            bool
	RequestedBy, ReviewedBy      nameLink
	Scopes                       []scopeGroup
	Clients                      []agentLine
	More                         bool // there are other clients on other pages
	Counted                      bool // Grants is known
	Grants                       int
	Edit, Revoke, Reject, Remove string
	Events                       string
	Pages                        ui.Pager
}

// An agentLine is one client of a publisher.
type agentLine struct {
	Name, Path   string
	ClientID     string // "" if it registered itself
	RedirectURIs []string
	State        ledger.ClientState
	Proposed     bool
	Grants       int
	Allowed      ledger.Time // 0 if never
}

// publisherAt returns the publisher that the address of a page names.
func (w *Web) publisherAt(c *request, v *session) (*ledger.Publisher, error) {
	host := c.param("host")
	if _, err := w.confirmFresh(c, v, func() bool { return v.view.Publisher(host) != nil }); err != nil {
		return nil, err
	}
	p := publisherOrOff(v.view, host)
	if p == nil {
		return nil, errNotFound
	}
	return p, nil
}

// publisherFresh is publisherAt on a fresh view, after a command.
func (w *Web) publisherFresh(c *request, v *session) (p *ledger.Publisher, err error) {
	if v.view, err = w.fresh(c.r.Context()); err != nil {
		return nil, err
	}
	return w.publisherAt(c, v)
}

// grantsOf returns the number of grants of each client of a publisher, and of all. The number is
// kept for a while, but not after the publisher was changed.
func (w *Web) grantsOf(c *request, v *session, p *ledger.Publisher) (byClient map[string]int, all int, counted bool) {
	view, now := v.view, w.config.Ledger.Now()
	byClient, _, counted = w.agentCounters.get(c.r.Context(), p.Host+" "+expectedLast(p.Last), now, func() map[string]int {
		return view.GrantsOfPublisher(p.Host, now)
	})
	for _, n := range byClient {
		all += n
	}
	return byClient, all, counted
}

// titleOf returns what pages call the publisher with a host.
func titleOf(host string) string {
	if host == ledger.LocalPublisher {
		return localName
	}
	return host
}

func publisherUp(p *ledger.Publisher) *ui.Link {
	return up(titleOf(p.Host), publisherPath(p.Host))
}

// adminPublisher shows the page of one publisher.
func (w *Web) adminPublisher(c *request, v session) error {
	p, err := w.publisherAt(c, &v)
	if err != nil {
		return err
	}
	path := publisherPath(p.Host)
	body := &adminPublisherBody{
		Publisher: p, Local: p.Host == ledger.LocalPublisher, Pill: pillOf(p), Scopes: scopeGroups(p.Scopes, true),
		Pending: p.State == ledger.PublisherPending, Approved: p.State == ledger.PublisherApproved,
		RequestedBy: linkUser(v.view, p.RequestedBy), ReviewedBy: linkUser(v.view, p.ReviewedBy),
		Edit: path + "/edit", Revoke: path + "/revoke", Reject: path + "/reject", Remove: path + "/remove",
		Events: pathAdminAudit + "?" + url.Values{"kind": {"publisher"}}.Encode(),
	}
	var grants map[string]int
	grants, body.Grants, body.Counted = w.grantsOf(c, &v, p)
	id := func(client *ledger.Client) string { return client.ID }
	shown, pages := pageOf(c, slices.Collect(v.view.ClientsOfPublisher(p.Host)), adminRowsPerPage, id)
	body.Pages = pages
	for _, client := range shown {
		line := agentLine{
			Name: client.Name, Path: adminClientPath(client.ID), RedirectURIs: client.RedirectURIs, State: client.State,
			Proposed: client.Proposed != nil, Grants: grants[client.ID], Allowed: client.Document.Allowed,
		}
		if client.Document.Registered == "" {
			line.ClientID = client.Document.ClientID
		}
		body.Clients = append(body.Clients, line)
	}
	edit := ui.Action{Title: "Choose scopes and approve", Path: body.Edit}
	switch {
	case body.Approved:
		edit.Title = "Edit what it may ask for"
	case body.Local:
		edit.Title = "Choose scopes and turn it on"
	}
	return w.showAdmin(c, v, "admin_publisher", ui.Page{
		Title: titleOf(p.Host), Up: up("Publishers", pathAdminPublishers), Pills: []ui.Pill{body.Pill}, Actions: []ui.Action{edit}, Notice: publisherNotices.text(c), Body: body, Rows: len(shown),
		Truncate: func(n int) { body.Clients, body.Pages.Next = body.Clients[:n], c.pageAt("after", id(shown[n-1])) },
	})
}

// A publisherFormBody is the data of the pages that add, approve and edit a publisher.
type publisherFormBody struct {
	Form            *form
	Host            string // "" for a new one
	Local, Approved bool
	Scopes          []scopeGroup
	Defaults        []scopeChoice // those that only read
	Path            string        // of the page to return to
}

func (f *form) publisherBody() publisherFormBody {
	body := publisherFormBody{Form: f, Scopes: scopeGroups(f.values["scopes"], false), Path: pathAdminPublishers}
	for _, s := range scope.Catalogue() {
		if !s.Writes {
			body.Defaults = append(body.Defaults, scopeChoice{Name: s.Name, On: f.Has("defaults", s.Name)})
		}
	}
	return body
}

// newPublisherPage shows an empty form, or one for the host in the query: see wellKnown.
func (w *Web) newPublisherPage(c *request, v session) error {
	host := c.r.URL.Query().Get("host")
	host = host[:min(len(host), maxHost)]
	return w.showNewPublisher(c, v, v.form(&newPublisherForm, url.Values{"host": {host}, "name": {wellKnownName(host)}}))
}

// maxHost is the maximum length of a host.
const maxHost = 253

func (w *Web) showNewPublisher(c *request, v session, f *form) error {
	w.requireReauth(&v, f, "")
	return w.showAdmin(c, v, "admin_publisher_form", ui.Page{
		Title: "Add a publisher", Up: up("Publishers", pathAdminPublishers), Form: f, Body: f.publisherBody(),
	})
}

// addPublisher approves a publisher that is not listed yet.
func (w *Web) addPublisher(c *request, v session, f *form) error {
	cmd := f.publisher(hostIn(f.trimmed("host")))
	cmd.New = true
	if cmd.Host == "" {
		f.addProblem("host", "is missing")
	}
	return w.putPublisher(c, v, f, cmd, w.showNewPublisher)
}

// hostIn returns the host of what is typed, which may be the URL of a document.
func hostIn(typed string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(typed, "https://"), "/")
	return strings.ToLower(host)
}

// publisher returns the command of a form. The ledger checks what needs no more than the values.
func (f *form) publisher(host string) *ledger.PutPublisher {
	cmd := &ledger.PutPublisher{
		Host: host, Name: f.trimmed("name"), Scopes: f.filled("scopes"), Defaults: f.filled("defaults"), LongRetry: f.Has("long_retry", "yes"),
		RedirectURIs: strings.Fields(f.get("redirect_uris")),
	}
	if text := f.trimmed("max_clients"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			f.addProblem("max_clients", "must be from 1 to 100")
		}
		cmd.MaxClients = n
	}
	return cmd
}

// hasFieldsOf reports whether a publisher is approved and has the fields that a command sets.
func hasFieldsOf(p *ledger.Publisher, cmd *ledger.PutPublisher) bool {
	same := func(stored, sent []string) bool {
		set, err := scope.Of(sent...)
		return err == nil && slices.Equal(stored, set.Names())
	}
	most := cmd.MaxClients
	if most == 0 {
		most = ledger.DefaultMaxClients
	}
	return p != nil && p.State == ledger.PublisherApproved && p.Name == cmd.Name && p.LongRetry == cmd.LongRetry && p.MaxClients == most &&
		same(p.Scopes, cmd.Scopes) && same(p.Defaults, cmd.Defaults) && slices.Equal(p.RedirectURIs, cmd.RedirectURIs)
}

// putPublisher proposes the command of a form, which again shows with its problems.
func (w *Web) putPublisher(c *request, v session, f *form, cmd *ledger.PutPublisher, again func(*request, session, *form) error) error {
	if f.Failed() {
		return again(c, v, f)
	}
	if ok, err := w.reauthenticate(c, &v, f, again); !ok {
		return err
	}
	before := v.view.Publisher(cmd.Host)
	cmd.Actor = v.actor()
	refused, err := w.propose(c, &v, "list a publisher", cmd)
	if err != nil {
		return err
	}
	if v.view, err = w.fresh(c.r.Context()); err != nil {
		return err
	}
	p := v.view.Publisher(cmd.Host)
	word := "saved"
	switch {
	case refused != nil && (refused.Cause != ledger.Conflict && refused.Cause != ledger.AlreadyExists || !hasFieldsOf(p, cmd)):
		if now := publisherOrOff(v.view, cmd.Host); now != nil && f.kind == &editPublisherForm {
			// The input is shown again, for the current state. What it would undo is what the
			// page of the publisher shows.
			f.values.Set("expected_last", expectedLast(now.Last))
		}
		return again(c, v, f.refused(refused))
	case refused != nil: // the same form was sent twice
	case before != nil && p != nil && before.Last == p.Last:
		word = "unchanged"
	case before != nil && before.State == ledger.PublisherApproved:
	case cmd.Host == ledger.LocalPublisher:
		word = "on"
	default:
		word = "approved"
	}
	return c.redirectNotice(publisherPath(cmd.Host), publisherNotices, word)
}

func (w *Web) editPublisherPage(c *request, v session) error {
	p, err := w.publisherAt(c, &v)
	if err != nil {
		return err
	}
	f := v.form(&editPublisherForm, url.Values{
		"host": {p.Host}, "expected_last": {expectedLast(p.Last)}, "name": {p.Name}, "scopes": p.Scopes, "defaults": p.Defaults,
		"redirect_uris": {strings.Join(p.RedirectURIs, "\n")},
	})
	if p.MaxClients != 0 {
		f.values.Set("max_clients", strconv.Itoa(p.MaxClients))
	}
	if p.LongRetry {
		f.values.Set("long_retry", "yes")
	}
	return w.showEditPublisher(c, v, f)
}

func (w *Web) showEditPublisher(c *request, v session, f *form) error {
	p, err := w.publisherAt(c, &v)
	if err != nil {
		return err
	}
	w.requireReauth(&v, f, "")
	body := f.publisherBody()
	body.Host, body.Path = p.Host, publisherPath(p.Host)
	body.Local, body.Approved = p.Host == ledger.LocalPublisher, p.State == ledger.PublisherApproved
	title := "Approve " + p.Host
	switch {
	case body.Approved:
		title = "Edit " + titleOf(p.Host)
	case body.Local:
		title = "Turn on " + localName
	}
	return w.showAdmin(c, v, "admin_publisher_form", ui.Page{Title: title, Up: publisherUp(p), Form: f, Body: body})
}

// editPublisher approves a publisher, or changes one.
func (w *Web) editPublisher(c *request, v session, f *form) error {
	seen, ok := parseExpectedLast(f.get("expected_last"))
	if !ok {
		return errUnreadable
	}
	p, err := w.publisherAt(c, &v)
	if err != nil {
		return err
	}
	cmd := f.publisher(p.Host)
	cmd.ExpectedLast = seen
	return w.putPublisher(c, v, f, cmd, w.showEditPublisher)
}
