package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestAuthorize covers RFC 6749 §4.1.2.1 and RFC 7636 §4.4.1. Errors of the client and of
// the redirection URI are shown on a page, all others are sent to the client.
func TestAuthorize(t *testing.T) {
	w := newGrantEnv(t)
	w.run("import legacy owner=alice secrets=s1 legacy")
	w.run("import gone owner=alice secrets=s1 scopes=PROFILE_READ")
	require.Equal(t, "ok", w.run("delete gone"))
	challenge := challengeOf(strings.Repeat("a", 43))
	good := oauth.AuthorizationRequest{ClientID: "cal", RedirectURI: "https://app.example/cb", Scope: "PROFILE_READ"}
	native := oauth.AuthorizationRequest{
		ClientID: "native", RedirectURI: "http://127.0.0.1:5555/cb", Scope: "PROFILE_READ",
		CodeChallenge: challenge, CodeChallengeMethod: "S256",
	}
	with := func(r oauth.AuthorizationRequest, change func(*oauth.AuthorizationRequest)) oauth.AuthorizationRequest {
		change(&r)
		return r
	}
	for name, c := range map[string]struct {
		request oauth.AuthorizationRequest
		cause   ledger.Cause // NoCause if the request is valid
		page    bool
	}{
		"good":                 {good, ledger.NoCause, false},
		"a response type":      {with(good, func(r *oauth.AuthorizationRequest) { r.ResponseType = "code" }), ledger.NoCause, false},
		"a challenge":          {with(good, func(r *oauth.AuthorizationRequest) { r.CodeChallenge = challenge }), ledger.NoCause, false},
		"a public client":      {native, ledger.NoCause, false},
		"the method left out":  {with(native, func(r *oauth.AuthorizationRequest) { r.CodeChallengeMethod = "" }), ledger.NoCause, false},
		"no such client":       {with(good, func(r *oauth.AuthorizationRequest) { r.ClientID = "nobody" }), ledger.UnknownClient, true},
		"no client":            {with(good, func(r *oauth.AuthorizationRequest) { r.ClientID = "" }), ledger.UnknownClient, true},
		"a deleted client":     {with(good, func(r *oauth.AuthorizationRequest) { r.ClientID = "gone" }), ledger.UnknownClient, true},
		"a suspended client":   {with(good, func(r *oauth.AuthorizationRequest) { r.ClientID = "stopped" }), ledger.ClientSuspended, true},
		"no redirect_uri":      {with(good, func(r *oauth.AuthorizationRequest) { r.RedirectURI = "" }), ledger.RedirectURIMissing, true},
		"another redirect_uri": {with(good, func(r *oauth.AuthorizationRequest) { r.RedirectURI += "/" }), ledger.RedirectURIUnregistered, true},
		"a repeated parameter": {with(good, func(r *oauth.AuthorizationRequest) { r.Fault = &oauth.Error{Code: oauth.InvalidRequest} }), ledger.ParameterRepeated, false},
		"a repeated resource":  {with(good, func(r *oauth.AuthorizationRequest) { r.Fault = &oauth.Error{Code: oauth.InvalidTarget} }), ledger.ResourceRepeated, false},
		"token":                {with(good, func(r *oauth.AuthorizationRequest) { r.ResponseType = "token" }), ledger.ResponseTypeUnsupported, false},
		"no challenge": {
			with(native, func(r *oauth.AuthorizationRequest) { r.CodeChallenge, r.CodeChallengeMethod = "", "" }),
			ledger.ChallengeMissing, false,
		},
		"plain": {with(native, func(r *oauth.AuthorizationRequest) { r.CodeChallengeMethod = "plain" }), ledger.ChallengeMethod, false},
		"a method without a challenge": {
			with(good, func(r *oauth.AuthorizationRequest) { r.CodeChallengeMethod = "S256" }),
			ledger.ChallengeMissing, false,
		},
		"a short challenge": {with(native, func(r *oauth.AuthorizationRequest) { r.CodeChallenge = "short" }), ledger.ChallengeMalformed, false},
		"an unknown scope":  {with(good, func(r *oauth.AuthorizationRequest) { r.Scope = "WHATEVER" }), ledger.ScopeUnknown, false},
		"no scope":          {with(good, func(r *oauth.AuthorizationRequest) { r.Scope = "" }), ledger.ScopeMissing, false},
		"a scope too many":  {with(good, func(r *oauth.AuthorizationRequest) { r.Scope = "ORG_PROFILE_READ" }), ledger.ScopeTooWide, false},
		"a legacy client":   {with(good, func(r *oauth.AuthorizationRequest) { r.ClientID, r.Scope = "legacy", "" }), ledger.NoCause, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, problem := w.view().Authorize(c.request)
			if c.cause == ledger.NoCause {
				require.Nil(t, problem)
				require.Equal(t, c.request.RedirectURI, a.RedirectURI)
				require.Equal(t, c.request.Scope == "", a.Legacy)
				return
			}
			require.NotNil(t, problem)
			require.Equal(t, c.cause, problem.Cause)
			require.Equal(t, c.page, problem.Page)
			require.Equal(t, w.view().Client(c.request.ClientID), a.Client)
			require.Equal(t, c.page, a.RedirectURI == "")
		})
	}
}

