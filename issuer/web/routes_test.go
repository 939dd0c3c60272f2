package web_test

import (
	"cmp"
	"crypto/sha256"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/julienschmidt/httprouter"
	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// A row is one route, requested by four browsers: without a session, by bob, by ada, who
// owns what the address names, and by an administrator. Every route needs a row.
type row struct {
	route   string // method and pattern
	address string // an example
	form    *sent  // for a POST

	nobody, user, owner, administrator int // expected status

	// harmless reports that the form, sent by another user, only affects that user.
	harmless bool
}

// A sent is a form as a browser sends it, with a token made for the sender.
type sent struct {
	purpose web.Purpose
	about   string
	fields  url.Values
}

// matrix has every page and form.
var matrix = []row{
	{route: "GET /", nobody: 303, user: 200, owner: 200, administrator: 200},
	{route: "GET /auth/oauth2/waiting", nobody: 303, user: 410, owner: 410, administrator: 410},
	{route: "GET /account", nobody: 303, user: 200, owner: 200, administrator: 200},
	{route: "GET /account/password", nobody: 303, user: 200, owner: 200, administrator: 200},
	{
		route: "POST /account/password", nobody: 303, user: 303, owner: 303, administrator: 303, harmless: true,
		form: &sent{"password", "", url.Values{"current": {password}, "new": {another}, "again": {another}}},
	},
	{
		route: "POST /account/sign-out", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &sent{"end session", adaElsewhere, url.Values{"session": {adaElsewhere}}},
	},
	{
		route: "POST /account/sign-out-everywhere", nobody: 303, user: 303, owner: 303, administrator: 303, harmless: true,
		form: &sent{"sign out everywhere", "", nil},
	},
	{route: "GET /connected-apps", nobody: 303, user: 200, owner: 200, administrator: 200},
	{route: "GET /connected-apps/:id", address: "/connected-apps/calendar", nobody: 303, user: 404, owner: 200, administrator: 404},
	{
		route: "POST /connected-apps/disconnect", nobody: 303, user: 303, owner: 303, administrator: 303, harmless: true,
		form: &sent{"disconnect", "calendar", url.Values{"client": {"calendar"}}},
	},
	{
		route: "POST /connected-apps/disconnect-all", nobody: 303, user: 303, owner: 303, administrator: 303, harmless: true,
		form: &sent{"disconnect all", "", nil},
	},
	{route: "GET /developer", nobody: 303, user: 200, owner: 200, administrator: 200},
	{route: "GET /developer/new", nobody: 303, user: 200, owner: 200, administrator: 200},
	{
		route: "POST /developer/new", nobody: 303, user: 303, owner: 303, administrator: 303, harmless: true,
		form: &sent{"new client", "c_new", with(profileOf("Mine", callback, "BOOKING_READ"), "client", "c_new", "type", "public")},
	},
	{route: "GET /developer/clients/:id", address: "/developer/clients/mine", nobody: 303, user: 404, owner: 200, administrator: 404},
	{route: "GET /developer/clients/:id/edit", address: "/developer/clients/mine/edit", nobody: 303, user: 404, owner: 200, administrator: 404},
	{
		route: "POST /developer/clients/:id/edit", address: "/developer/clients/mine/edit", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &sent{"edit client", "mine\x001\x00", with(profileOf("Another name", callback, "BOOKING_READ"), "revision", "1")},
	},
	{
		route: "POST /developer/clients/:id/discard-refused", address: "/developer/clients/mine/discard-refused", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &sent{"discard refused changes", "mine\x001", url.Values{"revision": {"1"}}},
	},
	{route: "GET /developer/clients/:id/secrets", address: "/developer/clients/mine/secrets", nobody: 303, user: 404, owner: 200, administrator: 404},
	{
		route: "POST /developer/clients/:id/secrets/add", address: "/developer/clients/calendar/secrets/add", nobody: 303, user: 404, owner: 409, administrator: 404,
		form: &sent{"add secret", "calendar\x00s_new\x00\x00", url.Values{"secret": {"s_new"}}},
	},
	{
		route: "POST /developer/clients/:id/secrets/revoke", address: "/developer/clients/mine/secrets/revoke", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &sent{"revoke secret", "mine\x00s_1", url.Values{"secret": {"s_1"}}},
	},
	{route: "GET /developer/clients/:id/connect", address: "/developer/clients/mine/connect", nobody: 303, user: 404, owner: 200, administrator: 404},
	{route: "GET /developer/clients/:id/errors", address: "/developer/clients/mine/errors", nobody: 303, user: 404, owner: 200, administrator: 200},
	{route: "GET /developer/clients/:id/users", address: "/developer/clients/mine/users", nobody: 303, user: 404, owner: 200, administrator: 200},
	{route: "GET /developer/clients/:id/migration", address: "/developer/clients/old/migration", nobody: 303, user: 404, owner: 200, administrator: 404},
	{
		route: "POST /developer/clients/:id/migration", address: "/developer/clients/old/migration", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &sent{"migrate client", "old\x001\x00BOOKING_READ", url.Values{"revision": {"1"}, "selected": {"BOOKING_READ"}}},
	},
	{route: "GET /developer/clients/:id/transfer", address: "/developer/clients/mine/transfer", nobody: 303, user: 404, owner: 200, administrator: 404},
	{
		route: "POST /developer/clients/:id/transfer", address: "/developer/clients/mine/transfer", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &sent{"offer client", "mine", url.Values{"username": {"root"}}},
	},
	{
		route: "POST /developer/clients/:id/transfer/withdraw", address: "/developer/clients/offered/transfer/withdraw", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &sent{"withdraw offer", "offered", nil},
	},
	{route: "GET /developer/clients/:id/delete", address: "/developer/clients/mine/delete", nobody: 303, user: 404, owner: 200, administrator: 404},
	{
		route: "POST /developer/clients/:id/delete", address: "/developer/clients/mine/delete", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &sent{"delete client", "mine\x001", url.Values{"revision": {"1"}, "name": {"The mine app"}}},
	},
	// The offer is made to bob.
	{route: "GET /developer/offers", nobody: 303, user: 200, owner: 200, administrator: 200},
	{route: "GET /developer/offers/:id", address: "/developer/offers/offered", nobody: 303, user: 200, owner: 404, administrator: 404},
	{
		route: "POST /developer/offers/:id/accept", address: "/developer/offers/offered/accept", nobody: 303, user: 303, owner: 303, administrator: 404, harmless: true,
		form: &sent{"accept client", "offered\x001", url.Values{"revision": {"1"}}},
	},
	{
		route: "POST /developer/offers/:id/decline", address: "/developer/offers/offered/decline", nobody: 303, user: 303, owner: 303, administrator: 303, harmless: true,
		form: &sent{"decline client", "offered", nil},
	},
	{route: "GET /logos/:digest", address: logoAddress, nobody: 200, user: 200, owner: 200, administrator: 200},

	// The administration exists for administrators only.
	{route: "GET /admin", nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/clients", nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/clients/:id", address: "/admin/clients/calendar", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/clients/:id/review", address: "/admin/clients/waiting/review", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"review", "waiting\x001", url.Values{"revision": {"1"}, "verdict": {"approve"}}},
	},
	{route: "GET /admin/clients/:id/suspend", address: "/admin/clients/calendar/suspend", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/clients/:id/suspend", address: "/admin/clients/mine/suspend", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"suspend", "mine\x001", url.Values{"revision": {"1"}}},
	},
	{
		route: "POST /admin/clients/:id/resume", address: "/admin/clients/stopped/resume", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"resume", "stopped\x001", url.Values{"revision": {"1"}}},
	},
	{route: "GET /admin/clients/:id/transfer", address: "/admin/clients/calendar/transfer", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/clients/:id/transfer", address: "/admin/clients/mine/transfer", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"transfer client", "mine\x001", url.Values{"revision": {"1"}, "username": {"bob"}}},
	},
	{route: "GET /admin/users", nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/new-user", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/new-user", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"new user", "u_new", url.Values{"id": {"u_new"}, "username": {"eve"}, "password": {another}}},
	},
	{route: "GET /admin/users/:id", address: "/admin/users/u-ada", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/users/:id/state", address: "/admin/users/u-bob/state", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"user state", "u-bob\x00disable", url.Values{"state": {"disable"}, "sure": {"yes"}}},
	},
	{route: "GET /admin/users/:id/edit", address: "/admin/users/u-ada/edit", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/users/:id/edit", address: "/admin/users/u-bob/edit", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"edit user", "u-bob\x00" + anySeen, url.Values{"expected_last": {anySeen}, "username": {"bob"}, "name": {"Bobby"}}},
	},
	{route: "GET /admin/users/:id/password", address: "/admin/users/u-ada/password", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/users/:id/password", address: "/admin/users/u-bob/password", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"user password", "u-bob", url.Values{"password": {another}}},
	},
	{route: "GET /admin/resource-servers", nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/new-resource-server", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/new-resource-server", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"new resource server", "", url.Values{"id": {"https://new.example"}, "name": {"new"}}},
	},
	{route: "GET /admin/resource-servers/:server", address: apiPage, nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/resource-servers/:server/edit", address: apiPage + "/edit", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/resource-servers/:server/edit", address: apiPage + "/edit", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"edit resource server", aboutAPI + anySeen, url.Values{"resource": {apiURI}, "expected_last": {anySeen}, "name": {"renamed"}}},
	},
	{
		route: "POST /admin/resource-servers/:server/secrets/add", address: apiPage + "/secrets/add", nobody: 303, user: 404, owner: 404, administrator: 409,
		form: &sent{"add secret of resource server", aboutAPI + "s_new\x00\x00", url.Values{"resource": {apiURI}, "secret": {"s_new"}}},
	},
	{
		route: "POST /admin/resource-servers/:server/secrets/revoke", address: apiPage + "/secrets/revoke", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"revoke secret of resource server", aboutAPI + "s_api", url.Values{"resource": {apiURI}, "secret": {"s_api"}}},
	},
	{route: "GET /admin/resource-servers/:server/remove", address: apiPage + "/remove", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/resource-servers/:server/remove", address: apiPage + "/remove", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"remove resource server", aboutAPI + anySeen, url.Values{"resource": {apiURI}, "expected_last": {anySeen}, "name": {"api"}}},
	},
	// These exist only while agents are accepted: see TestAgentsOff.
	{route: "GET /admin/publishers", nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/new-publisher", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/new-publisher", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"new publisher", "", url.Values{"host": {"new.example"}, "scopes": {"BOOKING_READ"}}},
	},
	{route: "GET /admin/publishers/:host", address: publisherPage, nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/publishers/:host/edit", address: publisherPage + "/edit", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/publishers/:host/edit", address: publisherPage + "/edit", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"edit publisher", aboutPublisher, url.Values{"expected_last": {anySeen}, "scopes": {"BOOKING_READ"}}},
	},
	{route: "GET /admin/publishers/:host/revoke", address: publisherPage + "/revoke", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/publishers/:host/revoke", address: publisherPage + "/revoke", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"revoke publisher", aboutPublisher, url.Values{"expected_last": {anySeen}}},
	},
	{route: "GET /admin/publishers/:host/reject", address: publisherPage + "/reject", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/publishers/:host/reject", address: publisherPage + "/reject", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"reject publisher", aboutPublisher, url.Values{"expected_last": {anySeen}, "reason": {"why"}}},
	},
	{route: "GET /admin/publishers/:host/remove", address: publisherPage + "/remove", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/publishers/:host/remove", address: publisherPage + "/remove", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &sent{"remove publisher", aboutPublisher, url.Values{"expected_last": {anySeen}}},
	},
	{route: "GET /admin/audit", nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/audit.jsonl", nobody: 303, user: 404, owner: 404, administrator: 200},

	// The authorization step and what leads to it are open to anybody. Their forms are
	// bound to more than a session, and have their own tests.
	{route: "GET /auth/oauth2/authorize", address: at(good()), nobody: 200, user: 200, owner: 200, administrator: 200},
	{route: "POST /auth/oauth2/authorize", address: at(good()), nobody: 405, user: 405, owner: 405, administrator: 405},
	{route: "GET /auth/sign-in", nobody: 200, user: 303, owner: 303, administrator: 303},
	{route: "POST /auth/sign-in", nobody: 403, user: 403, owner: 403, administrator: 403},
	{route: "GET /auth/upstream/callback/begin", nobody: 403, user: 303, owner: 303, administrator: 303},
	{route: "GET /auth/upstream/callback/confirm", nobody: 303, user: 404, owner: 404, administrator: 403},
	{route: "GET /auth/upstream/callback", nobody: 400, user: 303, owner: 303, administrator: 303},
	{route: "POST /auth/sign-out", nobody: 403, user: 403, owner: 403, administrator: 403},
	{route: "GET /assets/:name", address: "/assets/style-0123456789abcdef.css", nobody: 200, user: 200, owner: 200, administrator: 200},
}

