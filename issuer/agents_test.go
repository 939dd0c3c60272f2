package issuer_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

const (
	agentID       = "https://agent.example/client"
	agentRedirect = "http://127.0.0.1:3000/cb"
	agentVerifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)

// newAgent lists a publisher, has a document noted, and returns an authorization code of the
// user for its client.
func newAgent(t *testing.T, b *issuertest.Issuer, longRetry bool) (code string) {
	s := *b.View().Settings()
	s.Agents = ledger.AgentsListed
	b.Accept(&ledger.Configure{Settings: s})
	b.Accept(&ledger.PutPublisher{
		Actor: ledger.Actor{Operator: true}, Host: "agent.example", Scopes: []string{"PROFILE_READ"}, Defaults: []string{"PROFILE_READ"}, LongRetry: longRetry,
	})
	actor := ledger.Actor{Session: digestOf("session")}
	b.Accept(&ledger.SignIn{Session: actor.Session, User: "u-alice", VerifiedHash: digestOf("hash")})
	b.Accept(&ledger.NoteDocument{Actor: actor, URL: agentID, Name: "Agent", RedirectURIs: []string{"http://127.0.0.1/cb"}, Age: 24 * time.Hour})
	challenge, _ := oauth.S256(agentVerifier)
	o := b.Accept(&ledger.Allow{
		Actor: actor, User: "u-alice", Grant: ledger.GrantID{1}, Revision: 1,
		Request: oauth.AuthorizationRequest{ClientID: agentID, RedirectURI: agentRedirect, CodeChallenge: challenge},
	})
	minted, err := b.Code(t.Context(), o.Issued, 0)
	require.NoError(t, err)
	return minted.Reveal()
}

func agentToken(t *testing.T, b *issuertest.Issuer, r oauth.TokenRequest) (oauth.TokenResponse, error) {
	if r.Client.ID == "" {
		r.Client.ID = agentID
	}
	if r.GrantType == "" {
		r.GrantType = oauth.RefreshToken
	}
	return b.Token(t.Context(), r)
}

// TestAgentTokens: the tokens have the whole client_id, and only the client_id is accepted.
func TestAgentTokens(t *testing.T) {
	b := issuertest.New(t)
	code := newAgent(t, b, false)
	exchange := oauth.TokenRequest{GrantType: oauth.AuthorizationCode, Code: code, RedirectURI: agentRedirect, CodeVerifier: agentVerifier}
	for _, other := range []string{ledger.ClientKey(agentID), agentID + "/", "https://agent.example/other", "https://agent.example/client?", "HTTPS://agent.example/client", "app"} {
		wrong := exchange
		wrong.Client.ID = other
		_, err := agentToken(t, b, wrong)
		var refused *oauth.Error
		require.ErrorAs(t, err, &refused, other)
		require.Equal(t, oauth.InvalidClient, refused.Code, other)
	}
	withSecret := exchange
	withSecret.Client = oauth.ClientCredentials{ID: agentID, Secret: "s"}
	_, err := agentToken(t, b, withSecret)
	require.Error(t, err, "a client with a document has no secret")

	r, err := agentToken(t, b, exchange)
	require.NoError(t, err)
	require.Equal(t, "PROFILE_READ", r.Scope)
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(r.AccessToken, ".")[1])
	require.NoError(t, err)
	var claims map[string]any
	require.NoError(t, json.Unmarshal(payload, &claims))
	require.Equal(t, agentID, claims["client_id"])

	r, err = agentToken(t, b, oauth.TokenRequest{RefreshToken: r.RefreshToken})
	require.NoError(t, err)
	require.NoError(t, b.Revoke(t.Context(), oauth.PresentedToken{Client: oauth.ClientCredentials{ID: agentID}, Token: r.RefreshToken}))
	_, err = agentToken(t, b, oauth.TokenRequest{RefreshToken: r.RefreshToken})
	require.Error(t, err)
}

// TestFiveProcesses share one refresh token: all get the same successor, also a while later. A
// process with a generation older than the one before ends the grant.
func TestFiveProcesses(t *testing.T) {
	b := issuertest.New(t)
	first, err := agentToken(t, b, oauth.TokenRequest{GrantType: oauth.AuthorizationCode, Code: newAgent(t, b, true), RedirectURI: agentRedirect, CodeVerifier: agentVerifier})
	require.NoError(t, err)
	token := first.RefreshToken
	for range 4 {
		var wait sync.WaitGroup
		var mu sync.Mutex // guards next
		next := map[string]int{}
		for range 5 {
			wait.Go(func() {
				r, err := agentToken(t, b, oauth.TokenRequest{RefreshToken: token})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					next[r.RefreshToken]++
				}
			})
		}
		wait.Wait()
		require.Len(t, next, 1)
		for successor, n := range next {
			require.Equal(t, 5, n)
			token = successor
		}
		require.False(t, b.View().Grant(ledger.GrantID{1}).Shared(), "the user is not warned")
	}
	_, err = agentToken(t, b, oauth.TokenRequest{RefreshToken: first.RefreshToken})
	require.Error(t, err)
	_, err = agentToken(t, b, oauth.TokenRequest{RefreshToken: token})
	require.Error(t, err)
	require.Equal(t, ledger.GrantEndedByReuse, b.View().GrantEnded(ledger.GrantID{1}))
}

