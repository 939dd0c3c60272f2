package signin

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

var consentForm = site.FormKind{
	Purpose: forConsent, Action: site.PathAuthorize, Page: site.PathAuthorize,
	Fields: []site.Field{
		site.TextField("next", ""),     // the query of the authorization request
		site.TextField("user", ""),     // the id of the user whom the page named
		site.TextField("revision", ""), // the revision of the client that the page showed
		site.TextField("resource", ""), // the identifier of the resource server that the page named
		site.TextField("scope", ""),    // the scope that the page showed
		site.TextField("decision", ""), // "allow" or "cancel"
	},
}

type consentBody struct {
	Notice *ui.Callout // why the page is shown again

	Asker   parts.Asker
	Asks    parts.Asks
	Account account
	Target  target

	Request    string // the query in the form
	UserID     string
	Revision   string
	ResourceID string
	Scope      string
	Token      string
}

// An account is who is signed in, with a button to continue the authorization request as somebody
// else: the template "account".
type account struct {
	Person       site.Person
	Portrait     *ui.Picture
	Request      string // the query of the authorization request
	SignOutToken string
}

func accountOf(v *site.Session, query string) account {
	a := account{
		Person: site.PersonOf(v.User), Portrait: site.PortraitOf(v.User),
		Request: query, SignOutToken: site.FormToken(v.ID, site.ForSignOut, "", query),
	}
	a.Portrait.Small = true
	return a
}

// A target describes the receiver of the code.
type target struct {
	Host   string
	Device bool // a program on the user's own device
}

func targetOf(uri string) target {
	u, err := url.Parse(uri)
	t := target{Host: oauth.RedirectHost(uri)}
	t.Device = err == nil && u.Scheme != "https" // http can only be registered for the loopback
	return t
}

// consentAbout returns the text that the form's token is bound to. The separator is
// unambiguous: the query comes from oauth.AuthorizationRequest.Query, which escapes
// NUL, and no revision, resource server or scope of a page has one.
func consentAbout(query, revision, resource, scope string) string {
	return query + "\x00" + revision + "\x00" + resource + "\x00" + scope
}

// showConsent shows the consent page. Its form is bound to the session, to the user
// that the page names, to the exact request, and to the revision of the client, the
// resource server and the scope that the page shows. If the page is shown again because
// more is asked for, shown is the scope that it showed before, and what is new is marked.
func (w *Area) showConsent(c *site.Request, status int, v site.Session, r oauth.AuthorizationRequest, a ledger.Authorization, notice *ui.Callout, shown scope.Set) {
	c.Header().Set("Content-Security-Policy", site.FormsAnywhere)
	query, revision := r.Query(), strconv.FormatUint(a.Client.Revision, 10)
	first, before := allowedBefore(v.View, v.User.ID, a.Client.ID, w.Ledger.Now())
	if !shown.Empty() {
		first, before = 0, shown
	}
	body := consentBody{
		Notice: notice,
		Asker:  parts.AskerOf(v.View, a.Client, w.Brand()), Asks: parts.AsksOf(a.Scope, before),
		Account: accountOf(&v, query), Target: targetOf(a.RedirectURI),
		Request: query, UserID: v.User.ID, Revision: revision, ResourceID: a.ResourceID(), Scope: a.Scope,
		Token: site.FormToken(v.ID, forConsent, v.User.ID, consentAbout(query, revision, a.ResourceID(), a.Scope)),
	}
	body.Asks.Legacy, body.Asks.First = a.Legacy, v.Day(first)
	body.Asker.More = first != 0 && body.Asks.News != ""
	if a.Resource != nil {
		body.Asks.Only = &parts.Only{Name: a.Resource.Name, Address: strings.TrimPrefix(a.Resource.ID, "https://")}
	}
	w.Render(c, status, "consent", ui.Page{Title: "Allow " + cmp.Or(body.Asker.Publisher, body.Asker.Client) + "?", Plain: true, Body: body})
}

// allowedBefore returns when the oldest of the user's live grants for a client was created, 0
// if there is none, and what they allow together.
func allowedBefore(view ledger.View, user, client string, now ledger.Time) (first ledger.Time, scopes scope.Set) {
	for _, g := range view.GrantsOf(user, now) { // oldest first
		if g.Client != client {
			continue
		}
		if first == 0 {
			first = g.Created
		}
		if g.Legacy {
			scopes = scope.All()
		}
		scopes = scopes.Union(scope.FromClaim(view.ScopeOf(g)))
	}
	return first, scopes
}

