package upstream_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/upstream/upstreamtest"
)

type claims = upstreamtest.Claims

func now() time.Time { return time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) }

var authRequest = upstream.AuthRequest{
	State: strings.Repeat("s", 43), Nonce: strings.Repeat("n", 43), Verifier: strings.Repeat("v", 43),
}

// relying returns this service as a client of a provider, with its metadata fetched.
func relying(t *testing.T, p *upstreamtest.Provider, change ...func(*upstream.Config)) *upstream.Provider {
	t.Helper()
	r := relyingUnread(p, change...)
	require.NoError(t, r.Learn(t.Context()))
	return r
}

func relyingUnread(p *upstreamtest.Provider, change ...func(*upstream.Config)) *upstream.Provider {
	c := upstream.Config{
		Issuer: p.URL, ClientID: upstreamtest.ClientID, ClientSecret: upstreamtest.ClientSecret,
		RedirectURI: "https://app.example.com/auth/upstream/callback", Now: now, Log: slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(&c)
	}
	return upstream.New(c)
}

// signIn performs a whole sign-in.
func signIn(t *testing.T, r *upstream.Provider, p *upstreamtest.Provider, change func(*upstream.Answer)) (upstream.Person, error) {
	t.Helper()
	location, err := r.Begin(authRequest, false)
	require.NoError(t, err)
	back := p.SignIn(location, "248289761001")
	a := upstream.Answer{Code: back.Get("code"), Issuer: back.Get("iss")}
	if change != nil {
		change(&a)
	}
	return r.Finish(t.Context(), a, authRequest)
}

func TestSignIn(t *testing.T) {
	p := upstreamtest.New(t, now)
	p.Profile = claims{
		"name": "Ada Lovelace", "preferred_username": "ada", "email": "ada@example.com", "email_verified": true,
		"picture": "https://example.com/ada.png", "zoneinfo": "Europe/London", "locale": "en-GB",
	}
	who, err := signIn(t, relying(t, p), p, nil)
	require.NoError(t, err)
	require.Equal(t, upstream.Person{
		Issuer: p.URL, Subject: "248289761001", Username: "ada", Name: "Ada Lovelace", Email: "ada@example.com",
		Picture: "https://example.com/ada.png", TimeZone: "Europe/London", Locale: "en-GB",
	}, who)
}

// TestRefused covers every invalid response, and verifies that none of its contents is in
// the error.
func TestRefused(t *testing.T) {
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	id := func(name string, value any) func(*upstreamtest.Provider) {
		return func(p *upstreamtest.Provider) {
			p.ID = func(c claims) {
				if c[name] = value; value == nil {
					delete(c, name)
				}
			}
		}
	}
	answer := func(path string, status int, body string) func(*upstreamtest.Provider) {
		return func(p *upstreamtest.Provider) {
			p.Answer[path] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				_, _ = w.Write([]byte(body))
			}
		}
	}
	both := func(list ...func(*upstreamtest.Provider)) func(*upstreamtest.Provider) {
		return func(p *upstreamtest.Provider) {
			for _, f := range list {
				f(p)
			}
		}
	}
	const secret = "hunter2-in-an-answer"
	for name, row := range map[string]struct {
		play   func(*upstreamtest.Provider)
		change func(*upstream.Answer)
		down   bool
	}{
		"another issuer":          {play: id("iss", "https://evil.example")},
		"no issuer":               {play: id("iss", nil)},
		"another audience":        {play: id("aud", "another client")},
		"no audience":             {play: id("aud", nil)},
		"two audiences":           {play: id("aud", []string{upstreamtest.ClientID, "another client"})},
		"made for another":        {play: id("azp", "another client")},
		"another nonce":           {play: id("nonce", strings.Repeat("x", 43))},
		"no nonce":                {play: id("nonce", nil)},
		"expired":                 {play: id("exp", now().Unix()-1)},
		"never expires":           {play: id("exp", nil)},
		"not yet":                 {play: id("nbf", now().Add(time.Hour).Unix())},
		"no subject":              {play: id("sub", "")},
		"another access token":    {play: id("at_hash", "AAAAAAAAAAAAAAAAAAAAAA")},
		"somebody else's profile": {play: func(p *upstreamtest.Provider) { p.Profile = claims{"sub": "1"} }},
		"another key": {play: func(p *upstreamtest.Provider) {
			p.Sign = func(s string) string { return oidctest.SignIDToken(other, "k", "ES256", s) }
		}},
		"not signed": {play: func(p *upstreamtest.Provider) {
			p.Sign = func(s string) string {
				return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(s)) + "."
			}
		}},
		"no ID token":            {play: answer("/token", 200, `{"access_token":"`+secret+`","token_type":"Bearer"}`)},
		"no tokens":              {play: answer("/token", 200, secret)},
		"an error of its own":    {play: answer("/token", 400, `{"error":"`+secret+`","error_description":"`+secret+`"}`)},
		"a refusal in HTML":      {play: answer("/token", 403, secret)},
		"a profile in HTML":      {play: answer("/me", 200, secret)},
		"token endpoint is down": {play: answer("/token", 503, secret), down: true},
		"it redirects":           {play: both(answer("/token", 307, secret)), down: true},
		"profile is down":        {play: answer("/me", 500, secret), down: true},
		"profile is refused":     {play: answer("/me", 401, secret), down: true},
		"an endless profile":     {play: answer("/me", 200, `{"sub":"248289761001","name":"`+strings.Repeat("x", 1<<20)+`"}`)},
		"keys are down":          {play: answer("/keys", 500, secret)},
		"another code":           {change: func(a *upstream.Answer) { a.Code = secret }},
		"no code":                {change: func(a *upstream.Answer) { a.Code = "" }},
		"iss of another":         {change: func(a *upstream.Answer) { a.Issuer = "https://evil.example" }},
		"iss is missing":         {change: func(a *upstream.Answer) { a.Issuer = "" }},
		"denied by another":      {change: func(a *upstream.Answer) { *a = upstream.Answer{Error: "access_denied", Issuer: "https://evil.example"} }},
	} {
		t.Run(name, func(t *testing.T) {
			p := upstreamtest.New(t, now)
			r := relying(t, p)
			if row.play != nil {
				row.play(p)
			}
			who, err := signIn(t, r, p, row.change)
			require.Error(t, err)
			require.Zero(t, who)
			require.Equal(t, row.down, errors.Is(err, upstream.ErrUnreachable), "%v", err)
			_, denied := errors.AsType[*upstream.Denial](err)
			require.False(t, denied)
			for _, hidden := range []string{secret, upstreamtest.ClientSecret, url.QueryEscape(upstreamtest.ClientSecret), authRequest.Verifier, authRequest.Nonce} {
				require.NotContains(t, err.Error(), hidden)
			}
			require.Less(t, len(err.Error()), 500)
		})
	}
}

