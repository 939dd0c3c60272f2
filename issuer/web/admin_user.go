package web

import (
	"net/url"
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const (
	ownedRows          = 10   // maximum number of applications on the page of their owner
	maxCountedSessions = 1000 // maximum number of sessions that are counted
	pathUserState      = pathAdminUser + "/state"
)

var userStateForm = formKind{
	purpose: forUserState, action: pathUserState, page: pathAdminUser,
	fields: []field{boundField("state"), listField("sure", "Confirmation").chosen(), ownPasswordField()},
}

// userActions are the actions on the page of a user, by the word of the notice that follows.
var userActions = []ledger.UserState{ledger.Promote, ledger.Demote, ledger.Disable, ledger.Enable}

var userNotices = notices{
	"edited":               "Saved. Applications that may see the profile see it so from now on.",
	"unchanged":            "There was nothing to change.",
	"added":                "The user was added. Tell them the username and the password in a way that nobody else can read.",
	"password":             "The new password counts from now on, and the user was signed out everywhere. Tell them the password in a way that nobody else can read.",
	string(ledger.Promote): "The user is an administrator now.",
	string(ledger.Demote):  "The user is no longer an administrator.",
	string(ledger.Disable): "The account was disabled. The user is signed out, and every application that was connected to the account is disconnected.",
	string(ledger.Enable):  "The account was enabled. The user can sign in again, and has to allow applications again.",
}

type adminUserBody struct {
	User     *ledger.User
	Self     bool // the user views their own page
	Facts    []fact
	Sessions int
	Apps     int // number of connected applications
	Owned    []nameLink
	MoreOf   string // the page with the user's other applications
	Edit     string // the page that edits the profile
	Events   string // the user's audit trail
	Password string // the page that sets the password; "" if the user has none
	Forms    map[string]*form
}

// adminUser shows the page of one user.
func (w *Web) adminUser(c *request, v session) error { return w.showAdminUser(c, v, nil) }

// userParam returns the user that the path names.
func (w *Web) userParam(c *request, v *session) (u *ledger.User, err error) {
	there, err := w.confirmFresh(c, v, func() bool {
		u = v.view.User(c.param("id"))
		return u != nil
	})
	switch {
	case err != nil:
		return nil, err
	case !there:
		return nil, errNotFound
	}
	return u, nil
}

func (w *Web) showAdminUser(c *request, v session, sent *form) error {
	u, err := w.userParam(c, &v)
	if err != nil {
		return err
	}
	now := w.config.Ledger.Now()
	body := adminUserBody{
		User: u, Self: u.ID == v.user.ID, Facts: adminFacts(u),
		Sessions: len(v.view.SessionsOf(u.ID, now, maxCountedSessions)), Apps: appsOf(v.view.GrantsOf(u.ID, now)),
		Edit:   editUserPath(u.ID),
		Events: pathAdminAudit + "?" + url.Values{"user": {u.ID}}.Encode(), Forms: map[string]*form{},
	}
	if u.Password != "" {
		body.Password = adminUserPath(u.ID) + "/password"
	}
	for _, state := range userActions {
		body.Forms[string(state)] = v.form(&userStateForm, url.Values{"id": {u.ID}, "state": {string(state)}})
	}
	if sent != nil {
		body.Forms[sent.get("state")] = sent
	}
	w.requireReauth(&v, body.Forms[string(ledger.Promote)], "")
	owned, next := v.view.ListClients(ledger.ClientQuery{Owner: u.ID, Limit: ownedRows})
	for _, client := range owned {
		body.Owned = append(body.Owned, linkClient(v.view, client.ID))
	}
	if next != "" {
		body.MoreOf = pathAdminClients + "?" + url.Values{"owner": {u.ID}}.Encode()
	}
	p := ui.Page{
		Title: personOf(u).Name, Up: up("Users", pathAdminUsers), Pills: userPills(u), Picture: portraitOf(u),
		Notice: userNotice(c, u), Form: sent, Body: body,
	}
	if !u.Deleted {
		p.Actions = []ui.Action{{Title: "Edit profile", Path: body.Edit}}
	}
	return w.showAdmin(c, v, "admin_user", p)
}

// userPills returns the state and the role of a user.
func userPills(u *ledger.User) (pills []ui.Pill) {
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
func userNotice(c *request, u *ledger.User) string {
	word := c.notice()
	is := map[string]bool{
		string(ledger.Promote): u.Admin, string(ledger.Demote): !u.Admin,
		string(ledger.Disable): u.Disabled, string(ledger.Enable): !u.Disabled,
	}
	if still, is := is[word]; is && !still {
		return ""
	}
	return userNotices[word]
}

func adminFacts(u *ledger.User) []fact {
	if u.Deleted {
		return []fact{{"Account ID", u.ID}}
	}
	list := facts(u, "About")
	if u.Upstream != "" {
		list = append(list, fact{"Signs in at", u.Upstream}, fact{"Known there as", u.Subject})
	}
	return list
}

// appsOf returns the number of applications that have grants.
func appsOf(grants []*ledger.Grant) int {
	clients := map[string]bool{}
	for _, g := range grants {
		clients[g.Client] = true
	}
	return len(clients)
}

// setUserState enables or disables an account, or grants or removes the role of an
// administrator. Repeating an action changes nothing. Disabling needs a confirmation,
// since enabling doesn't restore what it ends.
func (w *Web) setUserState(c *request, v session, f *form) error {
	state := f.get("state")
	if !slices.Contains(userActions, ledger.UserState(state)) {
		return errNotOurForm
	}
	if state == string(ledger.Disable) && !f.Has("sure", "yes") {
		f.addProblem("sure", "is missing: tick the box if the account is to be disabled")
		return w.showAdminUser(c, v, f)
	}
	if state == string(ledger.Promote) {
		if ok, err := w.reauthenticate(c, &v, f, w.showAdminUser); !ok {
			return err
		}
	}
	refused, err := w.propose(c, &v, "change a user", &ledger.SetUserState{
		Actor: v.actor(), User: f.get("id"), State: ledger.UserState(state),
	})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return w.showAdminUser(c, v, f.refused(refused))
	}
	return c.redirectNotice(adminUserPath(f.get("id")), userNotices, state)
}
