package ledger

import (
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// An Authorization is a valid authorization request, ready for the user's consent: the
// client is approved, the redirection URI is registered, and the requested scope exists
// and is enabled for the client.
type Authorization struct {
	Client      *Client
	RedirectURI string
	Scope       string // in the order requested, single spaces; empty when Legacy
	Legacy      bool
	Challenge   string
	Resource    *ResourceServer // whom the tokens are for; nil for the cluster's audience
}

// ResourceID returns the identifier of the resource server, "" for the cluster's audience.
func (a Authorization) ResourceID() string {
	if a.Resource == nil {
		return ""
	}
	return a.Resource.ID
}

// A Problem describes why an authorization request is refused. If Page is true, the
// redirection URI can't be trusted: the error is shown to the user and nothing is
// redirected (RFC 6749 §4.1.2.1).
type Problem struct {
	Cause Cause
	Page  bool
	Error oauth.Error
}

// Authorize checks an authorization request. It first checks what determines where the
// response goes, then the other parameters. The pages call it before they show the
// consent page; Allow calls it again to decide. With a Problem the Authorization has only
// what is known of the request: the client if it has a row, and a redirection URI that can be
// trusted.
func (v View) Authorize(r oauth.AuthorizationRequest) (Authorization, *Problem) {
	c, refused := v.clientOf(&r)
	page := func(cause Cause, code oauth.Code, text string) (Authorization, *Problem) {
		return Authorization{Client: c}, &Problem{Cause: cause, Page: true, Error: oauth.Error{Code: code, Description: text}}
	}
	switch {
	case refused != NoCause:
		return page(refused, oauth.UnauthorizedClient, "This application can not be used now.")
	case c == nil || c.State == Deleted:
		return page(UnknownClient, oauth.InvalidRequest, "There is no application with this client_id.")
	case v.usable(c) != NoCause:
		return page(v.usable(c), oauth.UnauthorizedClient, "This application can not be used now.")
	case r.RedirectURI == "":
		return page(RedirectURIMissing, oauth.InvalidRequest, "The parameter redirect_uri is missing.")
	case !c.Registered(r.RedirectURI):
		return page(RedirectURIUnregistered, oauth.InvalidRequest, "The redirect_uri is not registered for this application.")
	case v.PublisherOf(c).unlisted(r.RedirectURI):
		return page(RedirectURIUnregistered, oauth.InvalidRequest, "The redirect_uri is not listed any more.")
	case v.isOwn(r.RedirectURI):
		return page(RedirectURIUnregistered, oauth.InvalidRequest, "The redirect_uri is an address of this service, not of an application.")
	}

	redirect := func(cause Cause, code oauth.Code, text string) (Authorization, *Problem) {
		return Authorization{Client: c, RedirectURI: r.RedirectURI}, &Problem{Cause: cause, Error: oauth.Error{Code: code, Description: text}}
	}
	switch {
	case r.Fault != nil:
		return redirect(repeatedCause(r.Fault.Code), r.Fault.Code, r.Fault.Description)
	case r.ResponseType != "" && r.ResponseType != "code":
		return redirect(ResponseTypeUnsupported, oauth.UnsupportedResponseType, "The response_type must be code.")
	case r.CodeChallenge == "" && c.Public():
		return redirect(ChallengeMissing, oauth.InvalidRequest, "A public client must send a code_challenge.")
	case r.CodeChallengeMethod != "" && r.CodeChallengeMethod != "S256":
		return redirect(ChallengeMethod, oauth.InvalidRequest, "The code_challenge_method must be S256.")
	case r.CodeChallenge == "" && r.CodeChallengeMethod != "":
		return redirect(ChallengeMissing, oauth.InvalidRequest, "The parameter code_challenge is missing.")
	case r.CodeChallenge != "" && !oauth.ValidChallenge(r.CodeChallenge):
		return redirect(ChallengeMalformed, oauth.InvalidRequest, "The code_challenge must be 43 base64url characters.")
	}

	a := Authorization{Client: c, RedirectURI: r.RedirectURI, Challenge: r.CodeChallenge}
	resource, known := v.target(r.Resource)
	if !known {
		return redirect(ResourceUnknown, oauth.InvalidTarget, "The resource is not one of this service.")
	}
	a.Resource = resource
	if p := v.PublisherOf(c); p != nil {
		var cause Cause
		if a.Scope, cause = p.agentScope(r.Scope); cause != NoCause {
			text := "No scope of the request is enabled for this application."
			if cause == ScopeMissing {
				text = "The parameter scope is missing, and the publisher of the application has no default scopes."
			}
			return redirect(cause, oauth.InvalidScope, text)
		}
		if resource != nil {
			if a.Scope = resource.ScopeFor(a.Scope); a.Scope == "" {
				return redirect(ResourceScope, oauth.InvalidScope, "No scope of the request is one of the resource.")
			}
		}
		return a, nil
	}
	asked, text, err := scope.Parse(r.Scope)
	switch {
	case err != nil:
		return redirect(ScopeUnknown, oauth.InvalidScope, "A scope is unknown.")
	case asked.Empty() && c.Legacy:
		a.Legacy = true
	case asked.Empty():
		return redirect(ScopeMissing, oauth.InvalidScope, "The parameter scope is missing.")
	case !c.Legacy && !c.scopes().Contains(asked):
		return redirect(ScopeTooWide, oauth.InvalidScope, "A scope is not enabled for this application.")
	case resource != nil && resource.ScopeFor(text) != text:
		return redirect(ResourceScope, oauth.InvalidScope, "A scope is not one of the resource.")
	}
	a.Scope = text
	return a, nil
}

// repeatedCause returns the cause of a parameter that came more than once.
func repeatedCause(c oauth.Code) Cause {
	if c == oauth.InvalidTarget {
		return ResourceRepeated
	}
	return ParameterRepeated
}

// scopes returns the scopes enabled on the client. They are compared literally: ORG_X
// on a client doesn't permit a request for TEAM_X.
func (c *Client) scopes() scope.Set { return scope.FromClaim(strings.Join(c.Scopes, " ")) }