// TestWrongAuthRequest verifies that PKCE detects a code that belongs to another request.
func TestWrongAuthRequest(t *testing.T) {
	p := upstreamtest.New(t, now)
	r := relying(t, p)
	location, err := r.Begin(authRequest, false)
	require.NoError(t, err)
	back := p.SignIn(location, "1")
	wrong := authRequest
	wrong.Verifier = strings.Repeat("w", 43)
	_, err = r.Finish(t.Context(), upstream.Answer{Code: back.Get("code"), Issuer: p.URL}, wrong)
	require.ErrorContains(t, err, "invalid_grant")
}

func TestDenied(t *testing.T) {
	p := upstreamtest.New(t, now)
	_, err := signIn(t, relying(t, p), p, func(a *upstream.Answer) { a.Error, a.Code = "access_denied", "" })
	denial, ok := errors.AsType[*upstream.Denial](err)
	require.True(t, ok)
	require.Equal(t, "access_denied", denial.Code)
	require.Zero(t, p.Requests("/token"))
}

// TestAdministrators covers a claim, and an address that is verified by the source that
// sent it.
func TestAdministrators(t *testing.T) {
	for name, row := range map[string]struct {
		claim       bool
		emails      []string
		id, profile claims
		says, is    bool // says: the provider decides
	}{
		"nothing configured":         {profile: claims{"groups": "root", "email": "ada@example.com", "email_verified": true}},
		"the claim":                  {claim: true, id: claims{"groups": "root"}, says: true, is: true},
		"the claim in a list":        {claim: true, profile: claims{"groups": []string{"a", "root"}}, says: true, is: true},
		"the ID token goes first":    {claim: true, id: claims{"groups": "a"}, profile: claims{"groups": "root"}, says: true},
		"part of the claim":          {claim: true, id: claims{"groups": "roots"}, says: true},
		"the claim in a map":         {claim: true, id: claims{"groups": claims{"root": true}}, says: true},
		"no claim":                   {claim: true, says: true},
		"verified":                   {emails: []string{"Ada@Example.com"}, profile: claims{"email": "ada@example.com", "email_verified": true}, says: true, is: true},
		"verified in words":          {emails: []string{"ada@example.com"}, profile: claims{"email": "ada@example.com", "email_verified": "true"}, says: true, is: true},
		"not verified":               {emails: []string{"ada@example.com"}, profile: claims{"email": "ada@example.com", "email_verified": false}, says: true},
		"not said":                   {emails: []string{"ada@example.com"}, profile: claims{"email": "ada@example.com"}, says: true},
		"another address verified":   {emails: []string{"ada@example.com"}, id: claims{"email": "ada@example.com"}, profile: claims{"email": "eve@example.com", "email_verified": true}, says: true},
		"an address not of the list": {emails: []string{"ada@example.com"}, profile: claims{"email": "eve@example.com", "email_verified": true}, says: true},
		"a letter that looks alike":  {emails: []string{"kim@example.com"}, profile: claims{"email": "\u212Aim@example.com", "email_verified": true}, says: true},
		"no address":                 {emails: []string{"ada@example.com"}, profile: claims{"email_verified": true}, says: true},
		"either":                     {claim: true, emails: []string{"ada@example.com"}, id: claims{"groups": "a", "email": "ada@example.com", "email_verified": true}, says: true, is: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := upstreamtest.New(t, now)
			p.Profile = row.profile
			p.ID = func(c claims) {
				for name, value := range row.id {
					c[name] = value
				}
			}
			who, err := signIn(t, relying(t, p, func(c *upstream.Config) {
				if row.claim {
					c.AdminClaim, c.AdminValue = "groups", "root"
				}
				c.AdminEmails = row.emails
			}), p, nil)
			require.NoError(t, err)
			require.Equal(t, row.says, who.Admin != nil)
			if row.says {
				require.Equal(t, row.is, *who.Admin)
			}
		})
	}
}

