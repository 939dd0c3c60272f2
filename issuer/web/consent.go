package web

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var consentForm = formKind{
	purpose: forConsent, action: pathAuthorize, page: pathAuthorize,
	fields: []field{
		textField("next", ""),     // the query of the authorization request
		textField("user", ""),     // the id of the user whom the page named
		textField("revision", ""), // the revision of the client that the page showed
		textField("resource", ""), // the identifier of the resource server that the page named
		textField("scope", ""),    // the scope that the page showed
		textField("decision", ""), // "allow" or "cancel"
	},
}

type consentBody struct {
	Notice string // why the page is shown again

	Client      string
	Publisher   string // of a client with metadata of its own, "" for others
	Registered  bool   // it registered itself
	Picture     *ui.Picture
	Own         ui.Picture // of this service
	Website     string
	WebsiteHost string
	Person      person
	Portrait    *ui.Picture
	Before      ledger.Time // when the user first allowed it; 0 if never
	Legacy      bool
	Permissions []permissions
	Target      target
	Resource    *ledger.ResourceServer // nil for the cluster's audience

	Request      string // the query in the form
	UserID       string
	Revision     string
	ResourceID   string
	Scope        string
	Token        string
	SignOutToken string
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
// resource server and the scope that the page shows.
func (w *Web) showConsent(c *request, status int, v session, r oauth.AuthorizationRequest, a ledger.Authorization, notice string) {
	c.Header().Set("Content-Security-Policy", formsAnywhere)
	query, revision := r.Query(), strconv.FormatUint(a.Client.Revision, 10)
	body := consentBody{
		Notice: notice,
		Client: a.Client.Name, Picture: publicPicture(a.Client), Website: a.Client.Website,
		Own: ui.Picture{Initial: ui.Initial(brand.Name), Kind: "own"}, Portrait: portraitOf(v.user),
		Person: personOf(v.user), Before: firstAllowed(v.view, v.user.ID, a.Client.ID, w.config.Ledger.Now()),
		Legacy: a.Legacy, Permissions: permissionsOf(a.Scope), Target: targetOf(a.RedirectURI), Resource: a.Resource,
		Request: query, UserID: v.user.ID, Revision: revision, ResourceID: a.ResourceID(), Scope: a.Scope,
		Token:        formToken(v.id, forConsent, v.user.ID, consentAbout(query, revision, a.ResourceID(), a.Scope)),
		SignOutToken: formToken(v.id, forSignOut, "", query),
	}
	body.Portrait.Small = true
	title := a.Client.Name
	if d := a.Client.Document; d != nil {
		title = publisherName(d)
		body.Publisher, body.Registered = title, d.Registered != ""
		body.Picture = &ui.Picture{Initial: ui.Initial(title)}
	} else if u, err := url.Parse(a.Client.Website); err == nil {
		body.WebsiteHost = u.Host
	}
	w.render(c, status, "consent", ui.Page{Title: "Allow " + title + "?", Body: body})
}

// firstAllowed returns when the oldest of the user's live grants for a client was created.
func firstAllowed(view ledger.View, user, client string, now ledger.Time) ledger.Time {
	for _, g := range view.GrantsOf(user, now) { // oldest first
		if g.Client == client {
			return g.Created
		}
	}
	return 0
}

// Notices of a page that is shown again.
const (
	noticeOld   = "This page was no longer up to date, so nothing was done. Please look again and decide."
	noticeMoved = "Something changed while the page was open, so nothing was done. Please look again and decide."
)

// decide handles the consent form. It repeats every check that was made for the page; the
// command makes them again.
func (w *Web) decide(c *request, f *form) error {
	next := f.get("next")
	request, bad := oauth.ParseAuthorizationRequest(next)
	if bad != nil {
		w.config.Refused(ledger.RequestMalformed)
		return unreadableRequest(bad)
	}
	v := w.loadSession(c)
	w.openRegistration(c, &v, &request)
	a, problem, err := w.examine(c, &v, &request)
	switch {
	case err != nil:
		return err
	case problem != nil && problem.Page:
		w.config.Refused(problem.Cause)
		return explain(problem).forOwner(&v, request)
	case v.unavailable:
		return errSessionUnavailable
	case v.user == nil:
		w.showSignIn(c, http.StatusForbidden, v.view, signInBody{Next: escapeQuery(next), Alert: alertSignedOut})
		return nil
	case problem != nil:
		w.config.Refused(problem.Cause)
		return w.respond(c, request, &problem.Error)
	}
	revision, err := strconv.ParseUint(f.get("revision"), 10, 64)
	if err != nil || f.get("user") != v.user.ID ||
		!genuine(f.token, v.id, forConsent, v.user.ID, consentAbout(next, f.get("revision"), f.get("resource"), f.get("scope"))) {
		w.showConsent(c, http.StatusForbidden, v, request, a, noticeOld)
		return nil
	}
	switch f.get("decision") {
	case "allow":
		if f.get("scope") != a.Scope { // a change of the publisher's scopes leaves the client's revision as it is
			return w.refused(c, v, request, &ledger.Refusal{Cause: ledger.Conflict})
		}
		return w.allow(c, v, request, a, revision, f.get("resource"))
	case "cancel":
		c.cause = ledger.UserRefused
		w.recordRefusal(&v, request, ledger.UserRefused)
		return w.respond(c, request, &oauth.Error{Code: oauth.AccessDenied, Description: "The user refused."})
	}
	w.showConsent(c, http.StatusUnprocessableEntity, v, request, a, "Please choose Allow or Cancel.")
	return nil
}

// allow creates the grant and sends its code to the client. Sending the form twice
// creates two grants, of which one is never used and ends when its code expires.
func (w *Web) allow(c *request, v session, r oauth.AuthorizationRequest, a ledger.Authorization, revision uint64, resource string) error {
	command := &ledger.Allow{Actor: v.actor(), User: v.user.ID, Request: r, Revision: revision}
	// The state belongs to the client (RFC 6749 §10.12), may contain any bytes, and
	// affects no decision: it is not logged.
	command.Request.State = ""
	command.Request.Resource = resource
	command.Request.Scope = a.Scope // as the page showed it
	if _, err := io.ReadFull(w.config.Rand, command.Grant[:]); err != nil {
		return fmt.Errorf("make a grant id: %w", err)
	}
	out, index, err := w.config.Ledger.Propose(c.r.Context(), command)
	switch {
	case err != nil:
		return fmt.Errorf("allow: %w", err)
	case out.Refusal != nil:
		return w.refused(c, v, r, out.Refusal)
	case out.Unknown || out.Issued == nil:
		return fmt.Errorf("allow: %w", oauth.ErrUnavailable)
	}
	code, err := w.config.Code(c.r.Context(), out.Issued, index)
	if err != nil {
		return fmt.Errorf("mint the code: %w", err)
	}
	w.setSession(c, v.id, index)
	return c.redirect(oauth.AuthorizationResponse{
		RedirectURI: r.RedirectURI, Code: code.Reveal(), State: r.State, Issuer: w.config.Issuer(),
	}.Location())
}

// refused handles a refused Allow: what the page showed has changed since. A fresh view
// has the current state.
func (w *Web) refused(c *request, v session, r oauth.AuthorizationRequest, refusal *ledger.Refusal) error {
	w.config.Refused(refusal.Cause)
	switch refusal.Cause {
	case ledger.TooManyGrants:
		c.cause = refusal.Cause
		return w.respond(c, r, &oauth.Error{Code: oauth.AccessDenied, Description: "The account has too many connected applications."})
	case ledger.TooManyAgentGrants:
		c.cause = refusal.Cause
		return w.respond(c, r, &oauth.Error{Code: oauth.AccessDenied, Description: "The account has too many connected agents."})
	case ledger.DocumentStale, ledger.TooManyDocuments:
		return explainAgent(refusal.Cause, "")
	case ledger.TooManyAllows:
		return tooManyAllows(max(time.Second, refusal.When.Std().Sub(w.config.Ledger.Now().Std())))
	case ledger.KeyNotOpened:
		return fmt.Errorf("allow: no key to mint with: %w", oauth.ErrUnavailable)
	}
	fresh, err := w.fresh(c.r.Context())
	if err != nil {
		return fmt.Errorf("look again: %w", err)
	}
	v.view = fresh
	w.lookupSession(c, &v)
	a, problem := fresh.Authorize(r)
	c.cause = refusal.Cause
	switch {
	case problem != nil && problem.Page:
		return explain(problem).forOwner(&v, r)
	case v.user == nil:
		w.showSignIn(c, http.StatusForbidden, v.view, signInBody{Next: r.Query(), Alert: alertSignedOut})
	case problem != nil:
		return w.respond(c, r, &problem.Error)
	default:
		w.showConsent(c, http.StatusConflict, v, r, a, noticeMoved)
	}
	return nil
}