// adaElsewhere is the handle of a session of ada's in another browser. anySeen matches a
// user or a resource server in any state.
var (
	adaElsewhere = "07" + strings.Repeat("00", 31)
	anySeen      = strings.Repeat("00", 16)
)

// registered records the registered routes.
type registered []string

func (r *registered) Handle(method, path string, _ httprouter.Handle) {
	*r = append(*r, method+" "+path)
}

// stage returns an env with the objects and users of the matrix.
func stage(t *testing.T) (w *env, people []*browser) {
	t.Helper()
	w = newEnv(t, withProvider)
	w.agents(ledger.AgentsReviewed)
	w.list("agent.example")
	w.user("u-bob", "bob", "Bob")
	w.must(&ledger.PutUser{ID: "u-root", Username: "root", Person: ledger.Person{Name: "Root"}, Password: passwordHash(), Admin: true})
	people = []*browser{w.browser(), w.signedInAs("bob"), w.signedIn(), w.signedInAs("root")}
	people[2].allow()
	w.client("mine", func(c *ledger.ImportClient) { c.Secrets = []ledger.NewSecret{w.secret("s_1"), w.secret("s_2")} })
	w.resource("api", "s_api")
	w.client("offered", nil)
	w.must(&ledger.OfferClient{Actor: ledger.Actor{Operator: true}, ID: "offered", Username: "bob"})
	w.withLogo("calendar")
	w.must(&ledger.SignIn{Session: [32]byte{7}, User: "u-ada", VerifiedHash: sha256.Sum256([]byte(passwordHash()))})
	return w, people
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	var rows []string
	for _, r := range matrix {
		rows = append(rows, r.route)
		t.Run(r.route, func(t *testing.T) {
			for i, want := range []int{r.nobody, r.user, r.owner, r.administrator} {
				w, people := stage(t)
				if strings.HasPrefix(r.route, "GET ") {
					r.askPage(t, w, people[i], want)
				} else {
					r.askForm(t, w, people, i, want)
				}
			}
		})
	}
	var routes registered
	newEnv(t, withProvider).web.Register(&routes)
	for _, route := range routes {
		if !strings.HasPrefix(route, "HEAD ") {
			assert.Contains(t, rows, route, "the route has no row")
		}
	}
	slices.Sort(rows)
	assert.Len(t, slices.Compact(rows), len(matrix), "a row is repeated")
}

