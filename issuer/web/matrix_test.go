package web_test

import (
	"cmp"
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/julienschmidt/httprouter"
	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// A row is one route, requested by four browsers: without a session, by bob, by ada, who
// owns what the address names, and by an administrator. Every route needs a row.
type row struct {
	route   string // method and pattern
	address string // an example
	form    *Sent  // for a POST

	nobody, user, owner, administrator int // expected status

	// harmless reports that the form, sent by another user, only affects that user.
	harmless bool
}

// matrix has every page and form.
var matrix = slices.Concat(matrixSignin, matrixAccount, matrixDeveloper, matrixAdmin)

// registered records the registered routes.
type registered []string

func (r *registered) Handle(method, path string, _ httprouter.Handle) {
	*r = append(*r, method+" "+path)
}

// stage returns an env with the objects and users of the matrix.
func stage(t *testing.T) (w *Env, people []*Browser) {
	t.Helper()
	w = NewEnv(t, WithProvider)
	w.Agents(ledger.AgentsReviewed)
	w.List("agent.example")
	w.User("u-bob", "bob", "Bob")
	w.Must(&ledger.PutUser{ID: "u-root", Username: "root", Person: ledger.Person{Name: "Root"}, Password: PasswordHash(), Admin: true})
	people = []*Browser{w.Browser(), w.SignedInAs("bob"), w.SignedIn(), w.SignedInAs("root")}
	people[2].Allow()
	people[2].HasFeed(StageFeed)
	w.Client("mine", func(c *ledger.ImportClient) { c.Secrets = []ledger.NewSecret{w.Secret("s_1"), w.Secret("s_2")} })
	w.Resource("api", "s_api")
	w.Must(&ledger.KeepDraft{Actor: ledger.Actor{Operator: true}, Client: "old", Scopes: []string{"BOOKING_READ", "BOOKING_WRITE"}})
	w.Client("offered", nil)
	w.Must(&ledger.OfferClient{Actor: ledger.Actor{Operator: true}, ID: "offered", Username: "bob"})
	w.WithLogo("calendar")
	w.Must(&ledger.SignIn{Session: [32]byte{7}, User: "u-ada", VerifiedHash: sha256.Sum256([]byte(PasswordHash()))})
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
	NewEnv(t, WithProvider).Web.Register(&routes)
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
	"POST /account/feed/remove",
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
			state := w.Index
			if !slices.Contains(endingForms, r.route) {
				w.Web.SpendChanges(b.UserID)
				assert.Equal(t, http.StatusTooManyRequests, b.Post(r.path(), r.form.Values(b)).StatusCode)
				assert.Equal(t, state, w.Index)
				return
			}
			ends = append(ends, r.route)
			w.Web.SpendEndings(Handle(b))
			assert.Equal(t, http.StatusTooManyRequests, b.Post(r.path(), r.form.Values(b)).StatusCode)
			assert.Equal(t, state, w.Index)

			w, people = stage(t)
			b = people[one]
			thief := w.SignedInAs(w.View().User(b.UserID).Username)
			w.Web.SpendEndings(Handle(thief))
			w.Web.SpendChanges(b.UserID)
			assert.Equal(t, want, b.Post(r.path(), r.form.Values(b)).StatusCode, "another session used up the limit")
		})
	}
	assert.Equal(t, []string{At(Good()), "/auth/sign-in", "/auth/sign-out"}, otherwise)
	slices.Sort(ends)
	assert.Equal(t, endingForms, ends)
}

func (r row) path() string {
	_, path, _ := strings.Cut(r.route, " ")
	return cmp.Or(r.address, path)
}

func (r row) askPage(t *testing.T, w *Env, b *Browser, want int) {
	t.Helper()
	state := w.Index
	assert.Equal(t, want, b.Get(r.path()).StatusCode, b.UserID)
	assert.Equal(t, want, b.Send(http.MethodHead, r.path(), nil, nil).StatusCode, "HEAD for %s", b.UserID)
	assert.Equal(t, state, w.Index, "a GET changed something")
}

// askForm first sends invalid forms, which must have no effect.
func (r row) askForm(t *testing.T, w *Env, people []*Browser, i, want int) {
	t.Helper()
	b, state := people[i], w.Index
	if r.form != nil {
		without := http.StatusForbidden
		switch {
		case b.UserID == "":
			without = http.StatusSeeOther // to the sign-in page
		case strings.HasPrefix(r.path(), "/admin") && want == http.StatusNotFound:
			without = want // the route doesn't exist for this user
		}
		assert.Equal(t, without, b.Post(r.path(), r.form.Fields).StatusCode, "%q without a token", b.UserID)
		foreign := b.Send(http.MethodPost, r.path(), strings.NewReader(r.form.Values(b).Encode()), http.Header{
			"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"cross-site"},
		})
		assert.Equal(t, http.StatusForbidden, foreign.StatusCode, "%q from another site", b.UserID)
		for _, other := range people {
			if other != b && other.UserID != "" {
				assert.Equal(t, without, b.Post(r.path(), r.form.Values(other)).StatusCode, "%q with a token of %s", b.UserID, other.UserID)
			}
		}
	}
	assert.Equal(t, state, w.Index, "a refused form changed something")

	res := b.Post(r.path(), r.form.Values(b))
	assert.Equal(t, want, res.StatusCode, "%q: %s", b.UserID, res.Text)
	if b.UserID == "" && want == http.StatusSeeOther {
		assert.Contains(t, res.Header.Get("Location"), "/auth/sign-in?note=undone")
	}
	if b.UserID != "u-ada" {
		assert.Len(t, w.Grants(), 1, "%q affected ada", b.UserID)
		assert.Equal(t, http.StatusOK, people[2].Get("/account").StatusCode, "%q affected ada", b.UserID)
		if b.UserID == "" || !r.harmless && want >= http.StatusBadRequest {
			assert.Equal(t, state, w.Index, "%q changed something", b.UserID)
		}
	}
}
