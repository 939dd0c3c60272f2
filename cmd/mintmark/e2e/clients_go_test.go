package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// xoauth2 returns a client of golang.org/x/oauth2, configured from the metadata.
func xoauth2(s *server, client, secret string, style oauth2.AuthStyle, scopes ...string) *oauth2.Config {
	var m struct {
		Authorization string `json:"authorization_endpoint"`
		Token         string `json:"token_endpoint"`
	}
	s.getJSON("/.well-known/oauth-authorization-server", &m)
	return &oauth2.Config{
		ClientID: client, ClientSecret: secret, RedirectURL: callback, Scopes: scopes,
		Endpoint: oauth2.Endpoint{AuthURL: m.Authorization, TokenURL: m.Token, AuthStyle: style},
	}
}

// obtain runs a whole authorization code flow with PKCE and state.
func obtain(t testing.TB, c *oauth2.Config) *oauth2.Token {
	t.Helper()
	verifier := oauth2.GenerateVerifier()
	to := alice(t).decide(c.AuthCodeURL("a state", oauth2.S256ChallengeOption(verifier)), "allow").Query()
	require.Equal(t, "a state", to.Get("state"))
	token, err := c.Exchange(t.Context(), to.Get("code"), oauth2.VerifierOption(verifier))
	require.NoError(t, err)
	return token
}

// TestGoClient: golang.org/x/oauth2 with a configured authentication method, and with
// automatic detection.
func TestGoClient(t *testing.T) {
	s := start(t, fixtures(""))
	for _, c := range []struct {
		name, client, secret string
		style                oauth2.AuthStyle
	}{
		{"header", "cal-app", oddSecret, oauth2.AuthStyleInHeader},
		{"parameters", "cal-app", oddSecret, oauth2.AuthStyleInParams},
		{"found out", "cal-app", oddSecret, oauth2.AuthStyleAutoDetect},
		{"public", "native-app", "", oauth2.AuthStyleInParams},
		{"public, found out", "native-app", "", oauth2.AuthStyleAutoDetect},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := xoauth2(s, c.client, c.secret, c.style, "PROFILE_READ", "BOOKING_READ")
			token := obtain(t, config)
			require.Equal(t, "Bearer", token.Type())
			require.Equal(t, "PROFILE_READ BOOKING_READ", token.Extra("scope"))
			require.WithinDuration(t, time.Now().Add(1800*time.Second), token.Expiry, 10*time.Second)
			requireMe(t, s, config.Client(t.Context(), token))

			expired := *token
			expired.Expiry = time.Now().Add(-time.Second)
			source := config.TokenSource(t.Context(), &expired)
			next, err := source.Token()
			require.NoError(t, err)
			require.NotEqual(t, token.AccessToken, next.AccessToken)
			require.NotEqual(t, token.RefreshToken, next.RefreshToken)
			same, err := source.Token()
			require.NoError(t, err)
			require.Equal(t, next.AccessToken, same.AccessToken)
			requireMe(t, s, config.Client(t.Context(), next))
		})
	}
}

func requireMe(t *testing.T, s *server, c *http.Client) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+"/v2/me", nil)
	require.NoError(t, err)
	a := send(t, c, r)
	require.Equal(t, http.StatusOK, a.Status, a.Body)
	var me struct{ Data struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(a.Body), &me))
	require.Equal(t, "u-alice", me.Data.ID)
}

// TestGoClientErrors: the errors that the client library reports.
func TestGoClientErrors(t *testing.T) {
	s := start(t, fixtures(""))
	config := xoauth2(s, "cal-app", "cal-app-secret", oauth2.AuthStyleInHeader, "PROFILE_READ")
	wrong := *config
	wrong.ClientSecret = "wrong"
	to := alice(t).decide(config.AuthCodeURL("s"), "allow").Query()
	for _, c := range []struct {
		name, code string
		exchange   func(context.Context) error
	}{
		{"a wrong secret", "invalid_client", func(ctx context.Context) error {
			_, err := wrong.Exchange(ctx, to.Get("code"))
			return err
		}},
		{"a code that nobody made", "invalid_grant", func(ctx context.Context) error {
			_, err := config.Exchange(ctx, strings.ToUpper(to.Get("code")))
			return err
		}},
		{"a refresh token that nobody made", "invalid_grant", func(ctx context.Context) error {
			_, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: "nonsense"}).Token()
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var failure *oauth2.RetrieveError
			require.ErrorAs(t, c.exchange(t.Context()), &failure)
			require.Equal(t, c.code, failure.ErrorCode)
			require.NotEmpty(t, failure.ErrorDescription)
			require.NotContains(t, failure.ErrorDescription, to.Get("code"))
		})
	}
	_, err := config.Exchange(t.Context(), to.Get("code"))
	require.NoError(t, err, "no failure above has used the code")
	refused := alice(t).decide(config.AuthCodeURL("s"), "cancel").Query()
	require.Equal(t, "access_denied", refused.Get("error"))
	require.Empty(t, refused.Get("code"))
}
