package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// without are pairs less one.
func without(pairs []string, name string) []string {
	i := slices.Index(pairs, name)
	return slices.Delete(slices.Clone(pairs), i, i+2)
}

// replaced are pairs with another value of one.
func replaced(pairs []string, name, value string) []string {
	all := slices.Clone(pairs)
	all[slices.Index(all, name)+1] = value
	return all
}

// documentExchange: section 4.2. A request that fails a check spends nothing.
func documentExchange(t *testing.T) {
	d := newSuite(t)
	pairs := []string{
		"grant_type", "authorization_code", "client_id", "cal-app", "client_secret", "cal-app-secret",
		"redirect_uri", callback, "code", d.codeFor(good("cal-app")),
	}

	// "`POST {base_url}/v2/auth/oauth2/token`"
	d.run("4.2_POST_to_the_token_endpoint", func(d *suite) {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodPatch} {
			a := d.request(method, d.Base+"/v2/auth/oauth2/token?"+encode(pairs...), "")
			require.Equal(d.t, http.StatusMethodNotAllowed, a.Status, method)
			require.Contains(d.t, a.Header.Get("Allow"), http.MethodPost)
		}
		a := d.request(http.MethodPost, d.Base+"/v2/auth/oauth2/token?"+encode(pairs...), "", "Content-Type", "application/x-www-form-urlencoded")
		refused(d.t, a, http.StatusBadRequest, oauth.InvalidRequest) // parameters are in the body
		a = d.request(http.MethodPost, d.Base+"/v2/auth/oauth2/token", encode(replaced(pairs, "code", d.codeFor(good("cal-app")))...), "Content-Type", "application/x-www-form-urlencoded")
		require.Equal(d.t, http.StatusOK, a.Status, a.Body)
	})
	// "Request parameters:"
	d.run("4.2_each_request_parameter_is_needed", func(d *suite) {
		for _, name := range []string{"grant_type", "client_id", "redirect_uri", "code"} {
			refused(d.t, d.form(without(pairs, name)...), http.StatusBadRequest, oauth.InvalidRequest)
			refused(d.t, d.form(replaced(pairs, name, "")...), http.StatusBadRequest, oauth.InvalidRequest)
			refused(d.t, d.form(append(slices.Clone(pairs), name, "twice")...), http.StatusBadRequest, oauth.InvalidRequest)
		}
	})
	// "| `client_id` | The client id. |"
	d.run("4.2_client_id", func(d *suite) {
		for _, id := range []string{"nobody", "CAL-APP", "other-app"} {
			refused(d.t, d.form(replaced(pairs, "client_id", id)...), http.StatusUnauthorized, oauth.InvalidClient)
		}
		foreign := replaced(replaced(pairs, "client_id", "other-app"), "client_secret", "other-app-secret")
		refused(d.t, d.form(foreign...), http.StatusBadRequest, oauth.InvalidGrant) // a code belongs to its client
	})
	// "| `client_secret` | The client secret. |"
	d.run("4.2_client_secret", func(d *suite) {
		refused(d.t, d.form(without(pairs, "client_secret")...), http.StatusUnauthorized, oauth.InvalidClient)
		for _, secret := range []string{"", "wrong", "CAL-APP-SECRET", "other-app-secret", "cal-app-secret ", "old-secret"} {
			refused(d.t, d.form(replaced(pairs, "client_secret", secret)...), http.StatusUnauthorized, oauth.InvalidClient)
		}
	})
	// "| `grant_type` | Must be `authorization_code`. |"
	d.run("4.2_grant_type_must_be_authorization_code", func(d *suite) {
		for _, value := range []string{"password", "client_credentials", "implicit", "AUTHORIZATION_CODE", "code"} {
			refused(d.t, d.form(replaced(pairs, "grant_type", value)...), http.StatusBadRequest, oauth.UnsupportedGrantType)
		}
		refused(d.t, d.form(replaced(pairs, "grant_type", "refresh_token")...), http.StatusBadRequest, oauth.InvalidRequest)
	})
	// "| `code` | The authorization code from the redirect. |"
	d.run("4.2_code_from_the_redirect", func(d *suite) {
		code := pairs[len(pairs)-1]
		for _, wrong := range []string{"x", code + "A", code[:len(code)-2] + "AA", strings.ToLower(code)} {
			refused(d.t, d.form(replaced(pairs, "code", wrong)...), http.StatusBadRequest, oauth.InvalidGrant)
		}
	})
	// "Must equal the `redirect_uri` used in the authorization step."
	d.run("4.2_redirect_uri_must_equal_the_one_of_the_authorization_step", func(d *suite) {
		for _, uri := range []string{"https://cal.example/callback", callback + "/", "http://127.0.0.1:1/callback", "https://evil.example/"} {
			refused(d.t, d.form(replaced(pairs, "redirect_uri", uri)...), http.StatusBadRequest, oauth.InvalidGrant)
		}
	})
	// "Response: the token response of section 2.3."
	d.run("4.2_response_is_the_token_response", func(d *suite) {
		m := d.members(d.form(pairs...)) // after all those refusals
		for _, name := range []string{"access_token", "refresh_token", "token_type", "expires_in", "scope"} {
			require.Contains(d.t, m, name)
		}
		require.Len(d.t, m, 5)
	})
	// "Encoding of the request body (JSON or form): not shown."
	d.run("4.2_not_shown_body_may_be_JSON_or_a_form", func(d *suite) {
		for kind, write := range map[string]func([]string) string{
			"application/json":                                 func(pairs []string) string { return object(pairs...) },
			"application/json; charset=utf-8":                  func(pairs []string) string { return object(pairs...) },
			"application/x-www-form-urlencoded":                func(pairs []string) string { return encode(pairs...) },
			"application/x-www-form-urlencoded; charset=utf-8": func(pairs []string) string { return encode(pairs...) },
		} {
			body := write(replaced(pairs, "code", d.codeFor(good("cal-app"))))
			issued := tokensOf(d.t, d.request(http.MethodPost, oauth.PathToken, body, "Content-Type", kind))
			body = write([]string{"grant_type", "refresh_token", "refresh_token", issued.Refresh, "client_id", "cal-app", "client_secret", "cal-app-secret"})
			tokensOf(d.t, d.request(http.MethodPost, oauth.PathToken, body, "Content-Type", kind))
		}
		for _, kind := range []string{"", "text/plain", "multipart/form-data"} {
			refused(d.t, d.request(http.MethodPost, oauth.PathToken, encode(pairs...), "Content-Type", kind), http.StatusBadRequest, oauth.InvalidRequest)
		}
	})
	// "Parameter carrying the PKCE verifier for public clients: not shown."
	d.run("4.2_not_shown_PKCE_verifier_is_code_verifier", func(d *suite) {
		code := d.codeFor(good("native-app"))
		for _, name := range []string{"codeVerifier", "verifier", "pkce"} {
			refused(d.t, d.exchange("native-app", code, name, verifierText), http.StatusBadRequest, oauth.InvalidGrant)
		}
		tokensOf(d.t, d.exchange("native-app", code, "code_verifier", verifierText))
		refused(d.t, d.exchange("cal-app", d.codeFor(good("cal-app")), "code_verifier", verifierText), http.StatusBadRequest, oauth.InvalidRequest) // there was no challenge
	})
}
