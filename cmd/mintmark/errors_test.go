package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// oneText is the description of each code whose cause the public is not told.
var oneText = map[string]string{
	"invalid_client":      "Client authentication failed.",
	"unauthorized_client": "The client can not be used now.",
	"invalid_grant":       "The code or refresh token is not valid for this request.",
}

var errorID = regexp.MustCompile(`"error_id":"mme_[A-Za-z0-9_-]{144}"`)

// exactError compares a refusal byte by byte, but for its error_id: that is
// of one length, so that it tells nothing by itself.
func exactError(t testing.TB, a answer, code, text string) {
	t.Helper()
	require.Equal(t, `{"error":"`+code+`","error_description":"`+text+`","error_id":"…"}`, errorID.ReplaceAllString(a.Body, `"error_id":"…"`))
	uncached(t, a)
}

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
		text   string // where it isn't the one text of the code
	}{
		"unknown client":        {func(p map[string]string) { p["client_id"] = "nobody" }, "", 401, "invalid_client", ""},
		"wrong secret":          {func(p map[string]string) { p["client_secret"] = "wrong" }, "", 401, "invalid_client", ""},
		"wrong secret by Basic": {func(p map[string]string) { delete(p, "client_secret") }, basicAuth("cal-app", "wrong"), 401, "invalid_client", ""},
		"missing secret":        {func(p map[string]string) { delete(p, "client_secret") }, "", 401, "invalid_client", ""},
		"revoked secret":        {func(p map[string]string) { p["client_secret"] = "old-secret" }, "", 401, "invalid_client", ""},
		"public client, secret": {func(p map[string]string) { p["client_id"], p["client_secret"] = "native-app", "x" }, "", 401, "invalid_client", ""},
		"pending client":        {func(p map[string]string) { p["client_id"], p["client_secret"] = "pending-app", "pending-app-secret" }, "", 400, "unauthorized_client", ""},
		"rejected client":       {func(p map[string]string) { p["client_id"], p["client_secret"] = "rejected-app", "rejected-app-secret" }, "", 400, "unauthorized_client", ""},
		"suspended client": {func(p map[string]string) {
			p["client_id"], p["client_secret"] = "suspended-app", "suspended-app-secret"
		}, "", 400, "unauthorized_client", ""},
		"pending, wrong secret":   {func(p map[string]string) { p["client_id"], p["client_secret"] = "pending-app", "wrong" }, "", 401, "invalid_client", ""},
		"another client's code":   {func(p map[string]string) { p["client_id"], p["client_secret"] = "other-app", "other-app-secret" }, "", 400, "invalid_grant", ""},
		"bad code":                {func(p map[string]string) { p["code"] = "nonsense" }, "", 400, "invalid_grant", ""},
		"a refresh token as code": {func(p map[string]string) { p["code"] = other.Refresh }, "", 400, "invalid_grant", ""},
		"redirect_uri mismatch":   {func(p map[string]string) { p["redirect_uri"] = "https://cal.example/callback" }, "", 400, "invalid_grant", ""},
		"wrong verifier":          {func(p map[string]string) { p["code_verifier"] = strings.Repeat("w", 43) }, "", 400, "invalid_grant", ""},
		"short verifier":          {func(p map[string]string) { p["code_verifier"] = "short" }, "", 400, "invalid_grant", ""},
		"missing verifier":        {func(p map[string]string) { delete(p, "code_verifier") }, "", 400, "invalid_grant", ""},
		"missing code":            {func(p map[string]string) { delete(p, "code") }, "", 400, "invalid_request", "The parameter code is missing."},
		"missing redirect_uri":    {func(p map[string]string) { delete(p, "redirect_uri") }, "", 400, "invalid_request", "The parameter redirect_uri is missing."},
		"missing grant_type":      {func(p map[string]string) { delete(p, "grant_type") }, "", 400, "invalid_request", "The parameter grant_type is missing."},
		"missing client_id":       {func(p map[string]string) { delete(p, "client_id") }, "", 400, "invalid_request", "The parameter client_id is missing."},
		"two ways":                {func(map[string]string) {}, basicAuth("cal-app", "cal-app-secret"), 400, "invalid_request", "The client authenticated in two ways."},
		"two clients":             {func(p map[string]string) { delete(p, "client_secret"); p["client_id"] = "other-app" }, basicAuth("cal-app", "cal-app-secret"), 400, "invalid_request", "The parameter client_id differs from the Authorization header."},
		"another grant_type":      {func(p map[string]string) { p["grant_type"] = "password" }, "", 400, "unsupported_grant_type", "The grant types are authorization_code and refresh_token."},
		"Basic that is none":      {func(p map[string]string) { delete(p, "client_secret") }, "Basic x", 401, "invalid_client", ""},
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
			text := row.text
			if text == "" {
				text = oneText[row.code]
			}
			exactError(t, a, row.code, text)
			var challenges []string
			if row.status == 401 && row.basic != "" {
				challenges = []string{`Basic realm="token", charset="UTF-8"`}
			}
			require.Equal(t, challenges, a.Header.Values("WWW-Authenticate"))
			require.Empty(t, a.Header.Values("Retry-After"))

			tokensOf(t, send(good(), "")) // nothing was burnt
		})
	}
}