// endingForms are the forms that only end something. They are counted by session, so that
// no other session can use up the limit.
var endingForms = []string{
	"POST /account/password",
	"POST /account/sign-out",
	"POST /account/sign-out-everywhere",
	"POST /admin/resource-servers/:server/secrets/revoke",
	"POST /connected-apps/disconnect",
	"POST /connected-apps/disconnect-all",
	"POST /developer/clients/:id/secrets/revoke",
	"POST /developer/clients/:id/transfer/withdraw",
	"POST /developer/offers/:id/decline",
}

// TestEveryFormIsBounded verifies that each form is counted, which bounds the events that
// it adds to the audit trail. The forms of the authorization step are bounded otherwise:
// an Allow by the ledger, a sign-in by the attempts, and a sign-out by the sessions.
func TestEveryFormIsBounded(t *testing.T) {
	t.Parallel()
	var otherwise, ends []string
	for _, r := range matrix {
		switch {
		case !strings.HasPrefix(r.route, "POST "):
			continue
		case r.form == nil:
			otherwise = append(otherwise, r.path())
			continue
		}
		t.Run(r.route, func(t *testing.T) {
			one, want := 2, r.owner
			if r.owner == http.StatusNotFound {
				one, want = 3, r.administrator
			}
			w, people := stage(t)
			b := people[one]
			state := w.index
			if !slices.Contains(endingForms, r.route) {
				web.SpendChanges(w.web, b.userID)
				assert.Equal(t, http.StatusTooManyRequests, b.post(r.path(), r.form.values(b)).StatusCode)
				assert.Equal(t, state, w.index)
				return
			}
			ends = append(ends, r.route)
			web.SpendEndings(w.web, handle(b))
			assert.Equal(t, http.StatusTooManyRequests, b.post(r.path(), r.form.values(b)).StatusCode)
			assert.Equal(t, state, w.index)

			w, people = stage(t)
			b = people[one]
			thief := w.signedInAs(w.View().User(b.userID).Username)
			web.SpendEndings(w.web, handle(thief))
			web.SpendChanges(w.web, b.userID)
			assert.Equal(t, want, b.post(r.path(), r.form.values(b)).StatusCode, "another session used up the limit")
		})
	}
	assert.Equal(t, []string{at(good()), "/auth/sign-in", "/auth/sign-out"}, otherwise)
	slices.Sort(ends)
	assert.Equal(t, endingForms, ends)
}

