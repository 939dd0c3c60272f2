package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// documentAuthorization: the shape of the step.
func documentAuthorization(t *testing.T) {
	d := newSuite(t)

	// "a browser navigation of the user to `{app_url}/auth/oauth2/authorize` with query parameters."
	d.run("4.1_a_browser_navigation_to_the_authorization_page", func(d *suite) {
		address := d.App + "/auth/oauth2/authorize?client_id=cal-app&redirect_uri=" + url.QueryEscape(callback) + "&scope=PROFILE_READ&state=x"
		signIn := d.browser().get(address)
		require.Equal(d.t, http.StatusOK, signIn.Status)
		require.Contains(d.t, signIn.Header.Get("Content-Type"), "text/html")
		require.Contains(d.t, signIn.Body, `name="password"`)
		page := d.browserOf("alice").get(address)
		require.Equal(d.t, http.StatusOK, page.Status)
		require.Contains(d.t, page.Body, "Calendar App")
		require.Contains(d.t, page.Body, `name="decision"`)
		posted := d.request(http.MethodPost, "/auth/oauth2/authorize", strings.SplitN(address, "?", 2)[1], "Content-Type", "application/x-www-form-urlencoded")
		require.GreaterOrEqual(d.t, posted.Status, 400, "the parameters belong into the query")
		require.Empty(d.t, posted.Header.Get("Location"))
	})

	// "After the user clicks Allow, the user is redirected to the `redirect_uri` with URL parameters `code` and `state`."
	d.run("4.1_Allow_redirects_with_code_and_state", func(d *suite) {
		page := d.browserOf("alice").get(good("cal-app"))
		before := len(d.cli().Object("grant", "list", "--user", "alice")["grants"].([]any))
		require.Empty(d.t, page.Header.Get("Location"), "nothing happens before the click")
		require.Contains(d.t, page.Body, ">Allow</button>")
		forged := d.browserOf("alice").submit(page, "decision", "decision", "allow", "token", "x")
		d.refusesForm(forged) // a click on our page, not any POST
		others := d.browserOf("alice").submit(d.browserOf("bob").get(good("cal-app")), "decision", "decision", "allow")
		d.refusesForm(others)
		a := d.browserOf("alice").submit(page, "decision", "decision", "allow")
		require.Equal(d.t, http.StatusSeeOther, a.Status)
		location, query, _ := strings.Cut(a.Header.Get("Location"), "?")
		require.Equal(d.t, callback, location)
		q, err := url.ParseQuery(query)
		require.NoError(d.t, err)
		require.Len(d.t, q["code"], 1)
		require.Equal(d.t, []string{"a-state"}, q["state"])
		require.Empty(d.t, q["error"])
		require.Len(d.t, d.cli().Object("grant", "list", "--user", "alice")["grants"], before+1)
		again := d.browserOf("alice").get(good("cal-app"))
		require.Contains(d.t, again.Body, `name="decision"`, "who has allowed it before is asked again")
	})
	// "The user allows; the application receives `code` and `state` at the redirect URI and compares `state` with the value it sent."
	d.run("5.2_the_application_receives_code_and_state", func(d *suite) {
		first, second := d.answered(with("cal-app", "state", "first")), d.answered(with("cal-app", "state", "second"))
		require.Equal(d.t, "first", first.Get("state"))
		require.Equal(d.t, "second", second.Get("state"))
		require.NotEqual(d.t, first.Get("code"), second.Get("code"))
		cancelled := d.browserOf("alice").submit(d.browserOf("alice").get(good("cal-app")), "decision", "decision", "cancel")
		to, err := url.Parse(cancelled.Header.Get("Location"))
		require.NoError(d.t, err)
		require.Equal(d.t, "access_denied", to.Query().Get("error"))
		require.Equal(d.t, "a-state", to.Query().Get("state"))
		require.Empty(d.t, to.Query().Get("code"))
	})
}

