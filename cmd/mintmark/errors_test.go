package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestErrorTable has each row of the error table, and after each the
// credential that was shown still works: a refusal burns nothing.
func TestErrorTable(t *testing.T) {
	ts := newTestServer(t)
	other := ts.tokens("other-app")
	for name, row := range map[string]struct {
		change func(pairs map[string]string) // of a good exchange
		basic  string                        // Authorization
		status int
		code   string
	}{
		"unknown client":        {func(p map[string]string) { p["client_id"] = "nobody" }, "", 401, "invalid_client"},
		"wrong secret":          {func(p map[string]string) { p["client_secret"] = "wrong" }, "", 401, "invalid_client"},
		"wrong secret by Basic": {func(p map[string]string) { delete(p, "client_secret") }, basicAuth("cal-app", "wrong"), 401, "invalid_client"},
		"missing secret":        {func(p map[string]string) { delete(p, "client_secret") }, "", 401, "invalid_client"},
		"revoked secret":        {func(p map[string]string) { p["client_secret"] = "old-secret" }, "", 401, "invalid_client"},
		"public client, secret": {func(p map[string]string) { p["client_id"], p["client_secret"] = "native-app", "x" }, "", 401, "invalid_client"},
		"pending client":        {func(p map[string]string) { p["client_id"], p["client_secret"] = "pending-app", "pending-app-secret" }, "", 400, "unauthorized_client"},
		"rejected client":       {func(p map[string]string) { p["client_id"], p["client_secret"] = "rejected-app", "rejected-app-secret" }, "", 400, "unauthorized_client"},
		"suspended client": {func(p map[string]string) {
			p["client_id"], p["client_secret"] = "suspended-app", "suspended-app-secret"
		}, "", 400, "unauthorized_client"},
		"pending, wrong secret":   {func(p map[string]string) { p["client_id"], p["client_secret"] = "pending-app", "wrong" }, "", 401, "invalid_client"},
		"another client's code":   {func(p map[string]string) { p["client_id"], p["client_secret"] = "other-app", "other-app-secret" }, "", 400, "invalid_grant"},
		"bad code":                {func(p map[string]string) { p["code"] = "nonsense" }, "", 400, "invalid_grant"},
		"a refresh token as code": {func(p map[string]string) { p["code"] = other.Refresh }, "", 400, "invalid_grant"},
		"redirect_uri mismatch":   {func(p map[string]string) { p["redirect_uri"] = "https://cal.example/callback" }, "", 400, "invalid_grant"},
		"wrong verifier":          {func(p map[string]string) { p["code_verifier"] = strings.Repeat("w", 43) }, "", 400, "invalid_grant"},
		"short verifier":          {func(p map[string]string) { p["code_verifier"] = "short" }, "", 400, "invalid_grant"},
		"missing verifier":        {func(p map[string]string) { delete(p, "code_verifier") }, "", 400, "invalid_grant"},
		"missing code":            {func(p map[string]string) { delete(p, "code") }, "", 400, "invalid_request"},
		"missing redirect_uri":    {func(p map[string]string) { delete(p, "redirect_uri") }, "", 400, "invalid_request"},
		"missing grant_type":      {func(p map[string]string) { delete(p, "grant_type") }, "", 400, "invalid_request"},
		"missing client_id":       {func(p map[string]string) { delete(p, "client_id") }, "", 400, "invalid_request"},
		"two ways":                {func(map[string]string) {}, basicAuth("cal-app", "cal-app-secret"), 400, "invalid_request"},
		"two clients":             {func(p map[string]string) { delete(p, "client_secret"); p["client_id"] = "other-app" }, basicAuth("cal-app", "cal-app-secret"), 400, "invalid_request"},
		"another grant_type":      {func(p map[string]string) { p["grant_type"] = "password" }, "", 400, "unsupported_grant_type"},
		"Basic that is none":      {func(p map[string]string) { delete(p, "client_secret") }, "Basic x", 401, "invalid_client"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			code := ts.code("cal-app", "code_challenge", challenge(verifierText))
			good := func() map[string]string {
				return map[string]string{
					"grant_type": "authorization_code", "client_id": "cal-app", "client_secret": "cal-app-secret",
					"code": code, "redirect_uri": callback, "code_verifier": verifierText,
				}
			}
			send := func(p map[string]string, authorization string) answer {
				var pairs []string
				for name, value := range p {
					pairs = append(pairs, name, value)
				}
				headers := []string{"Content-Type", "application/x-www-form-urlencoded"}
				if authorization != "" {
					headers = append(headers, "Authorization", authorization)
				}
				return ts.request(http.MethodPost, oauth.PathToken, encode(pairs...), headers...)
			}
			p := good()
			row.change(p)
			a := send(p, row.basic)
			require.Equal(t, row.status, a.Status, a.Body)
			m := a.json(t)
			require.Equal(t, row.code, m["error"])
			require.NotEmpty(t, m["error_description"])
			require.Len(t, m["error_id"], 148, "of one length, so that it tells nothing by itself")
			require.Len(t, m, 3)
			require.Equal(t, "application/json", a.Header.Get("Content-Type"))
			require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
			require.Equal(t, row.status == 401 && row.basic != "", a.Header.Get("WWW-Authenticate") != "")

			tokensOf(t, send(good(), "")) // nothing was burnt
		})
	}
}

// TestOneTextForClientAuthentication: a stranger can't tell which clients
// there are, nor which secrets there were.
func TestOneTextForClientAuthentication(t *testing.T) {
	ts := newTestServer(t)
	texts := map[any]bool{}
	for _, pair := range [][2]string{{"nobody", "x"}, {"cal-app", "x"}, {"cal-app", "old-secret"}, {"cal-app", ""}, {"native-app", "x"}, {"pending-app", "x"}} {
		m := ts.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", pair[0], "client_secret", pair[1]).json(t)
		require.Equal(t, "invalid_client", m["error"], pair)
		texts[m["error_description"]] = true
	}
	require.Len(t, texts, 1)
}
