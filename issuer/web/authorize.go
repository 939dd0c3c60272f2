package web

import (
	"cmp"
	"errors"
	"html/template"
	"net/http"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// authorize handles the authorization step (RFC 6749 §4.1.1). The order matters:
//
//  1. A request that can't be parsed, or names no registered client and redirect URI, gets a page, never a
//     redirect (RFC 6749 §4.1.2.1).
//  2. If nobody is signed in, the sign-in page is shown. Nothing redirects before, errors included, so that this
//     server is not an open redirector (RFC 9700 §4.11.2).
//     The metadata document of a client is fetched only for a signed-in user.
//  3. Any other error is redirected to the client.
//  4. The consent page is shown, also to a user who has allowed the same before.
func (w *Web) authorize(c *request) error {
	request, bad := oauth.ParseAuthorizationRequest(c.r.URL.RawQuery)
	if bad != nil {
		w.config.Refused(ledger.RequestMalformed)
		return unreadableRequest(bad)
	}
	v := w.loadSession(c)
	w.openRegistration(c, &v, &request)
	if w.isAgent(&v, request) {
		if v.unavailable {
			return errSessionUnavailable
		}
		if v.user != nil { // nobody unknown makes this service fetch
			if err := w.lookUp(c, &v, request); err != nil {
				c.concerns(v.view.ClientNamed(request.ClientID))
				if f, ok := errors.AsType[*failure](err); ok {
					w.config.Refused(f.cause)
				}
				return err
			}
		}
		if v.user == nil {
			w.showSignIn(c, http.StatusOK, v.view, signInBody{Next: escapeQuery(c.r.URL.RawQuery)})
			return nil
		}
	}
	a, problem, err := w.examine(c, &v, &request)
	switch {
	case err != nil:
		return err
	case problem != nil && problem.Cause == ledger.PublisherIsPending && v.user != nil:
		w.config.Refused(problem.Cause)
		return w.wait(c, &v, request)
	case problem != nil && problem.Page:
		w.config.Refused(problem.Cause)
		return explain(problem).forOwner(&v, request)
	case v.unavailable:
		return errSessionUnavailable
	case v.user == nil:
		w.showSignIn(c, http.StatusOK, v.view, signInBody{Next: escapeQuery(c.r.URL.RawQuery)})
		return nil
	case problem != nil:
		w.config.Refused(problem.Cause)
		return w.respond(c, request, &problem.Error)
	}
	if cause := a.Client.Stale(w.config.Ledger.Now()); cause != ledger.NoCause {
		w.config.Refused(cause)
		return explainAgent(cause, "")
	}
	w.showConsent(c, http.StatusOK, v, request, a, "")
	return nil
}

// examine checks the request on the session's view. If it is refused for a reason that a
// stale view may cause, examine checks it again on a fresh view, and opens the registration
// first if agents are accepted there.
func (w *Web) examine(c *request, v *session, r *oauth.AuthorizationRequest) (ledger.Authorization, *ledger.Problem, error) {
	a, problem := v.view.Authorize(*r)
	if problem != nil && mayBeStale(problem.Cause) && r.ClientID != "" {
		fresh, err := w.freshFor(c.r.Context(), c)
		if err != nil {
			return a, nil, err
		}
		v.view = fresh
		if v.user != nil {
			w.lookupSession(c, v)
		}
		w.openRegistration(c, v, r)
		a, problem = fresh.Authorize(*r)
	}
	c.concerns(a.Client)
	if problem != nil {
		c.cause = problem.Cause
		w.recordRefusal(v, *r, problem.Cause)
	}
	return a, problem, nil
}

// mayBeStale reports whether a refusal depends on the row of a client or resource server.
func mayBeStale(c ledger.Cause) bool {
	switch c {
	case ledger.UnknownClient, ledger.ClientPending, ledger.ClientRejected, ledger.ClientSuspended,
		ledger.RedirectURIUnregistered, ledger.ScopeTooWide, ledger.ScopeMissing,
		ledger.ResourceUnknown, ledger.ResourceScope,
		ledger.AgentsAreOff, ledger.PublisherUnlisted, ledger.PublisherIsPending, ledger.PublisherIsRejected,
		ledger.RegistrationRefused:
		return true
	}
	return false
}

// respond redirects an error to the client (RFC 6749 §4.1.2.1).
func (w *Web) respond(c *request, r oauth.AuthorizationRequest, e *oauth.Error) error {
	return c.redirect(w.errorLocation(r, e))
}

func (w *Web) errorLocation(r oauth.AuthorizationRequest, e *oauth.Error) string {
	return oauth.AuthorizationResponse{
		RedirectURI: r.RedirectURI, Error: e, State: r.State, Issuer: w.config.Issuer(),
	}.Location()
}

type leaveBody struct {
	Client   string
	Target   target
	Detail   string
	Location template.URL // a registered redirect URI with the error; template.URL, since any scheme may be registered
}

// continueTo responds to a browser that has just signed in. It redirects to the
// authorization request with the query next or, without one, to the page own. If the
// request is refused with an error for the application, continueTo shows a page that
// loads the redirect URI by itself: browsers check every redirect after a form,
// including those of the application, against the form-action of the page with the form
// (this server's sign-in page, or the provider's), and would block it.
func (w *Web) continueTo(c *request, next, own string) error {
	v := session{view: w.config.Ledger.View()}
	r, bad := oauth.ParseAuthorizationRequest(next)
	if next == "" || bad != nil {
		return c.redirect(continueURL(next, own))
	}
	if _, problem := v.view.Authorize(r); problem == nil || problem.Page {
		return c.redirect(continueURL(next, own))
	}
	a, problem, err := w.examine(c, &v, &r)
	switch {
	case err != nil:
		return err
	case problem == nil || problem.Page:
		return c.redirect(continueURL(next, own))
	}
	w.config.Refused(problem.Cause)
	location := w.errorLocation(r, &problem.Error)
	c.Header().Set("Refresh", "0;url="+location)
	w.render(c, http.StatusOK, "leave", ui.Page{Title: "Back to the application", Body: leaveBody{
		Client: a.Client.Name, Target: targetOf(r.RedirectURI), Detail: problem.Error.Description,
		Location: template.URL(location),
	}})
	return nil
}

// escapeQuery returns a query in a form that is valid in a header, by percent-encoding
// other characters, so that it is parsed to the same request. It keeps errors of the
// original query, which encoding the parsed request would lose.
func escapeQuery(query string) string {
	clean := func(b byte) bool { return b > ' ' && b < 0x7f && b != '#' }
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(query) {
		if clean(query[i]) {
			b.WriteByte(query[i])
		} else {
			b.Write([]byte{'%', hex[query[i]>>4], hex[query[i]&15]})
		}
	}
	return b.String()
}

// continueURL returns where a browser continues after it has signed in or out: at the
// authorization request with the query next or, without one, at the page own.
func continueURL(next, own string) string {
	if next == "" {
		return cmp.Or(own, pathHome)
	}
	return pathAuthorize + "?" + escapeQuery(next)
}