// TestEmailThatIsNotTheirs verifies that an unverified address is dropped, since
// applications would trust it.
func TestEmailThatIsNotTheirs(t *testing.T) {
	for name, row := range map[string]struct {
		profile claims
		want    string
	}{
		"verified":     {claims{"email": "a@example.com", "email_verified": true}, "a@example.com"},
		"nothing said": {claims{"email": "a@example.com"}, "a@example.com"},
		"unverified":   {claims{"email": "a@example.com", "email_verified": false}, ""},
	} {
		p := upstreamtest.New(t, now)
		p.Profile = row.profile
		who, err := signIn(t, relying(t, p), p, nil)
		require.NoError(t, err)
		require.Equal(t, row.want, who.Email, name)
		require.Equal(t, "a", who.Username, "the name must be derived from the address")
	}
}

// TestAnew verifies that the provider is asked for a new sign-in only if anew is set.
func TestAnew(t *testing.T) {
	r := relying(t, upstreamtest.New(t, now))
	for _, anew := range []bool{false, true} {
		location, err := r.Begin(authRequest, anew)
		require.NoError(t, err)
		u, err := url.Parse(location)
		require.NoError(t, err)
		require.Equal(t, anew, u.Query().Get("prompt") == "login")
	}
}

// TestSignInSince verifies that after a request with max_age, the ID token must prove a
// sign-in since then (OpenID Connect Core §3.1.3.7).
func TestSignInSince(t *testing.T) {
	since := authRequest
	since.Since = now()
	for name, row := range map[string]struct {
		change func(claims)
		anew   bool
	}{
		"now":                  {nil, true},
		"a clock that is late": {func(c claims) { c["auth_time"] = now().Add(-time.Minute).Unix() }, true},
		"a minute too early":   {func(c claims) { c["auth_time"] = now().Add(-time.Minute - time.Second).Unix() }, false},
		"a clock that is fast": {func(c claims) { c["auth_time"] = now().Add(time.Minute).Unix() }, true},
		"yet to come":          {func(c claims) { c["auth_time"] = now().Add(time.Minute + 2*time.Second).Unix() }, false},
		"missing":              {func(c claims) { delete(c, "auth_time") }, false},
		"no number":            {func(c claims) { c["auth_time"] = "now" }, false},
		"zero":                 {func(c claims) { c["auth_time"] = 0 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := upstreamtest.New(t, now)
			p.ID = row.change
			r := relying(t, p)
			location, err := r.Begin(since, false)
			require.NoError(t, err)
			u, err := url.Parse(location)
			require.NoError(t, err)
			require.Equal(t, "0", u.Query().Get("max_age"))
			require.Equal(t, "login", u.Query().Get("prompt"))
			back := p.SignIn(location, "1")
			who, err := r.Finish(t.Context(), upstream.Answer{Code: back.Get("code"), Issuer: p.URL}, since)
			if row.anew {
				require.NoError(t, err)
				require.WithinDuration(t, now(), who.Authenticated, time.Minute)
				return
			}
			require.ErrorIs(t, err, upstream.ErrNotReauthenticated)
		})
	}
}

// TestAuthTime verifies that auth_time is passed on, and that an ordinary sign-in doesn't
// request it.
func TestAuthTime(t *testing.T) {
	p := upstreamtest.New(t, now)
	r := relying(t, p)
	location, err := r.Begin(authRequest, false)
	require.NoError(t, err)
	require.NotContains(t, location, "max_age")
	who, err := signIn(t, r, p, nil)
	require.NoError(t, err)
	require.Zero(t, who.Authenticated)
	p.ID = func(c claims) { c["auth_time"] = now().Add(-24 * time.Hour).Unix() }
	who, err = signIn(t, r, p, nil)
	require.NoError(t, err)
	require.Equal(t, now().Add(-24*time.Hour).Unix(), who.Authenticated.Unix())
}