// TestErrorTableOfTheServer has the rows that no parameter decides: how the
// request came, how often, and whether anybody can decide.
func TestErrorTableOfTheServer(t *testing.T) {
	ts := newTestServer(t)
	held := ts.tokens("cal-app")
	t.Run("not_a_POST", func(t *testing.T) {
		a := ts.request("GET", oauth.PathToken, "")
		require.Equal(t, 405, a.Status)
		require.Equal(t, "OPTIONS, POST", a.Header.Get("Allow"))
		require.Equal(t, `{"error":"invalid_request","error_description":"The path does not have this method; see the header Allow."}`, a.Body)
		uncached(t, a)
	})
	t.Run("OPTIONS", func(t *testing.T) {
		a := ts.request("OPTIONS", oauth.PathToken, "")
		require.Equal(t, 204, a.Status)
		require.Equal(t, "POST, OPTIONS", a.Header.Get("Allow"))
		require.Empty(t, a.Body)
	})
	t.Run("unreadable_body", func(t *testing.T) {
		a := ts.request("POST", oauth.PathToken, "{", "Content-Type", "application/json")
		require.Equal(t, 400, a.Status)
		exactError(t, a, "invalid_request", "The body can not be read as its Content-Type says.")
	})
	t.Run("repeated_parameter", func(t *testing.T) {
		a := ts.refresh("cal-app", held.Refresh, "client_id", "cal-app")
		require.Equal(t, 400, a.Status)
		exactError(t, a, "invalid_request", "A parameter came more than once.")
	})
	t.Run("body_over_64_KiB", func(t *testing.T) {
		a := ts.refresh("cal-app", held.Refresh, "x", strings.Repeat("x", oauth.MaxBody))
		require.Equal(t, 413, a.Status)
		exactError(t, a, "invalid_request", "The body is longer than 64 KiB.")
	})
	t.Run("wider_scope", func(t *testing.T) {
		a := ts.refresh("cal-app", held.Refresh, "scope", "SCHEDULE_READ")
		require.Equal(t, 400, a.Status)
		exactError(t, a, "invalid_scope", "The scope is unknown, or wider than what was granted.")
	})
	t.Run("too_many_failures", func(t *testing.T) {
		garbage := []string{"grant_type", "refresh_token", "refresh_token", "x", "client_id", "cal-app", "client_secret", generatedSecret}
		a := ts.form(garbage...)
		for n := 0; a.Status != 429 && n < 2000; n++ {
			exactError(t, a, "invalid_grant", oneText["invalid_grant"])
			a = ts.form(garbage...)
		}
		require.Equal(t, 429, a.Status)
		exactError(t, a, "temporarily_unavailable", "There were too many failures. Wait before the next try.")
		require.Equal(t, "1", a.Header.Get("Retry-After"))
		require.Empty(t, a.Header.Values("WWW-Authenticate"))
	})
	held = tokensOf(t, ts.refresh("cal-app", held.Refresh)) // nothing was burnt, and nobody is locked out

	require.NoError(t, ts.s.Node.Close(t.Context()))
	t.Run("no_leader", func(t *testing.T) {
		began := time.Now()
		a := ts.refresh("cal-app", held.Refresh)
		require.Less(t, time.Since(began), 4*time.Second, "1 s is ours, 5 s what was proposed may take; the rest is a loaded machine's")
		unavailable(t, a)
		exactError(t, a, "temporarily_unavailable", "The server can not decide now. Try again.")
	})
}

// TestOneTextForClientAuthentication: a stranger can't tell which clients
// there are, nor which secrets there were.
func TestOneTextForClientAuthentication(t *testing.T) {
	ts := newTestServer(t)
	texts := map[any]bool{}
	for _, pair := range [][2]string{{"nobody", "x"}, {"cal-app", "x"}, {"cal-app", "old-secret"}, {"cal-app", ""}, {"native-app", "x"}, {"pending-app", "x"}} {
		m := ts.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", pair[0], "client_secret", pair[1]).JSON(t)
		require.Equal(t, "invalid_client", m["error"], pair)
		texts[m["error_description"]] = true
	}
	require.Len(t, texts, 1)
}
