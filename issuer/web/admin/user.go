package admin

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const (
	maxNamedApps       = 8    // maximum number of connected applications that are named
	ownedRows          = 10   // maximum number of applications on the page of their owner
	userHistoryRows    = 3    // maximum number of events on the page of a user
	maxCountedSessions = 1000 // maximum number of sessions that are counted
	pathUserState      = pathAdminUser + "/state"
)

var userStateForm = site.FormKind{
	Purpose: forUserState, Action: pathUserState, Page: pathAdminUser,
	Fields: []site.Field{site.BoundField("state"), site.OwnPasswordField()},
}

// disconnectUserForm ends the access of one application to the account of a user.
var disconnectUserForm = site.FormKind{
	Purpose: forDisconnectUser, Action: pathAdminUser + "/disconnect", Page: pathAdminUser, Fields: []site.Field{site.BoundField("client")},
}

// userActions are the actions on the page of a user, by the word of the notice that follows.
var userActions = []ledger.UserState{ledger.Promote, ledger.Demote, ledger.Disable, ledger.Enable, ledger.SignOutUser}

var userNotices = site.Notices{
	"edited":               "Saved. Applications that may see the profile see it from now on.",
	"unchanged":            "There was nothing to change.",
	"added":                "The user was added. If you didn’t note the password, set a new one below.",
	string(ledger.Promote): "The user is an administrator now.",
	string(ledger.Demote):  "The user is no longer an administrator.",
	string(ledger.Disable): "The account was disabled. The user is signed out, and no application can use the account.",
	string(ledger.Enable):  "The account was enabled. The user can sign in, and has to allow applications again.",

	"disconnected":             "The app was disconnected. Access that it got just before may keep working for up to 30 minutes.",
	string(ledger.SignOutUser): "The user was signed out everywhere. The password and connected apps stay.",
}

type adminUserBody struct {
	User        *ledger.User
	Self        bool // the user views their own page
	Facts       []parts.Fact
	Added       ui.Stamp
	Sessions    int
	Seen        ui.Stamp        // last use of a session
	Apps        []connectedLine // connected applications, the last allowed first
	MoreApps    int             // number of the others
	Owned       []ownedLine
	Orphans     string // what nobody can change, since the user can't sign in; "" for nothing
	MoreOf      string // the page with the user's other applications
	History     []parts.Told
	HistoryCard ui.Card
	Disabled    *verdict // nil if the account is not disabled, or if that was just done
	Password    string   // the page that sets the password; "" if the user has none
	Forms       map[string]*site.Form
	SignOut     *ui.Confirm
	Danger      *ui.Danger // nil if the account can't be disabled
}

// A connectedLine is an application that a user allowed.
type connectedLine struct {
	parts.Piece
	Picture    *ui.Picture
	Suspended  bool
	Disconnect *ui.Confirm // nil on the reader's own page
}

// An ownedLine is an application of a user.
type ownedLine struct {
	parts.Piece
	Picture  *ui.Picture
	State    ledger.ClientState
	Transfer *ui.Action // nil if the owner can change it
}

// adminUser shows the page of one user.
func (w *Area) adminUser(c *site.Request, v site.Session) error { return w.showAdminUser(c, v, nil) }

// userParam returns the user that the path names.
func (w *Area) userParam(c *site.Request, v *site.Session) (u *ledger.User, err error) {
	there, err := w.ConfirmFresh(c, v, func() bool {
		u = v.View.User(c.Param("id"))
		return u != nil
	})
	switch {
	case err != nil:
		return nil, err
	case !there:
		return nil, site.ErrNotFound
	}
	return u, nil
}

