package admin

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

var (
	newPublisherForm = site.FormKind{
		Purpose: forNewPublisher, Action: site.PathAdminNewPublisher, Page: site.PathAdminNewPublisher, Undone: "The publisher wasn’t added.",
		Fields: append([]site.Field{site.TextField("host", "Host")}, publisherFields...),
	}
	editPublisherForm = site.FormKind{
		Purpose: forEditPublisher, Action: pathAdminPublisher + "/edit", Page: pathAdminPublisher + "/edit",
		Fields: append([]site.Field{site.BoundField("expected_last")}, publisherFields...),
	}
	// publisherFields have the names of the fields of ledger.PutPublisher.
	publisherFields = []site.Field{
		site.TextField("name", "Name"), site.TextField("redirect_uris", "Private-use redirect URIs"), site.ListField("scopes", "The selection of scopes").Chosen().Worded(parts.ScopeText),
		site.ListField("defaults", "The selection of default scopes").Chosen().Worded(parts.ScopeText), site.TextField("max_clients", "Limit of applications"),
		site.ListField("long_retry", "Shared refresh tokens").Chosen(), site.OwnPasswordField(),
	}
)

var publisherNotices = site.Notices{
	"added":     "The publisher was added. Users can allow its applications from now on.",
	"approved":  "The publisher was approved. Users can allow its applications from now on, and a page that waited for this goes on by itself.",
	"on":        "It was turned on. Users can allow programs on their computers from now on.",
	"saved":     "Saved. It counts for new access from now on.",
	"unchanged": "There was nothing to change.",
	"revoked":   "Everybody was disconnected. Applications have to ask every user again.",
	"rejected":  "The publisher was rejected and everybody disconnected. " + untilExpired,
	"off":       "It was turned off and everybody disconnected. " + untilExpired,
	"removed":   "Removed. Everybody was disconnected. " + untilExpired,

	// Nobody was connected.
	"revoked-none":  "Nobody was connected.",
	"rejected-none": "The publisher was rejected.",
	"off-none":      "It was turned off.",
	"removed-none":  "Removed.",
}

// untilExpired tells users that access tokens outlive their grants.
const untilExpired = "Access that they got just before may keep working for up to 30 minutes."

type adminPublisherBody struct {
	Publisher                    *ledger.Publisher
	Local                        bool // it is ledger.LocalPublisher
	Pill                         ui.Pill
	Pending, Approved            bool
	RequestedBy, ReviewedBy      parts.Piece
	Requested, Reviewed          ui.Stamp
	Scopes                       []parts.ScopeGroup
	Clients                      []agentLine
	Total                        int  // clients
	Counted                      bool // People is known
	People                       int  // with a grant
	Edit, Revoke, Reject, Remove string
	Events                       string
	Pages                        ui.Pager
}

// An agentLine is one client of a publisher.
type agentLine struct {
	Name, Path   string
	ClientID     string // "" if it registered itself
	Website      string
	RedirectURIs []string
	State        ledger.ClientState
	Proposed     bool
	Grants       int
	Allowed      ui.Stamp
}

// OnComputer reports whether a redirect URI leads to a program on the user's computer.
func (agentLine) OnComputer(uri string) bool { return oauth.IsLoopback(uri) }

// publisherAt returns the publisher that the address of a page names.
func (w *Area) publisherAt(c *site.Request, v *site.Session) (*ledger.Publisher, error) {
	host := c.Param("host")
	if _, err := w.ConfirmFresh(c, v, func() bool { return v.View.Publisher(host) != nil }); err != nil {
		return nil, err
	}
	p := publisherOrOff(v.View, host)
	if p == nil {
		return nil, site.ErrNotFound
	}
	return p, nil
}

// publisherFresh is publisherAt on a fresh view, after a command.
func (w *Area) publisherFresh(c *site.Request, v *site.Session) (p *ledger.Publisher, err error) {
	if v.View, err = w.Fresh(c.R.Context()); err != nil {
		return nil, err
	}
	return w.publisherAt(c, v)
}

// grantsOf returns the grants for the clients of a publisher. The numbers are kept for a while, but
// not after the publisher was changed.
func (w *Area) grantsOf(c *site.Request, v *site.Session, p *ledger.Publisher) (grants ledger.PublisherGrants, counted bool) {
	view, now := v.View, w.Ledger.Now()
	grants, _, counted = w.agentCounters.Get(c.R.Context(), p.Host+" "+expectedLast(p.Last), now, func() ledger.PublisherGrants {
		return view.GrantsOfPublisher(p.Host, now)
	})
	return grants, counted
}