// TestAuthorizeAgent verifies that a client with a document gets those scopes of its request that
// its publisher and the resource server both permit, and what it is told if there is none.
func TestAuthorizeAgent(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{
		"settings agents=listed", "put-publisher local scopes=BOOKING_READ,SCHEDULE_READ",
		"put-resource mcp uri=https://mcp.example scopes=BOOKING_READ,PROFILE_READ", "put-resource files uri=https://files.example scopes=PROFILE_READ",
	} {
		require.Equal(t, "ok", w.run(line), line)
	}
	for name, test := range map[string]struct {
		scope, resource string
		granted         string // "" if the request is refused
		cause           ledger.Cause
		text            string
	}{
		"for this service":      {"BOOKING_READ SCHEDULE_READ PROFILE_READ BOOKING_READ", "", "BOOKING_READ SCHEDULE_READ", ledger.NoCause, ""},
		"for a resource server": {"BOOKING_READ SCHEDULE_READ PROFILE_READ", "https://mcp.example", "BOOKING_READ", ledger.NoCause, ""},
		"none of the resource":  {"BOOKING_READ SCHEDULE_READ PROFILE_READ", "https://files.example", "", ledger.ResourceScope, "one of the resource"},
		"none of the publisher": {"PROFILE_READ", "", "", ledger.ScopeTooWide, "No scope of the request is enabled"},
		"none requested":        {"", "", "", ledger.ScopeMissing, "has no default scopes"},
	} {
		t.Run(name, func(t *testing.T) {
			a, problem := w.view().Authorize(oauth.AuthorizationRequest{
				ClientID: "mmd_0", RedirectURI: "http://127.0.0.1/cb", Scope: test.scope, Resource: test.resource, CodeChallenge: challengeOf("v"),
				Registration: &oauth.Registration{Name: "Agent", RedirectURIs: []string{"http://127.0.0.1/cb"}},
			})
			require.Equal(t, test.cause != ledger.NoCause, problem != nil)
			if problem != nil {
				require.Equal(t, test.cause, problem.Cause)
				require.Contains(t, problem.Error.Description, test.text)
				return
			}
			require.Equal(t, test.granted, a.Scope)
			require.Equal(t, test.resource, a.ResourceID())
		})
	}
}

// TestAllowIsTheUsers verifies that only the user whom the page named can allow, with one
// of their own sessions, and that no operator can.
func TestAllowIsTheUsers(t *testing.T) {
	w := newGrantEnv(t)
	w.run("user bob")
	w.run("sign-in bob")
	allow := func(actor ledger.Actor, grant string) *ledger.Refusal {
		o, _ := w.do(&ledger.Allow{
			Actor: actor, User: "u-alice", Grant: id16(grant), Revision: w.view().Client("cal").Revision,
			Request: oauth.AuthorizationRequest{ClientID: "cal", RedirectURI: "https://app.example/cb", Scope: "PROFILE_READ"},
		}, "", false)
		return o.Refusal
	}
	alice := ledger.Actor{Session: sessionOf("alice")}
	require.Equal(t, ledger.NotAllowed, allow(ledger.Actor{Session: sessionOf("bob")}, "h").Cause)
	require.Equal(t, ledger.NotAllowed, allow(ledger.Actor{Operator: true}, "h").Cause)
	require.Equal(t, ledger.NotSignedIn, allow(ledger.Actor{Session: sessionOf("nobody")}, "h").Cause)
	require.Equal(t, ledger.AlreadyExists, allow(alice, "g").Cause, "the id of another grant")
	require.Nil(t, allow(alice, "h"))
}