var userRefused = oauth.Error{Code: oauth.AccessDenied, Description: "The user refused."}

// Why the consent page is shown again.
var (
	noticeChanged  = again(nothingAllowed, "The app was changed while this page was open. Check what it asks for and decide again.")
	noticeMore     = again("It asks for more now.", "What’s new is marked. "+nothingAllowed)
	noticeLess     = again(nothingAllowed, "The app asks for less than when you opened this page. Check what it asks for and decide again.")
	noticeSame     = again(nothingAllowed, "The app’s details were changed while this page was open. What it asks for is the same. Check who asks and decide again.")
	noticeSwitched = again(nothingAllowed, "You’re signed in with another account now. Check the account and decide again.")
	noticeOld      = again(nothingAllowed, "You signed in again while this page was open. Check what the app asks for and decide again.")

	noticeUndecided = again("", "Choose Allow or Cancel.")
)

const nothingAllowed = "Nothing was allowed yet."

func again(title, text string) *ui.Callout {
	return &ui.Callout{Tone: ui.Warn, Title: title, Text: text, Role: "alert"}
}

// A shownAsk is what the page asked for when the user decided.
type shownAsk struct{ scope, resource string }

// changed returns the notice for showing the page again, with a. If a asks for more, it also returns
// the scope that was shown before.
func (s shownAsk) changed(a ledger.Authorization) (notice *ui.Callout, scopes scope.Set) {
	was, is := scope.FromClaim(s.scope), scope.FromClaim(a.Scope)
	switch {
	case was.Empty() || is.Empty() || s.resource != a.ResourceID(): // everything, or used somewhere else
		return noticeChanged, scope.Set{}
	case !was.Contains(is):
		return noticeMore, was
	case was != is:
		return noticeLess, scope.Set{}
	}
	return noticeSame, scope.Set{}
}

// decide handles the consent form. It repeats every check that was made for the page; the
// command makes them again.
func (w *Area) decide(c *site.Request, f *site.Form) error {
	next := f.Get("next")
	request, bad := oauth.ParseAuthorizationRequest(next)
	if bad != nil {
		w.config.Refused(ledger.RequestMalformed)
		return unreadableRequest(bad)
	}
	c.ReturnTo, c.Undone = continueURL(next, ""), "Nothing was shared with the app. Wait a few seconds and try again."
	v := w.LoadSession(c)
	w.openRegistration(c, &v, &request)
	a, problem, err := w.examine(c, &v, &request)
	switch {
	case err != nil:
		return err
	case problem != nil && problem.Page:
		w.config.Refused(problem.Cause)
		return w.forOwner(w.explain(problem, request.ClientID, a.Client), &v, request)
	case v.Unavailable:
		return site.ErrSessionUnavailable
	case v.User == nil:
		w.showSignIn(c, http.StatusForbidden, v.View, signInBody{Next: site.EscapeQuery(next), Alert: alertSignedOut})
		return nil
	case problem != nil:
		w.config.Refused(problem.Cause)
		return w.respond(c, request, &problem.Error)
	}
	revision, err := strconv.ParseUint(f.Get("revision"), 10, 64)
	if err != nil || f.Get("user") != v.User.ID ||
		!site.Genuine(f.SentToken, v.ID, forConsent, v.User.ID, consentAbout(next, f.Get("revision"), f.Get("resource"), f.Get("scope"))) {
		notice := noticeOld
		if f.Get("user") != v.User.ID {
			notice = noticeSwitched
		}
		w.showConsent(c, http.StatusForbidden, v, request, a, notice, scope.Set{})
		return nil
	}
	switch f.Get("decision") {
	case "allow":
		shown := shownAsk{f.Get("scope"), f.Get("resource")}
		if shown.scope != a.Scope { // a change of the publisher's scopes leaves the client's revision as it is
			return w.refused(c, v, request, shown, &ledger.Refusal{Cause: ledger.Conflict})
		}
		return w.allow(c, v, request, shown, revision)
	case "cancel":
		c.Cause = ledger.UserRefused
		w.recordRefusal(&v, request, oauth.AccessDenied, ledger.UserRefused)
		return w.respond(c, request, &userRefused)
	}
	w.showConsent(c, http.StatusUnprocessableEntity, v, request, a, noticeUndecided, scope.Set{})
	return nil
}