// titleOf returns what pages call the publisher with a host.
func titleOf(host string) string {
	if host == ledger.LocalPublisher {
		return localName
	}
	return host
}

func publisherUp(p *ledger.Publisher) *ui.Link {
	return site.Up(titleOf(p.Host), parts.PublisherPath(p.Host))
}

// leadOf returns what the state of a publisher means.
func leadOf(p *ledger.Publisher) string {
	local, approved := p.Host == ledger.LocalPublisher, p.State == ledger.PublisherApproved
	switch {
	case p.State == ledger.PublisherPending:
		return "Nobody can use its applications before an administrator approves it."
	case local && approved:
		return "Users can allow programs on their computers, which register themselves."
	case local:
		return "Programs on the computers of users, which register themselves, are refused."
	case approved:
		return "Users can allow its applications."
	}
	return "Its applications can’t be used, and users can’t ask for it again."
}

// adminPublisher shows the page of one publisher.
func (w *Area) adminPublisher(c *site.Request, v site.Session) error {
	p, err := w.publisherAt(c, &v)
	if err != nil {
		return err
	}
	path := parts.PublisherPath(p.Host)
	body := &adminPublisherBody{
		Publisher: p, Local: p.Host == ledger.LocalPublisher, Pill: pillOf(p), Scopes: parts.ScopeGroups(p.Scopes, true),
		Pending: p.State == ledger.PublisherPending, Approved: p.State == ledger.PublisherApproved,
		RequestedBy: parts.UserPiece(v.View, p.RequestedBy), ReviewedBy: parts.UserPiece(v.View, p.ReviewedBy),
		Requested: v.At(p.Requested), Reviewed: v.At(p.Reviewed),
		Edit: path + "/edit", Revoke: path + "/revoke", Reject: path + "/reject", Remove: path + "/remove",
		Events: parts.PathAdminAudit + "?" + url.Values{"kind": {"publisher"}}.Encode(),
	}
	for _, group := range body.Scopes {
		for i := range group.List {
			group.List[i].Default = slices.Contains(p.Defaults, group.List[i].Name)
		}
	}
	grants, counted := w.grantsOf(c, &v, p)
	body.People, body.Counted = grants.Users, counted
	id := func(client *ledger.Client) string { return client.ID }
	all := slices.Collect(v.View.ClientsOfPublisher(p.Host))
	shown, pages := site.PageOf(c, all, adminRowsPerPage, id)
	body.Total = len(all)
	body.Pages = pages
	for _, client := range shown {
		line := agentLine{
			Name: client.Name, Path: parts.AdminClientPath(client.ID), Website: client.Website, RedirectURIs: client.RedirectURIs, State: client.State,
			Proposed: client.Proposed != nil, Grants: grants.ByClient[client.ID], Allowed: v.At(client.Document.Allowed),
		}
		if client.Document.Registered == "" {
			line.ClientID = client.Document.ClientID
		}
		body.Clients = append(body.Clients, line)
	}
	edit := ui.Action{Title: "Edit", Path: body.Edit}
	switch {
	case body.Approved:
	case body.Local:
		edit.Title = "Choose scopes and turn on"
	default:
		edit.Title = "Choose scopes and approve"
	}
	actions := []ui.Action{edit}
	if body.Pending {
		actions = nil // the decision has it
	}
	page := "publisher"
	var copied *ui.Copy
	switch {
	case body.Pending:
		page = "publisher_pending" // it has a link to the host
	case !body.Local && p.Name != "": // without a name, the host is the title
		copied = &ui.Copy{ID: "host", Label: "host", Value: p.Host}
	}
	return w.showAdmin(c, v, page, ui.Page{
		Title: cmp.Or(displayName(p), p.Host), Lead: leadOf(p), Copy: copied, Up: site.Up("Publishers", site.PathAdminPublishers), Pills: []ui.Pill{body.Pill}, Actions: actions, Notice: publisherNotices.Text(c), Body: body, Rows: len(shown),
		Truncate: func(n int) { body.Clients, body.Pages.Next = body.Clients[:n], c.PageAt("after", id(shown[n-1])) },
	})
}

