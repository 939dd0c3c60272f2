package webtest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// Administration returns an env with the administrators Root and Rita.
func Administration(t *testing.T, change ...func(*web.Config)) (w *Env, root *Browser) {
	t.Helper()
	w = NewEnv(t, change...)
	w.Agents(ledger.AgentsListed)
	for _, name := range []string{"root", "rita"} {
		w.Must(&ledger.PutUser{ID: "u-" + name, Username: name, Person: ledger.Person{Name: strings.ToTitle(name[:1]) + name[1:]}, Password: PasswordHash(), Admin: true})
	}
	w.User("u-bob", "bob", "Bob")
	return w, w.SignedInAs("root")
}

func (w *Env) ClientRow(id string) *ledger.Client { return ledger.At(w.Memory.View()).Client(id) }

// ProposeRevision edits a client of Ada's.
func (w *Env) ProposeRevision(id string, change func(*ledger.Profile)) {
	w.T.Helper()
	p := w.ClientRow(id).Profile
	change(&p)
	ada := w.SignedIn()
	w.Must(&ledger.EditClient{
		Actor: ledger.Actor{Session: credential.SessionDigest(ada.Session())}, ID: id, Revision: w.ClientRow(id).Revision, Profile: p,
	})
}

// Press submits the form of a page for an action, filled in with pairs.
func (b *Browser) Press(page, action string, pairs ...string) Answer {
	b.Env.T.Helper()
	return b.Post(action, With(b.Get(page).Form(b.Env.T, action), pairs...))
}

// Done requires that a form was accepted, and returns the page that follows.
func (b *Browser) Done(res Answer) Answer {
	b.Env.T.Helper()
	require.Equal(b.Env.T, http.StatusSeeOther, res.StatusCode, res.Text)
	page := b.Get(res.Header.Get("Location"))
	require.Equal(b.Env.T, http.StatusOK, page.StatusCode, page.Text)
	require.Contains(b.Env.T, page.Text, `role="status"`)
	return page
}

const (
	WaitingPage  = "/admin/clients/waiting"
	CalendarPage = "/admin/clients/calendar"
	SuspendPage  = CalendarPage + "/suspend"
)