// allow creates the grant and sends its code to the client. Sending the form twice
// creates two grants, of which one is never used and ends when its code expires.
func (w *Area) allow(c *site.Request, v site.Session, r oauth.AuthorizationRequest, shown shownAsk, revision uint64) error {
	command := &ledger.Allow{Actor: v.Actor(), User: v.User.ID, Request: r, Revision: revision}
	// The state belongs to the client (RFC 6749 §10.12), may contain any bytes, and
	// affects no decision: it is not logged.
	command.Request.State = ""
	command.Request.Resource, command.Request.Scope = shown.resource, shown.scope
	if _, err := io.ReadFull(w.Rand, command.Grant[:]); err != nil {
		return fmt.Errorf("make a grant id: %w", err)
	}
	out, index, err := w.Ledger.Propose(c.R.Context(), command)
	switch {
	case err != nil:
		return fmt.Errorf("allow: %w", err)
	case out.Refusal != nil:
		return w.refused(c, v, r, shown, out.Refusal)
	case out.Unknown || out.Issued == nil:
		return fmt.Errorf("allow: %w", oauth.ErrUnavailable)
	}
	code, err := w.config.Code(c.R.Context(), out.Issued, index)
	if err != nil {
		return fmt.Errorf("mint the code: %w", err)
	}
	w.SetSession(c, v.ID, index)
	return c.Redirect(oauth.AuthorizationResponse{
		RedirectURI: r.RedirectURI, Code: code.Reveal(), State: r.State, Issuer: w.config.Issuer(),
	}.Location())
}

// refused handles a refused Allow: what the page showed has changed since. A fresh view
// has the current state.
func (w *Area) refused(c *site.Request, v site.Session, r oauth.AuthorizationRequest, shown shownAsk, refusal *ledger.Refusal) error {
	w.config.Refused(refusal.Cause)
	switch refusal.Cause {
	case ledger.TooManyGrants:
		c.Cause = refusal.Cause
		return w.respond(c, r, &oauth.Error{Code: oauth.AccessDenied, Description: "The account has too many connected applications."})
	case ledger.TooManyAgentGrants:
		c.Cause = refusal.Cause
		return w.respond(c, r, &oauth.Error{Code: oauth.AccessDenied, Description: "The account has too many connected agents."})
	case ledger.DocumentStale, ledger.TooManyDocuments:
		return w.explainAgent(refusal.Cause, r.ClientID, "")
	case ledger.TooManyAllows:
		return tooManyAllows(max(time.Second, refusal.When.Std().Sub(w.Ledger.Now().Std())))
	case ledger.KeyNotOpened:
		return fmt.Errorf("allow: no key to mint with: %w", oauth.ErrUnavailable)
	}
	fresh, err := w.Fresh(c.R.Context())
	if err != nil {
		return fmt.Errorf("look again: %w", err)
	}
	v.View = fresh
	w.LookupSession(c, &v)
	a, problem := fresh.Authorize(r)
	c.Cause = refusal.Cause
	switch {
	case problem != nil && problem.Page:
		return w.forOwner(w.explain(problem, r.ClientID, a.Client), &v, r)
	case v.User == nil:
		w.showSignIn(c, http.StatusForbidden, v.View, signInBody{Next: r.Query(), Alert: alertSignedOut})
	case problem != nil:
		return w.respond(c, r, &problem.Error)
	default:
		notice, scopes := shown.changed(a)
		w.showConsent(c, http.StatusConflict, v, r, a, notice, scopes)
	}
	return nil
}

// tooManyAllows returns a page of this server, not a redirect (RFC 6749 §4.1.2.1 has
// temporarily_unavailable): it states how long to wait, and the same form works after
// that. An application could only send its user here again.
func tooManyAllows(wait time.Duration) *site.Failure {
	return &site.Failure{
		Status: http.StatusTooManyRequests, Title: "Allowed too often", After: wait, Cause: ledger.TooManyAllows, Again: site.TryAgain,
		Text: "This account has allowed apps very many times within a day, so nothing was shared this time. Wait " + site.WaitText(wait) + " and try again.",
	}
}