// TestRevokeIsTheUsers verifies that a grant can be ended by its user, an administrator or
// an operator, and that others can't learn whether it exists.
func TestRevokeIsTheUsers(t *testing.T) {
	for _, by := range []string{"alice", "root", ""} {
		w := newGrantEnv(t)
		for _, line := range []string{"user bob", "sign-in bob", "user root admin", "sign-in root"} {
			require.Equal(t, "ok", w.run(line))
		}
		run := func(c command.Command) (o ledger.Outcome) {
			o, _ = w.do(c, "", false)
			return o
		}
		actor := ledger.Actor{Session: sessionOf(by)}
		if by == "" {
			actor = ledger.Actor{Operator: true}
		}
		bob, nobody := ledger.Actor{Session: sessionOf("bob")}, ledger.Actor{Session: sessionOf("nobody")}
		g := ledger.GrantID(id16("g"))

		require.Equal(t, ledger.NotFound, run(&ledger.RevokeGrant{Actor: bob, Grant: g}).Refusal.Cause)
		require.Equal(t, ledger.NotSignedIn, run(&ledger.RevokeGrant{Actor: nobody, Grant: g}).Refusal.Cause)
		require.Equal(t, ledger.NotFound, run(&ledger.RevokeGrant{Actor: actor, Grant: id16("unknown")}).Refusal.Cause)
		require.Equal(t, ledger.NotFound, run(&ledger.Disconnect{Actor: bob, User: "u-alice", Client: "cal"}).Refusal.Cause)
		require.Equal(t, ledger.NotSignedIn, run(&ledger.Disconnect{Actor: nobody, User: "u-alice", Client: "cal"}).Refusal.Cause)
		require.Equal(t, ledger.NotFound, run(&ledger.Disconnect{Actor: actor, User: "u-alice", Client: "unknown"}).Refusal.Cause)
		if by != "alice" {
			require.Equal(t, ledger.NotFound, run(&ledger.Disconnect{Actor: actor, User: "unknown", Client: "cal"}).Refusal.Cause)
		}
		changed := func(c command.Command) bool {
			_, wrote := w.do(c, "", false)
			return wrote
		}
		require.False(t, changed(&ledger.Disconnect{Actor: actor, User: "u-alice", Client: "other"}), "the client has no grant")
		require.Zero(t, w.view().Grant(g).Ended)
		w.run("allow alice client=cal scope=PROFILE_READ grant=h")
		require.Equal(t, 1, run(&ledger.RevokeGrant{Actor: actor, Grant: g}).Count)
		require.Zero(t, run(&ledger.RevokeGrant{Actor: actor, Grant: g}).Count, "the grant has ended already")
		require.True(t, changed(&ledger.Disconnect{Actor: actor, User: "u-alice"}), "the second grant is live")
		require.Equal(t, ledger.GrantEnded, w.view().GrantEnded(id16("h")))
		require.False(t, changed(&ledger.Disconnect{Actor: actor, User: "u-alice"}), "no grant is left")
	}
}

// TestTraffic verifies which authorizations of a legacy client are counted, by day, and for
// how long.
func TestTraffic(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{"user alice", "import old owner=alice legacy", "import app owner=alice scopes=PROFILE_READ"} {
		require.Equal(t, "ok", w.run(line), line)
	}
	n := 0
	allow := func(client, scope string) {
		n++
		session := fmt.Sprint("s", n)
		require.Equal(t, "ok", w.run("sign-in alice session="+session))
		require.Contains(t, w.run(fmt.Sprintf("allow %s user=alice client=%s scope=%s grant=g%d", session, client, scope, n)), "issued")
	}
	traffic := func() string {
		c := w.view().Client("old")
		without, with := c.RecentTraffic(w.at())
		return fmt.Sprintf("%d days, %d without, %d with, %v", len(c.Traffic), without, with, c.RequestedScopes)
	}
	allow("app", "PROFILE_READ")
	require.Empty(t, w.view().Client("app").Traffic, "only of a legacy client")
	allow("old", "")
	require.Equal(t, "legacy", w.view().LastEvent().Detail)
	allow("old", "")
	require.Equal(t, "1 days, 2 without, 0 with, []", traffic())
	allow("old", "PROFILE_READ")
	require.Equal(t, "PROFILE_READ", w.view().LastEvent().Detail)
	allow("old", "PROFILE_READ,BOOKING_READ")
	require.Equal(t, "1 days, 2 without, 2 with, [PROFILE_READ BOOKING_READ]", traffic())
	w.run("now +24h")
	allow("old", "")
	require.Equal(t, "2 days, 3 without, 2 with, [PROFILE_READ BOOKING_READ]", traffic())
	w.run("now +672h") // the first day was 29 days ago
	require.Equal(t, "2 days, 3 without, 2 with, [PROFILE_READ BOOKING_READ]", traffic())
	w.run("now +24h")
	require.Equal(t, "2 days, 1 without, 0 with, [PROFILE_READ BOOKING_READ]", traffic())
	allow("old", "")
	require.Equal(t, "2 days, 2 without, 0 with, [PROFILE_READ BOOKING_READ]", traffic(), "the first day is removed")
}
