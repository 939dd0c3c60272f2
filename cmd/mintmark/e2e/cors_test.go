package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// A fetched is the result of a request that a script sent.
type fetched struct {
	Blocked bool // the browser gives the script no answer
	Type    string
	Status  int
	Body    string
}

// fetch has a script of the page send a request. options are JavaScript.
func (b *tab) fetch(address, options string) fetched {
	b.t.Helper()
	f, err := chromedp.Run(b.ctx, chromedp.Evaluate[fetched](`fetch(`+quoted(address)+`, `+options+`).then(
		async r => ({Type: r.type, Status: r.status, Body: await r.text()}), () => ({Blocked: true}))`, chromedp.EvalAwaitPromise))
	require.NoError(b.t, err)
	return f
}

// post posts a form by fetch.
func (b *tab) post(address, headers string, form url.Values) fetched {
	b.t.Helper()
	return b.fetch(address, `{method: "POST", headers: {`+headers+`}, body: new URLSearchParams(`+quoted(form.Encode())+`)}`)
}

// TestScriptsOfAnotherOrigin verifies in a browser what a page of another origin can read: the
// public documents, and what a public client gets from the token and revocation endpoints. It
// can't read an answer to a request with a secret, nor the authorization step or any page.
func TestScriptsOfAnotherOrigin(t *testing.T) {
	s := start(t, fixtures(""))
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!DOCTYPE html><html lang="en"><head><title>Application</title><link rel="icon" href="data:,"></head><body></body></html>`)
	}))
	defer page.Close()
	b := newUncheckedTab(t) // the browser logs what it blocks
	b.open(s.AppURL + "/auth/sign-in")
	b.signIn("alice", "correct horse") // the requests below could carry her cookies
	b.open(page.URL)

	for path, text := range map[string]string{
		"/.well-known/jwks.json": `"keys"`, "/.well-known/oauth-authorization-server": `"token_endpoint"`,
		"/.well-known/oauth-protected-resource/v2/me": `"authorization_servers"`, "/v2/openapi.json": `"openapi"`,
	} {
		f := b.fetch(s.BaseURL+path, `{}`)
		require.Equal(t, []any{"cors", http.StatusOK}, []any{f.Type, f.Status}, path)
		require.Contains(t, f.Body, text)
		require.True(t, b.fetch(s.BaseURL+path, `{credentials: "include"}`).Blocked, "%s with cookies", path)
	}

	public := xoauth2(s, "native-app", "", oauth2.AuthStyleInParams, "PROFILE_READ")
	verifier := oauth2.GenerateVerifier()
	code := alice(t).decide(public.AuthCodeURL("a state", oauth2.S256ChallengeOption(verifier)), "allow").Query().Get("code")
	require.NotEmpty(t, code)
	token, revoke := public.Endpoint.TokenURL, s.BaseURL+"/v2/auth/oauth2/revoke"
	f := b.post(token, "", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {"native-app"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier},
	})
	require.Equal(t, []any{"cors", http.StatusOK}, []any{f.Type, f.Status}, f.Body)
	require.Contains(t, f.Body, `"access_token"`)
	_, rest, _ := strings.Cut(f.Body, `"refresh_token":"`)
	refreshToken, _, _ := strings.Cut(rest, `"`)
	refresh := url.Values{"grant_type": {"refresh_token"}, "client_id": {"native-app"}, "refresh_token": {refreshToken}}
	require.True(t, b.fetch(token, `{method: "POST", credentials: "include", body: new URLSearchParams(`+quoted(refresh.Encode())+`)}`).Blocked, "with cookies")
	f = b.fetch(token, `{method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({grant_type: "refresh_token", client_id: "native-app", refresh_token: `+quoted(refreshToken)+`})}`)
	require.Equal(t, http.StatusOK, f.Status, "JSON, after a preflight: %s", f.Body)

	// The secret of a confidential client must not be in a browser. So a script can't
	// read the answer to a request that has such a secret, whether the request is valid
	// or not.
	confidential := xoauth2(s, "cal-app", "cal-app-secret", oauth2.AuthStyleInParams, "PROFILE_READ")
	held := obtain(t, confidential).RefreshToken
	good := url.Values{"grant_type": {"refresh_token"}, "client_id": {"cal-app"}, "client_secret": {"cal-app-secret"}, "refresh_token": {held}}
	require.True(t, b.post(token, "", good).Blocked)
	require.True(t, b.post(revoke, "", url.Values{"client_id": {"cal-app"}, "client_secret": {"wrong"}, "token": {held}}).Blocked)
	basic := `Authorization: "Basic " + btoa("cal-app:cal-app-secret")`
	require.True(t, b.post(token, basic, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {held}}).Blocked)
	require.True(t, b.post(revoke, basic, url.Values{"token": {held}}).Blocked)
	require.True(t, b.post(s.BaseURL+"/v2/auth/oauth2/introspect", "", url.Values{"client_id": {"native-app"}, "token": {refreshToken}}).Blocked)
	_, err := confidential.TokenSource(t.Context(), &oauth2.Token{RefreshToken: held}).Token()
	require.NoError(t, err, "nothing was revoked: the preflight of Basic is refused")

	f = b.post(revoke, "", url.Values{"client_id": {"native-app"}, "token": {refreshToken}})
	require.Equal(t, []any{"cors", http.StatusOK}, []any{f.Type, f.Status})
	f = b.post(token, "", refresh)
	require.Equal(t, http.StatusBadRequest, f.Status, "scripts read errors too")
	require.Contains(t, f.Body, `"invalid_grant"`)

	for _, address := range []string{public.AuthCodeURL("x"), s.AppURL + "/auth/sign-in", s.AppURL + "/account/apps", s.AppURL + "/"} {
		for _, options := range []string{`{}`, `{credentials: "include"}`, `{method: "POST", body: new URLSearchParams("decision=allow")}`} {
			require.True(t, b.fetch(address, options).Blocked, "%s %s", address, options)
		}
		f := b.fetch(address, `{mode: "no-cors", credentials: "include"}`)
		require.Contains(t, []string{"opaque", ""}, f.Type, address) // "" after a redirect to where nothing listens
		require.Empty(t, f.Body, address)
		require.Zero(t, f.Status, address)
	}
}