func (r row) path() string {
	_, path, _ := strings.Cut(r.route, " ")
	return cmp.Or(r.address, path)
}

func (r row) askPage(t *testing.T, w *env, b *browser, want int) {
	t.Helper()
	state := w.index
	assert.Equal(t, want, b.get(r.path()).StatusCode, b.userID)
	assert.Equal(t, want, b.send(http.MethodHead, r.path(), nil, nil).StatusCode, "HEAD for %s", b.userID)
	assert.Equal(t, state, w.index, "a GET changed something")
}

// askForm first sends invalid forms, which must have no effect.
func (r row) askForm(t *testing.T, w *env, people []*browser, i, want int) {
	t.Helper()
	b, state := people[i], w.index
	if r.form != nil {
		without := http.StatusForbidden
		switch {
		case b.userID == "":
			without = http.StatusSeeOther // to the sign-in page
		case strings.HasPrefix(r.path(), "/admin") && want == http.StatusNotFound:
			without = want // the route doesn't exist for this user
		}
		assert.Equal(t, without, b.post(r.path(), r.form.fields).StatusCode, "%q without a token", b.userID)
		foreign := b.send(http.MethodPost, r.path(), strings.NewReader(r.form.values(b).Encode()), http.Header{
			"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"cross-site"},
		})
		assert.Equal(t, http.StatusForbidden, foreign.StatusCode, "%q from another site", b.userID)
		for _, other := range people {
			if other != b && other.userID != "" {
				assert.Equal(t, without, b.post(r.path(), r.form.values(other)).StatusCode, "%q with a token of %s", b.userID, other.userID)
			}
		}
	}
	assert.Equal(t, state, w.index, "a refused form changed something")

	res := b.post(r.path(), r.form.values(b))
	assert.Equal(t, want, res.StatusCode, "%q: %s", b.userID, res.body)
	if b.userID == "" && want == http.StatusSeeOther {
		assert.Contains(t, res.Header.Get("Location"), "/auth/sign-in?note=undone")
	}
	if b.userID != "u-ada" {
		assert.Len(t, w.grants(), 1, "%q affected ada", b.userID)
		assert.Equal(t, http.StatusOK, people[2].get("/account").StatusCode, "%q affected ada", b.userID)
		if b.userID == "" || !r.harmless && want != http.StatusSeeOther {
			assert.Equal(t, state, w.index, "%q changed something", b.userID)
		}
	}
}

// values returns the form as a page of that browser would send it.
func (s *sent) values(b *browser) url.Values {
	form := url.Values{}
	if s == nil {
		return form
	}
	for name, list := range s.fields {
		form[name] = list
	}
	form.Set("token", web.FormToken(b.session(), s.purpose, b.userID, s.about))
	return form
}