// TestRegisteredClient: a client registers without a trace, and a user's Allow makes it a client
// whose tokens have its whole client_id.
func TestRegisteredClient(t *testing.T) {
	b := issuertest.New(t)
	r := oauth.Registration{Name: "Agent", RedirectURIs: []string{"http://127.0.0.1:3000/cb", "http://localhost:3000/cb"}}
	register := func(r oauth.Registration) oauth.Code {
		_, refused := b.Register(r)
		require.NotNil(t, refused)
		return refused.Code
	}
	require.Equal(t, oauth.InvalidRedirectURI, register(r), "agents are off")
	s := *b.View().Settings()
	s.Agents = ledger.AgentsReviewed
	b.Accept(&ledger.Configure{Settings: s})
	require.Equal(t, oauth.InvalidRedirectURI, register(r), "the programs of users are not listed")
	b.Accept(&ledger.PutPublisher{Actor: ledger.Actor{Operator: true}, Host: ledger.LocalPublisher, Scopes: []string{"PROFILE_READ"}, Defaults: []string{"PROFILE_READ"}})
	_, refused := b.Register(oauth.Registration{Name: "Agent"})
	require.ErrorContains(t, refused, "The member redirect_uris must have from 1 to 5 members.")
	_, refused = b.Register(oauth.Registration{Name: "Agent", RedirectURIs: []string{"http://127.0.0.1/cb", "http://a.example/cb"}})
	require.ErrorContains(t, refused, "The member redirect_uris[1] must be https; http is for localhost, 127.0.0.1 and [::1] only.")
	require.Equal(t, oauth.InvalidClientMetadata, register(oauth.Registration{Name: "Mintmark", RedirectURIs: r.RedirectURIs}))
	require.Equal(t, oauth.InvalidClientMetadata, register(oauth.Registration{Name: "Agent", RedirectURIs: []string{"http://127.0.0.1/" + strings.Repeat("x", 700)}}))
	require.Equal(t, oauth.InvalidRedirectURI, register(oauth.Registration{Name: "Agent", RedirectURIs: []string{"https://agent.example/cb"}}))

	before, clients := b.View().LastEvent().Seq, len(slices.Collect(b.View().Clients()))
	var clientID string
	for port := range 1000 {
		uri := fmt.Sprintf("http://127.0.0.1:%d/cb", 3000+port)
		one, refused := b.Register(oauth.Registration{Name: "Agent", RedirectURIs: []string{uri}})
		require.Nil(t, refused)
		require.True(t, clientID == "" || one == clientID, "copies of a program are one client")
		clientID = one
	}
	require.Equal(t, before, b.View().LastEvent().Seq, "a registration leaves no event")
	require.Len(t, slices.Collect(b.View().Clients()), clients)
	require.Nil(t, b.View().ClientNamed(clientID))
	require.Nil(t, b.Registration(t.Context(), clientID+"A"))
	require.Nil(t, b.Registration(t.Context(), "mmd_"))

	actor := ledger.Actor{Session: digestOf("session")}
	b.Accept(&ledger.SignIn{Session: actor.Session, User: "u-alice", VerifiedHash: digestOf("hash")})
	challenge, _ := oauth.S256(agentVerifier)
	o := b.Accept(&ledger.Allow{
		Actor: actor, User: "u-alice", Grant: ledger.GrantID{1}, Revision: 1,
		Request: oauth.AuthorizationRequest{ClientID: clientID, RedirectURI: agentRedirect, CodeChallenge: challenge, Registration: b.Registration(t.Context(), clientID)},
	})
	require.Less(t, len(b.View().Grant(ledger.GrantID{1}).Client), 40)
	minted, err := b.Code(t.Context(), o.Issued, 0)
	require.NoError(t, err)
	response, err := agentToken(t, b, oauth.TokenRequest{
		GrantType: oauth.AuthorizationCode, Client: oauth.ClientCredentials{ID: clientID}, Code: minted.Reveal(), RedirectURI: agentRedirect, CodeVerifier: agentVerifier,
	})
	require.NoError(t, err)
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(response.AccessToken, ".")[1])
	require.NoError(t, err)
	var claims map[string]any
	require.NoError(t, json.Unmarshal(payload, &claims))
	require.Equal(t, clientID, claims["client_id"])
	_, err = agentToken(t, b, oauth.TokenRequest{Client: oauth.ClientCredentials{ID: clientID}, RefreshToken: response.RefreshToken})
	require.NoError(t, err)
}

// TestIntrospectAfterCeilingIsLowered: the response has what the publisher may have now, also for
// a token from before.
func TestIntrospectAfterCeilingIsLowered(t *testing.T) {
	b := issuertest.New(t)
	code := newAgent(t, b, false)
	r, err := agentToken(t, b, oauth.TokenRequest{GrantType: oauth.AuthorizationCode, Code: code, RedirectURI: agentRedirect, CodeVerifier: agentVerifier})
	require.NoError(t, err)
	secret, err := b.Secret("mms_api")
	require.NoError(t, err)
	b.Accept(&ledger.PutResourceServer{Actor: ledger.Actor{Operator: true}, ID: "https://api.example", Name: "api", Secret: &secret})
	scopeUnder := func(ceiling ...string) string {
		b.Accept(&ledger.PutPublisher{Actor: ledger.Actor{Operator: true}, Host: "agent.example", Scopes: ceiling})
		a, err := b.Introspect(t.Context(), oauth.PresentedToken{Client: oauth.ClientCredentials{ID: "api", Secret: "mms_api"}, Token: r.AccessToken})
		require.NoError(t, err)
		if !a.Active {
			return "inactive"
		}
		return a.Scope
	}
	require.Equal(t, "PROFILE_READ", scopeUnder("PROFILE_READ", "BOOKING_READ"))
	require.Equal(t, "inactive", scopeUnder("BOOKING_READ"))
	require.Equal(t, "PROFILE_READ", scopeUnder("PROFILE_READ"))
}