func (w *Area) showAdminUser(c *site.Request, v site.Session, sent *site.Form) error {
	u, err := w.userParam(c, &v)
	if err != nil {
		return err
	}
	now := w.Ledger.Now()
	sessions := v.View.SessionsOf(u.ID, now, maxCountedSessions)
	body := &adminUserBody{
		User: u, Self: u.ID == v.User.ID, Added: v.At(u.Created), Sessions: len(sessions),
		HistoryCard: historyCard("user", u.ID), Forms: map[string]*site.Form{},
	}
	body.connected(&v, v.View.GrantsOf(u.ID, now), sent)
	if len(sessions) > 0 {
		body.Seen = v.At(sessions[0].Seen)
	}
	if !u.Deleted {
		if u.Upstream != "" {
			body.Facts = []parts.Fact{{Name: "Signs in at", Value: u.Upstream}, {Name: "Known there as", Value: u.Subject}}
		}
		body.Facts = append(body.Facts, parts.FurtherFacts(u)...)
	}
	if u.Password != "" {
		body.Password = parts.AdminUserPath(u.ID) + "/password"
	}
	for _, state := range userActions {
		body.Forms[string(state)] = v.Form(&userStateForm, url.Values{"id": {u.ID}, "state": {string(state)}})
	}
	if sent != nil && sent.Kind == &userStateForm {
		body.Forms[sent.Get("state")] = sent
	}
	w.prover.RequireReauth(&v, body.Forms[string(ledger.Promote)], "")
	if !body.Self && !u.Deleted && !u.Disabled {
		body.Danger = disableDanger(site.PersonOf(u).Name, body.Forms[string(ledger.Disable)], sent, len(body.Apps) > 0)
	}
	out := body.Forms[string(ledger.SignOutUser)]
	body.SignOut = &ui.Confirm{
		Button: "Sign out everywhere", Title: "Sign " + site.PersonOf(u).Name + " out everywhere?", Text: "The user has to sign in again. Connected apps stay connected.",
		Do: "Sign out everywhere", Tone: ui.Bad, Open: sent != nil && sent == out, Form: out,
	}
	body.own(&v)
	events, _ := v.View.ListEvents(ledger.EventQuery{User: u.ID, Limit: historyRows})
	told := parts.Sentences(v.View, events, v.Clock(), parts.Reader{Admin: true, Links: true})
	body.History = told[:min(len(told), userHistoryRows)]
	p := ui.Page{
		Title: site.PersonOf(u).Name, Up: site.Up("Users", parts.PathAdminUsers), Pills: userPills(u, body.Self), Picture: site.PortraitOf(u),
		Lead: namesBeside(u), Copy: &ui.Copy{ID: "account-id", Label: "user ID", Value: u.ID},
		Notice: userNotice(c, u), Form: sent, Body: body, Rows: len(body.Owned),
		Truncate: func(n int) { body.Owned, body.MoreOf = body.Owned[:n], applicationsOf(u.ID) },
	}
	if !u.Deleted {
		p.Actions = []ui.Action{{Title: "Edit profile", Path: parts.EditUserPath(u.ID)}}
	}
	switch {
	case u.Deleted || !u.Disabled:
	case p.Notice != "" && c.Notice() == string(ledger.Disable):
		p.Button = &ui.NoticeButton{Form: body.Forms[string(ledger.Enable)], Do: "Enable account"}
	default:
		body.Disabled = disabledBy(events, told)
	}
	return w.showAdmin(c, v, "user", p)
}

// namesBeside returns the names of a user apart from the one that the page has as its title.
func namesBeside(u *ledger.User) string {
	person := site.PersonOf(u)
	names := []string{person.Username, u.Email}
	return strings.Join(slices.DeleteFunc(names, func(s string) bool { return s == "" || s == person.Name }), " · ")
}

// own adds the user's applications.
func (b *adminUserBody) own(v *site.Session) {
	q := ledger.ClientQuery{Owner: b.User.ID, Limit: ownedRows}
	owned, next := v.View.ListClients(q)
	gone := b.User.Disabled || b.User.Deleted
	for _, client := range owned {
		line := ownedLine{Piece: parts.ClientPiece(v.View, client.ID), Picture: parts.SmallPicture(&client.Profile), State: client.State}
		if gone {
			line.Transfer = &ui.Action{Title: "Transfer", About: client.Name, Path: parts.AdminClientPath(client.ID) + "/transfer", Small: true}
		}
		b.Owned = append(b.Owned, line)
	}
	if next != "" {
		b.MoreOf = applicationsOf(b.User.ID)
	}
	if !gone {
		return
	}
	all := len(owned)
	if next != "" {
		all = v.View.ClientsPosition(q, owned[0].ID).Total
	}
	switch all {
	case 0:
	case 1:
		b.Orphans = "1 application has no owner who can change it."
	default:
		b.Orphans = ui.Comma(all) + " applications have no owner who can change them."
	}
}

// applicationsOf returns the page with the applications of a user.
func applicationsOf(user string) string {
	return parts.PathAdminClients + "?" + url.Values{"owner": {user}}.Encode()
}

// disabledBy returns who disabled an account and when, from its events, the newest first; its time is
// zero if they don't have that.
func disabledBy(events []*ledger.Event, told []parts.Told) *verdict {
	for n, e := range events {
		if e.Kind == ledger.EventUserState && e.Detail == string(ledger.Disable) {
			return &verdict{told[n].By, told[n].At}
		}
	}
	return &verdict{At: ui.Stamp{Zero: true}}
}