// refusesForm checks that a form was not taken: it sends nobody anywhere.
func (d *suite) refusesForm(a answer) {
	d.t.Helper()
	require.Equal(d.t, http.StatusForbidden, a.Status)
	require.Empty(d.t, a.Header.Get("Location"))
}

// errorResponse checks that an authorization request is refused by a redirect.
func (d *suite) errorResponse(path, code string) {
	d.t.Helper()
	a := d.browserOf("alice").get(path)
	require.Equal(d.t, http.StatusSeeOther, a.Status, "%s: %s", path, a.Body)
	to, err := url.Parse(a.Header.Get("Location"))
	require.NoError(d.t, err)
	require.True(d.t, strings.HasPrefix(to.String(), "http://127.0.0.1:9999/callback?"), to)
	require.Equal(d.t, code, to.Query().Get("error"))
	require.Empty(d.t, to.Query().Get("code"))
}

// documentAuthorizationParameters: one row of the table each.
func documentAuthorizationParameters(t *testing.T) {
	d := newSuite(t)

	// "| `client_id` | yes | The OAuth client id. |"
	d.run("4.1_client_id_is_required", func(d *suite) {
		for _, id := range []string{"", "nobody", "CAL-APP", "cal-app "} {
			d.showsPage(d.browserOf("alice").get(with("cal-app", "client_id", id)), http.StatusBadRequest)
		}
		require.NotEmpty(d.t, d.answered(with("cal-app", "client_id", "cal-app")).Get("code"))
	})

	// "| `redirect_uri` | yes | Must equal one of the client's registered redirect URIs. |"
	d.run("4.1_redirect_uri_is_required", func(d *suite) {
		d.showsPage(d.browserOf("alice").get(with("cal-app", "redirect_uri", "")), http.StatusBadRequest)
		d.showsPage(d.browserOf("alice").get(with("other-app", "redirect_uri", "")), http.StatusBadRequest) // it has one only
	})
	// "Must equal one of the client's registered redirect URIs."
	d.run("4.1_redirect_uri_must_equal_a_registered_one", func(d *suite) {
		for _, uri := range []string{callback, "https://cal.example/callback"} {
			require.NotEmpty(d.t, d.answered(with("cal-app", "redirect_uri", uri)).Get("code"))
		}
		for _, uri := range []string{
			"https://evil.example/callback", callback + "/", callback + "?a=b", callback + "#f", strings.ToUpper(callback),
			"http://127.0.0.1:9998/callback", "http://localhost:9999/callback", "https://127.0.0.1:9999/callback",
			"https://cal.example:443/callback", "https://cal.example/Callback", "https://cal.example/callback/../callback",
			"https://cal.example@evil.example/callback", "https://cal.example.evil.example/callback", "/callback", "https://cal.example/%63allback",
		} {
			d.showsPage(d.browserOf("alice").get(with("cal-app", "redirect_uri", uri)), http.StatusBadRequest)
		}
		d.showsPage(d.browserOf("alice").get(with("other-app", "redirect_uri", "https://cal.example/callback")), http.StatusBadRequest) // another client's
	})

	// "| `state` | recommended |"
	d.run("4.1_state_is_recommended", func(d *suite) {
		q := d.answered(with("cal-app", "state", ""))
		require.NotEmpty(d.t, q.Get("code"))
		require.NotContains(d.t, q, "state")
	})
	// "returned unchanged in the redirect."
	d.run("4.1_state_is_returned_unchanged", func(d *suite) {
		for _, state := range []string{
			"x", "a b+c%20d", "ünïcödé ☃", `{"json":["a&b=c"]}`, "<script>alert(1)</script>", "\x00\x01\x7f", "\xff\xfe not UTF-8", "line\r\nbreak", strings.Repeat("s", 2000),
		} {
			path := with("cal-app", "state", state)
			require.Equal(d.t, state, d.answered(path).Get("state"))
			refused := d.browserOf("alice").get(with("cal-app", "state", state, "scope", "nonsense"))
			to, err := url.Parse(refused.Header.Get("Location"))
			require.NoError(d.t, err)
			require.Equal(d.t, state, to.Query().Get("state"), "with an error too")
		}
	})

	// "| `scope` | yes |"
	d.run("4.1_scope_is_required", func(d *suite) {
		for _, none := range []string{"", " ", ",", " , "} {
			d.errorResponse(with("cal-app", "scope", none), "invalid_scope")
		}
	})
	// "Scope names separated by spaces or by commas."
	d.run("4.1_scopes_are_separated_by_spaces_or_commas", func(d *suite) {
		for _, text := range []string{"PROFILE_READ BOOKING_READ", "PROFILE_READ,BOOKING_READ", "PROFILE_READ, BOOKING_READ"} {
			require.Equal(d.t, "PROFILE_READ BOOKING_READ", d.granted(with("cal-app", "scope", text)).Scope)
		}
		for _, text := range []string{"PROFILE_READ;BOOKING_READ", "PROFILE_READ|BOOKING_READ", "PROFILE_READBOOKING_READ", "PROFILE_READ\tBOOKING_READ", "profile_read"} {
			d.errorResponse(with("cal-app", "scope", text), "invalid_scope")
		}
	})
	// "Must be a subset of the scopes enabled on the client."
	d.run("4.1_scope_must_be_a_subset_of_the_clients", func(d *suite) {
		for _, text := range []string{"PROFILE_READ", "PROFILE_READ BOOKING_READ BOOKING_WRITE ORG_PROFILE_READ"} {
			require.Equal(d.t, text, d.granted(with("cal-app", "scope", text)).Scope)
		}
		for _, text := range []string{"SCHEDULE_READ", "PROFILE_READ SCHEDULE_READ", "PROFILE_WRITE", "TEAM_PROFILE_READ", "openid"} {
			d.errorResponse(with("cal-app", "scope", text), "invalid_scope")
		}
		require.NotEmpty(d.t, d.answered(with("other-app", "scope", "BOOKING_READ")).Get("code"))
		d.errorResponse(with("other-app", "scope", "BOOKING_WRITE"), "invalid_scope") // another client has it
	})

	// "| `code_challenge` | for public clients | PKCE code challenge, method S256. |"
	d.run("4.1_code_challenge_of_public_clients", func(d *suite) {
		require.NotEmpty(d.t, d.answered(good("native-app")).Get("code"))
		d.errorResponse(with("native-app", "code_challenge", "", "code_challenge_method", ""), "invalid_request")
		require.NotEmpty(d.t, d.answered(good("cal-app")).Get("code"), "a confidential client needs none")
		require.NotEmpty(d.t, d.answered(with("cal-app", "code_challenge", challenge(verifierText))).Get("code"), "and may send one")
	})
	// "PKCE code challenge, method S256."
	d.run("4.1_code_challenge_method_is_S256", func(d *suite) {
		d.errorResponse(with("native-app", "code_challenge_method", "plain"), "invalid_request")
		d.errorResponse(with("native-app", "code_challenge", verifierText), "invalid_request") // not a SHA-256
		for _, method := range []string{"S256", ""} {
			code := d.codeFor(with("native-app", "code_challenge_method", method))
			refused(d.t, d.exchange("native-app", code, "code_verifier", challenge(verifierText)), http.StatusBadRequest, oauth.InvalidGrant)
			tokensOf(d.t, d.exchange("native-app", code, "code_verifier", verifierText))
		}
	})
	// "A public client sends `code_challenge` (S256) in the authorization step."
	d.run("5.3_a_public_client_sends_code_challenge", func(d *suite) {
		code := d.codeFor(good("native-app"))
		refused(d.t, d.exchange("native-app", code), http.StatusBadRequest, oauth.InvalidGrant)
		refused(d.t, d.exchange("native-app", code, "code_verifier", verifierText+"x"), http.StatusBadRequest, oauth.InvalidGrant)
		issued := tokensOf(d.t, d.exchange("native-app", code, "code_verifier", verifierText)) // its only proof
		tokensOf(d.t, d.refresh("native-app", issued.Refresh))
	})
}
