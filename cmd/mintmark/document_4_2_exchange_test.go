package main

import (
	"net/http"
	"slices"
	"testing"

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

	// "Request parameters:"
	d.run("4.2_each_request_parameter_is_needed", func(d *suite) {
		for _, name := range []string{"grant_type", "client_id", "redirect_uri", "code"} {
			refused(d.t, d.form(without(pairs, name)...), http.StatusBadRequest, oauth.InvalidRequest)
			refused(d.t, d.form(replaced(pairs, name, "")...), http.StatusBadRequest, oauth.InvalidRequest)
			refused(d.t, d.form(append(slices.Clone(pairs), name, "twice")...), http.StatusBadRequest, oauth.InvalidRequest)
		}
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