// userPills returns the state and the role of a user. self reports that the reader is that user.
func userPills(u *ledger.User, self bool) (pills []ui.Pill) {
	if self {
		pills = append(pills, ui.Pill{Text: "You"})
	}
	if u.Deleted {
		return []ui.Pill{{Text: "Deleted"}}
	}
	if u.Disabled {
		pills = append(pills, ui.Pill{Text: "Disabled", Tone: ui.Bad})
	}
	if u.Admin {
		pills = append(pills, ui.Pill{Text: "Administrator", Tone: ui.Info})
	}
	return pills
}

// userNotice is like clientNotice, for users.
func userNotice(c *site.Request, u *ledger.User) string {
	word := c.Notice()
	is := map[string]bool{
		string(ledger.Promote): u.Admin, string(ledger.Demote): !u.Admin,
		string(ledger.Disable): u.Disabled, string(ledger.Enable): !u.Disabled,
	}
	if still, is := is[word]; is && !still {
		return ""
	}
	return userNotices[word]
}

// disableDanger asks before an account is disabled, since enabling doesn't restore what that ends.
func disableDanger(name string, f, sent *site.Form, connected bool) *ui.Danger {
	signsOut, ends := "Signs the user out everywhere", "The user can’t sign in any more."
	if connected {
		signsOut += " and disconnects all applications"
		ends += " All applications are disconnected. Access that one got just before may keep working for up to 30 minutes."
	}
	return &ui.Danger{Lines: []ui.DangerLine{{
		Title: "Disable the account", Text: signsOut + ". What the user owns stays.",
		Confirm: &ui.Confirm{
			Button: "Disable account", Title: "Disable the account of " + name + "?",
			Text: ends, Do: "Disable account", Tone: ui.Bad, Open: sent == f, Form: f,
		},
	}}}
}

// connected adds the applications that have grants, of which the oldest is the first: at most
// maxNamedApps, and how many more there are.
func (b *adminUserBody) connected(v *site.Session, grants []*ledger.Grant, sent *site.Form) {
	seen := map[string]bool{}
	for _, g := range slices.Backward(grants) {
		switch {
		case seen[g.Client]:
			continue
		case len(b.Apps) < maxNamedApps:
			b.Apps = append(b.Apps, b.connectedLine(v, parts.ClientPiece(v.View, g.Client), g.Client, sent))
		default:
			b.MoreApps++
		}
		seen[g.Client] = true
	}
}

func (b *adminUserBody) connectedLine(v *site.Session, app parts.Piece, client string, sent *site.Form) connectedLine {
	profile, suspended := &ledger.Profile{Name: app.Text}, false
	if found := v.View.Client(client); found != nil {
		profile, suspended = &found.Profile, found.State == ledger.Suspended
	}
	line := connectedLine{Piece: app, Picture: parts.SmallPicture(profile), Suspended: suspended}
	if b.Self {
		return line
	}
	f := v.Form(&disconnectUserForm, url.Values{"id": {b.User.ID}, "client": {client}})
	open := sent != nil && sent.Kind == &disconnectUserForm && sent.Get("client") == client
	if open {
		f = sent
	}
	line.Disconnect = &ui.Confirm{
		Button: "Disconnect", About: app.Text, Title: "Disconnect " + app.Text + " from " + site.PersonOf(b.User).Name + "?",
		Text: "It gets no new access. Access that it got just before may keep working for up to 30 minutes.", Do: "Disconnect", Tone: ui.Bad, Small: true, Quiet: true, Open: open, Form: f,
	}
	return line
}

// disconnectUser ends the access of an application. Repeating it changes nothing.
func (w *Area) disconnectUser(c *site.Request, v site.Session, f *site.Form) error {
	refused, err := w.Propose(c, &v, "disconnect an application", &ledger.Disconnect{Actor: v.Actor(), User: f.Get("id"), Client: f.Get("client")})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return w.showAdminUser(c, v, f.Refused(refused))
	}
	return c.RedirectNotice(parts.AdminUserPath(f.Get("id")), userNotices, "disconnected")
}

// setUserState enables or disables an account, or grants or removes the role of an
// administrator. Repeating an action changes nothing.
func (w *Area) setUserState(c *site.Request, v site.Session, f *site.Form) error {
	state := f.Get("state")
	if !slices.Contains(userActions, ledger.UserState(state)) {
		return site.ErrNotOurForm
	}
	if state == string(ledger.Promote) {
		if ok, err := w.prover.Reauthenticate(c, &v, f, w.showAdminUser); !ok {
			return err
		}
	}
	refused, err := w.Propose(c, &v, "change a user", &ledger.SetUserState{
		Actor: v.Actor(), User: f.Get("id"), State: ledger.UserState(state),
	})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return w.showAdminUser(c, v, f.Refused(refused))
	}
	return c.RedirectNotice(parts.AdminUserPath(f.Get("id")), userNotices, state)
}
