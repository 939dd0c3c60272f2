package developer_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

const decodePath = MinePath + "/decode"

// TestDecode verifies what a pasted token is said to be.
func TestDecode(t *testing.T) {
	issuer, stranger := Tokens(), verifiertest.NewInMemoryIssuer()
	stranger.Now = issuer.Now
	w := NewEnv(t, VerifyTokens)
	w.Client("mine", nil)
	b := w.SignedIn()
	mine := verifiertest.ClientID("mine")
	decode := func(text string) Answer {
		t.Helper()
		form := b.Get(MinePath+"/connect").Form(t, decodePath)
		form.Set("jwt", text)
		page := b.Post(decodePath, form)
		for _, part := range strings.Split(strings.TrimSpace(text), ".") {
			if len(part) > 20 {
				assert.NotContains(t, page.Text, part, "the token must not be shown again")
				assert.NotContains(t, w.Log.String(), part)
			}
		}
		return page
	}
	state := w.Index
	for name, test := range map[string]struct {
		token  string
		status int
		says   []string
	}{
		"live": {
			issuer.Token(mine, verifiertest.Scope("BOOKING_READ", "ORG_MEMBERSHIP_WRITE"), verifiertest.Claim("odd", []string{"<b>"})), 200,
			[]string{
				"<b>Live.</b>", "<code>user-1</code>", "<code>mine</code> <span class=\"quiet\">(this application)", "(this service)", "<code>BOOKING_READ</code> <span",
				"See your bookings, who attends them", "<dt>Expires <code>exp</code></dt><dd><time datetime=\"2026-03-04T12:30:00Z\"", "in 30 min", "<dt><code>odd</code></dt><dd><code>[&#34;\\u003cb\\u003e&#34;]</code>",
				"<dt>Key ID <code>kid</code></dt>",
			},
		},
		"with spaces":   {"  Bearer " + strings.Replace(issuer.Token(mine), ".", ".\n ", 1) + "\n", 200, []string{"<b>Live.</b>"}},
		"other":         {issuer.Token(), 200, []string{"<b>Of another application.</b>", "(another application)"}},
		"expired":       {issuer.Token(mine, verifiertest.Expired()), 200, []string{"<b>Expired.</b>", "1 hour ago"}},
		"revoked":       {issuer.Token(mine, verifiertest.Claim("jti", "revoked")), 200, []string{"<b>Revoked.</b>"}},
		"audience":      {issuer.Token(mine, verifiertest.ForAudience("https://other.example")), 200, []string{"<b>For another resource server.</b>"}},
		"not yet":       {issuer.Token(mine, verifiertest.Claim("nbf", issuer.Now().Unix()+3600)), 200, []string{"<b>Not valid yet.</b>"}},
		"not ours":      {stranger.Token(mine), 200, []string{"<b>Not ours.</b>"}},
		"other issuer":  {issuer.Token(mine, verifiertest.Claim("iss", "https://other.example")), 200, []string{"<b>Not ours.</b>", "(another service)"}},
		"an ID token":   {issuer.Token(mine, verifiertest.Header("typ", "JWT")), 200, []string{"<b>Not an access token.</b>"}},
		"legacy":        {issuer.Token(mine, verifiertest.Legacy()), 200, []string{"<b>Live.</b>", "(without limits)"}},
		"refresh token": {"mmr_" + strings.Repeat("A", 76), 200, []string{"<b>This is a refresh token.</b>", `role="alert"`}},
		"secret":        {"mms_" + strings.Repeat("A", 43), 200, []string{"<b>This is a client secret.</b>", `href="/developer/clients/mine/secrets"`}},
		"code":          {"mmc_" + strings.Repeat("A", 76), 200, []string{"<b>This is an authorization code.</b>"}},
		"session":       {"mmx_" + strings.Repeat("A", 43), 200, []string{"<b>This is a secret of this service.</b>"}},
		"operator":      {"mmo_" + strings.Repeat("A", 43), 200, []string{"<b>This is a secret of this service.</b>"}},
		"error_id":      {"mme_" + strings.Repeat("A", 144), 200, []string{"<b>This is an error_id.</b>"}},
		"nothing":       {" ", 422, []string{"Paste an access token."}},
		"no JWT":        {"abc.def", 422, []string{"This isn’t an access token: a JWT has three parts"}},
		"no JSON":       {"YQ.YQ.YQ", 422, []string{"This isn’t an access token: a JWT has three parts"}},
		"null":          {"bnVsbA.bnVsbA.YQ", 422, []string{"This isn’t an access token: a JWT has three parts"}},
		"too long":      {issuer.Token(verifiertest.Claim("x", strings.Repeat("x", 8<<10))), 422, []string{"Access token is longer than 8 KB."}},
	} {
		t.Run(name, func(t *testing.T) {
			page := decode(test.token)
			assert.Equal(t, test.status, page.StatusCode)
			for _, text := range test.says {
				assert.Contains(t, page.Text, text)
			}
		})
	}
	assert.Equal(t, state, w.Index, "nothing is stored")

	_, b = Mine(t, nil) // without a verifier
	assert.Contains(t, decode(issuer.Token(mine)).Text, "<b>Not verified.</b>")
}

// TestDecodeAfterTheSession verifies that a token is not shown again once the session has ended.
func TestDecodeAfterTheSession(t *testing.T) {
	_, b := Mine(t, nil)
	form := b.Get(MinePath+"/connect").Form(t, decodePath)
	form.Set("jwt", "eyJ.secret.part")
	b.SignOutElsewhere()
	res := b.Post(decodePath, form)
	assert.Equal(t, http.StatusSeeOther, res.StatusCode)
	assert.NotContains(t, res.Text+res.Header.Get("Location"), "secret")
	assert.Equal(t, "/auth/sign-in?note=undone&to="+url.QueryEscape(MinePath+"/connect"), res.Header.Get("Location"))
}
