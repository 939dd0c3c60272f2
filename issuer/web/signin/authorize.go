package signin

import (
	"cmp"
	"errors"
	"html/template"
	"net/http"
	"regexp"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
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
func (w *Area) authorize(c *site.Request) error {
	request, bad := oauth.ParseAuthorizationRequest(c.R.URL.RawQuery)
	if bad != nil {
		w.config.Refused(ledger.RequestMalformed)
		return unreadableRequest(bad)
	}
	c.ReturnTo = continueURL(c.R.URL.RawQuery, "")
	v := w.LoadSession(c)
	w.openRegistration(c, &v, &request)
	if w.isAgent(&v, request) {
		if v.Unavailable {
			return site.ErrSessionUnavailable
		}
		if v.User != nil { // nobody unknown makes this service fetch
			if err := w.lookUp(c, &v, request); err != nil {
				c.Concerns(v.View.ClientNamed(request.ClientID))
				if f, ok := errors.AsType[*site.Failure](err); ok && f.Cause != ledger.NoCause {
					w.config.Refused(f.Cause)
				}
				return err
			}
		}
		if v.User == nil {
			w.showSignIn(c, http.StatusOK, v.View, signInBody{Next: site.EscapeQuery(c.R.URL.RawQuery)})
			return nil
		}
	}
	a, problem, err := w.examine(c, &v, &request)
	switch {
	case err != nil:
		return err
	case problem != nil && problem.Cause == ledger.PublisherIsPending && v.User != nil:
		w.config.Refused(problem.Cause)
		return w.wait(c, &v, request)
	case problem != nil && problem.Page:
		w.config.Refused(problem.Cause)
		return w.forOwner(w.explain(problem, request.ClientID, a.Client), &v, request)
	case v.Unavailable:
		return site.ErrSessionUnavailable
	case v.User == nil:
		w.showSignIn(c, http.StatusOK, v.View, signInBody{Next: site.EscapeQuery(c.R.URL.RawQuery)})
		return nil
	case problem != nil:
		w.config.Refused(problem.Cause)
		return w.respond(c, request, &problem.Error)
	}
	if cause := a.Client.Stale(w.Ledger.Now()); cause != ledger.NoCause {
		w.config.Refused(cause)
		return w.explainAgent(cause, request.ClientID, "")
	}
	w.showConsent(c, http.StatusOK, v, request, a, nil, scope.Set{})
	return nil
}

// examine checks the request on the session's view. If it is refused for a reason that a
// stale view may cause, examine checks it again on a fresh view, and opens the registration
// first if agents are accepted there.
func (w *Area) examine(c *site.Request, v *site.Session, r *oauth.AuthorizationRequest) (ledger.Authorization, *ledger.Problem, error) {
	a, problem := v.View.Authorize(*r)
	if problem != nil && mayBeStale(problem.Cause) && r.ClientID != "" {
		fresh, err := w.FreshFor(c.R.Context(), c)
		if err != nil {
			return a, nil, err
		}
		v.View = fresh
		if v.User != nil {
			w.LookupSession(c, v)
		}
		w.openRegistration(c, v, r)
		a, problem = fresh.Authorize(*r)
	}
	c.Concerns(a.Client)
	if problem != nil {
		c.Cause = problem.Cause
		code := problem.Error.Code
		if problem.Page {
			code = ""
		}
		if !c.IsHead() {
			w.recordRefusal(v, *r, code, problem.Cause)
		}
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
func (w *Area) respond(c *site.Request, r oauth.AuthorizationRequest, e *oauth.Error) error {
	return c.Redirect(w.errorLocation(r, e))
}

func (w *Area) errorLocation(r oauth.AuthorizationRequest, e *oauth.Error) string {
	return oauth.AuthorizationResponse{
		RedirectURI: r.RedirectURI, Error: e, State: r.State, Issuer: w.config.Issuer(),
	}.Location()
}

type leaveBody struct {
	Client   string
	Target   target
	Detail   detail
	Location template.URL // a registered redirect URI with the error; template.URL, since any scheme may be registered
}

// A detail is the description of an error, with the parameter that it names apart.
type detail struct{ Before, Parameter, After string }

var namesParameter = regexp.MustCompile(`^(The parameter |The |.* a )([a-z_]+)(.*)$`)

func detailOf(e *oauth.Error) detail {
	if m := namesParameter.FindStringSubmatch(e.Description); m != nil {
		return detail{m[1], m[2], m[3]}
	}
	return detail{Before: e.Description}
}

// continueTo responds to a browser that has just signed in. It redirects to the
// authorization request with the query next or, without one, to the page own. If the
// request is refused with an error for the application, continueTo shows a page that
// loads the redirect URI by itself: browsers check every redirect after a form,
// including those of the application, against the form-action of the page with the form
// (this server's sign-in page, or the provider's), and would block it.
func (w *Area) continueTo(c *site.Request, next, own string) error {
	v := site.Session{View: w.Ledger.View()}
	r, bad := oauth.ParseAuthorizationRequest(next)
	if next == "" || bad != nil {
		return c.Redirect(continueURL(next, own))
	}
	if _, problem := v.View.Authorize(r); problem == nil || problem.Page {
		return c.Redirect(continueURL(next, own))
	}
	a, problem, err := w.examine(c, &v, &r)
	switch {
	case err != nil:
		return err
	case problem == nil || problem.Page:
		return c.Redirect(continueURL(next, own))
	}
	w.config.Refused(problem.Cause)
	location := w.errorLocation(r, &problem.Error)
	c.Header().Set("Refresh", "0;url="+location)
	w.Render(c, http.StatusOK, "leave", ui.Page{Title: a.Client.Name + " couldn’t be connected", Body: leaveBody{
		Client: a.Client.Name, Target: targetOf(r.RedirectURI), Detail: detailOf(&problem.Error),
		Location: template.URL(location),
	}})
	return nil
}

// continueURL returns where a browser continues after it has signed in or out: at the
// authorization request with the query next or, without one, at the page own.
func continueURL(next, own string) string {
	if next == "" {
		return cmp.Or(own, site.PathHome)
	}
	return site.PathAuthorize + "?" + site.EscapeQuery(next)
}