// A publisherFormBody is the data of the pages that add, approve and edit a publisher.
type publisherFormBody struct {
	Form            *site.Form
	Host            string // "" for a new one
	Local, Approved bool
	About           ui.Card
	Scopes          matrixCard
	Defaults        matrixCard // those that only read
	Chosen          string     // the default scopes in words; "" if there are none
	Advanced        ui.Card
	Open            bool   // the advanced fields are shown, because one of them is wrong
	People          int    // number of connected users; 0 also if they are not counted yet
	Path            string // of the page to return to
}

// A matrixCard is a card with a field whose values are scopes.
type matrixCard struct {
	Card   ui.Card
	Group  ui.Input
	Matrix ui.Matrix
}

// suggestedScopes only view the user's own account. They are ticked beforehand for a publisher that
// has no scopes yet, so that the form can be submitted as it is.
var suggestedScopes = func() (names []string) {
	for _, s := range scope.Catalogue() {
		if s.Level == scope.User && !s.Writes {
			names = append(names, s.Name)
		}
	}
	return names
}()

func publisherBodyOf(f *site.Form) publisherFormBody {
	defaults, _ := parts.ScopeWords(f.Values["defaults"])
	return publisherFormBody{
		Form: f, Path: site.PathAdminPublishers, Chosen: parts.Joined(defaults),
		About: ui.Card{ID: "about", Title: "Publisher"}, Advanced: ui.Card{ID: "advanced", Title: "Advanced"},
		Open: f.Input("max_clients", "").Error != "" || f.Group("defaults", "", "").Error != "",
		Scopes: matrixCard{
			Card:   ui.Card{ID: "most", Title: "Scopes"},
			Group:  f.Group("scopes", "Scopes", "An application of this host never gets more than what is ticked."),
			Matrix: parts.UserScopeMatrix(f.Values["scopes"]),
		},
		Defaults: matrixCard{
			Group:  f.Group("defaults", "Default scopes", "Choose among the scopes above."),
			Matrix: parts.DefaultsMatrix(f.Values["defaults"]),
		},
	}
}

// newPublisherPage shows a form without a host, or one for the host in the query: see wellKnown.
func (w *Area) newPublisherPage(c *site.Request, v site.Session) error {
	host := c.R.URL.Query().Get("host")
	host = host[:min(len(host), maxHost)]
	return w.showNewPublisher(c, v, v.Form(&newPublisherForm, url.Values{"host": {host}, "name": {wellKnownName(host)}, "scopes": suggestedScopes}))
}

const (
	publisherLead = "Users can then allow every application of this host, within the scopes that you choose, without a review of each."
	localLead     = "What programs on users’ computers say about themselves isn’t verified: let them ask for little."
)

// maxHost is the maximum length of a host.
const maxHost = 253

func (w *Area) showNewPublisher(c *site.Request, v site.Session, f *site.Form) error {
	w.prover.RequireReauth(&v, f, "")
	return w.showAdmin(c, v, "publisher_form", ui.Page{
		Title: "Add a publisher", Lead: publisherLead, Up: site.Up("Publishers", site.PathAdminPublishers), Form: f, Body: publisherBodyOf(f),
	})
}

// addPublisher approves a publisher that is not listed yet.
func (w *Area) addPublisher(c *site.Request, v site.Session, f *site.Form) error {
	cmd := publisherIn(f, hostIn(f.Trimmed("host")))
	cmd.New = true
	if cmd.Host == "" {
		f.AddProblem("host", "is missing")
	} else if oauth.CheckPublisher(cmd.Host) != "" { // reported with the problems of the other fields
		f.AddSentence("host", "Host isn’t a public host name: use one such as claude.ai.")
	}
	return w.putPublisher(c, v, f, cmd, w.showNewPublisher)
}

// hostIn returns the host of what is typed, which may be the URL of a document.
func hostIn(typed string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(typed, "https://"), "/")
	return strings.ToLower(host)
}

// publisherIn returns the command of a form. The ledger checks what needs no more than the values.
func publisherIn(f *site.Form, host string) *ledger.PutPublisher {
	cmd := &ledger.PutPublisher{
		Host: host, Name: f.Trimmed("name"), Scopes: f.Filled("scopes"), Defaults: f.Filled("defaults"), LongRetry: f.Has("long_retry", "yes"),
		RedirectURIs: strings.Fields(f.Get("redirect_uris")),
	}
	if len(cmd.Scopes) == 0 { // reported with the problems of the other fields
		f.AddSentence("scopes", "Tick at least one scope.")
	}
	if text := f.Trimmed("max_clients"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			f.AddProblem("max_clients", "must be from 1 to 100")
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
func (w *Area) putPublisher(c *site.Request, v site.Session, f *site.Form, cmd *ledger.PutPublisher, again func(*site.Request, site.Session, *site.Form) error) error {
	if f.Failed() {
		return again(c, v, f)
	}
	if ok, err := w.prover.Reauthenticate(c, &v, f, again); !ok {
		return err
	}
	before := v.View.Publisher(cmd.Host)
	cmd.Actor = v.Actor()
	refused, err := w.Propose(c, &v, "list a publisher", cmd)
	if err != nil {
		return err
	}
	if v.View, err = w.Fresh(c.R.Context()); err != nil {
		return err
	}
	p := v.View.Publisher(cmd.Host)
	word := "saved"
	switch {
	case refused != nil && (refused.Cause != ledger.Conflict && refused.Cause != ledger.AlreadyExists || !hasFieldsOf(p, cmd)):
		if now := publisherOrOff(v.View, cmd.Host); now != nil && f.Kind == &editPublisherForm {
			// The input is shown again, for the current state. What it would undo is what the
			// page of the publisher shows.
			f.Values.Set("expected_last", expectedLast(now.Last))
		}
		return again(c, v, f.Refused(refused))
	case refused != nil: // the same form was sent twice
	case before != nil && p != nil && before.Last == p.Last:
		word = "unchanged"
	case before != nil && before.State == ledger.PublisherApproved:
	case cmd.Host == ledger.LocalPublisher:
		word = "on"
	case before == nil:
		word = "added"
	default:
		word = "approved"
	}
	return c.RedirectNotice(parts.PublisherPath(cmd.Host), publisherNotices, word)
}

func (w *Area) editPublisherPage(c *site.Request, v site.Session) error {
	p, err := w.publisherAt(c, &v)
	if err != nil {
		return err
	}
	f := v.Form(&editPublisherForm, url.Values{
		"host": {p.Host}, "expected_last": {expectedLast(p.Last)}, "name": {p.Name}, "scopes": p.Scopes, "defaults": p.Defaults,
		"redirect_uris": {strings.Join(p.RedirectURIs, "\n")},
	})
	if p.MaxClients != 0 {
		f.Values.Set("max_clients", strconv.Itoa(p.MaxClients))
	}
	if len(p.Scopes) == 0 && p.Host != ledger.LocalPublisher {
		f.Values["scopes"] = suggestedScopes
	}
	if p.LongRetry {
		f.Values.Set("long_retry", "yes")
	}
	return w.showEditPublisher(c, v, f)
}

func (w *Area) showEditPublisher(c *site.Request, v site.Session, f *site.Form) error {
	p, err := w.publisherAt(c, &v)
	if err != nil {
		return err
	}
	w.prover.RequireReauth(&v, f, "")
	body := publisherBodyOf(f)
	body.Host, body.Path = p.Host, parts.PublisherPath(p.Host)
	grants, _ := w.grantsOf(c, &v, p)
	body.People = grants.Users
	body.Local, body.Approved = p.Host == ledger.LocalPublisher, p.State == ledger.PublisherApproved
	page := ui.Page{Title: "Approve " + p.Host, Lead: publisherLead, Up: publisherUp(p), Form: f, Body: body}
	if body.Approved {
		page.Title, page.Lead = "Edit "+titleOf(p.Host), ""
	}
	if body.Local {
		page.Lead = localLead
		body.Scopes.Group.Hint = "A program never gets more than what is ticked."
		if !body.Approved {
			page.Title = "Turn on " + localName
		}
	}
	return w.showAdmin(c, v, "publisher_form", page)
}

// editPublisher approves a publisher, or changes one.
func (w *Area) editPublisher(c *site.Request, v site.Session, f *site.Form) error {
	seen, ok := parseExpectedLast(f.Get("expected_last"))
	if !ok {
		return site.ErrUnreadable
	}
	p, err := w.publisherAt(c, &v)
	if err != nil {
		return err
	}
	cmd := publisherIn(f, p.Host)
	cmd.ExpectedLast = seen
	return w.putPublisher(c, v, f, cmd, w.showEditPublisher)
}
