package developer_test

import (
	"crypto/sha256"
	"encoding/base64"
	"go/format"
	"html"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestAuthorizationURL verifies that the URL works unchanged.
func TestAuthorizationURL(t *testing.T) {
	w, b := Mine(t, nil)
	blocks := b.Get(MinePath + "/connect").Blocks()
	require.Len(t, blocks, 8, "the URL, the environment, code in four languages, a call and a refresh")
	address, found := strings.CutPrefix(blocks[0], "https://app.mintmark.example")
	require.True(t, found, blocks[0])
	got := b.Decide(b.Get(address), "allow").Location(t, Callback)
	assert.NotEmpty(t, got.Get("code"))
	assert.Contains(t, b.Get(MinePath+"/connect").Text, "isn’t <code>"+got.Get("iss")+"</code>")
	assert.Regexp(t, `^[A-Za-z0-9_-]{43}$`, got.Get("state"))
	assert.NotContains(t, b.Get(MinePath+"/connect").Text, got.Get("state"), "each page must have another state")
	assert.Len(t, w.Grants(), 1)

	blocks = b.Get("/developer/clients/native/connect").Blocks()
	challenge := regexp.MustCompile(`code_challenge=([A-Za-z0-9_-]{43})&code_challenge_method=S256`).FindStringSubmatch(blocks[0])
	verifier := regexp.MustCompile(`CODE_VERIFIER=([A-Za-z0-9_-]{43})\n`).FindStringSubmatch(blocks[2])
	require.NotNil(t, challenge)
	require.NotNil(t, verifier)
	sum := sha256.Sum256([]byte(verifier[1]))
	assert.Equal(t, challenge[1], base64.RawURLEncoding.EncodeToString(sum[:]), "verifier and challenge must match")
	assert.NotContains(t, strings.ToLower(strings.Join(blocks, "\n")), "client_secret")

	old := b.Get("/developer/clients/old/connect")
	assert.NotContains(t, old.Blocks()[0], "scope=")
	assert.Contains(t, old.Text, "This URL asks for no scope, so the application gets full access.")
}

// TestTryIt verifies that the authorization URL is a link while the application can be tried,
// and that the page otherwise says why not.
func TestTryIt(t *testing.T) {
	_, b := Mine(t, nil)
	page := b.Get(MinePath + "/connect")
	link := regexp.MustCompile(`<a class="button primary small" href="([^"]*)" target="_blank" rel="noopener">Try it`).FindStringSubmatch(page.Text)
	require.NotNil(t, link)
	assert.Equal(t, page.Blocks()[0], html.UnescapeString(link[1]))
	const bridge = "Copy the code from the address bar."
	assert.Contains(t, page.Text, bridge)
	assert.Contains(t, page.Text, "The code is in the address you came back to, valid for 5 minutes.")
	for i, start := range map[int]string{2: "CODE='paste the code'\n", 6: "ACCESS_TOKEN='paste the access token'\n", 7: "REFRESH_TOKEN='paste the refresh token'\n"} {
		assert.True(t, strings.HasPrefix(page.Blocks()[i], start), page.Blocks()[i])
	}
	for id, why := range map[string]string{
		"waiting": "An administrator has to approve the application first.", "refused": "The application was rejected.",
		"stopped": "An administrator has suspended the application.",
	} {
		page := b.Get("/developer/clients/" + id + "/connect")
		assert.Contains(t, page.Text, why)
		assert.NotContains(t, page.Text, ">Try it<svg")
		assert.NotContains(t, page.Text, bridge)
	}
}

// TestEnvironment verifies the lines for a server's environment: they have a secret only on the
// page that shows it once.
func TestEnvironment(t *testing.T) {
	w, b := Mine(t, nil)
	assert.Equal(t, "MINTMARK_CLIENT_ID=mine\n# Shown once, when it was generated; active: ••••S_OLD-1111 and ••••S_NEW-2222\nMINTMARK_CLIENT_SECRET=\n", b.Get(MinePath + "/connect").Blocks()[1])
	assert.Equal(t, "MINTMARK_CLIENT_ID=native\n", b.Get("/developer/clients/native/connect").Blocks()[1])
	assert.Contains(t, b.Get("/developer/clients/calendar/connect").Text, "The application has no secret yet.")
	page := b.Submit(SecretsPath, SecretsPath+"/add")
	secret := ShownSecret.FindString(page.Text)
	assert.Equal(t, []string{"MINTMARK_CLIENT_ID=calendar\nMINTMARK_CLIENT_SECRET=" + secret + "\n"}, page.Blocks())
	assert.Contains(t, page.Text, `href="/developer/clients/calendar">I’ve saved this secret</a>`, "the steps go on there")
	assert.NotContains(t, b.Get("/developer/clients/calendar/connect").Text, secret)
	assert.Len(t, w.ClientRow("calendar").Secrets, 1)
}

// TestSnippets verifies that the code is valid in its language, whatever the redirection
// URI contains.
func TestSnippets(t *testing.T) {
	const odd = "https://app.example.com/it's/$(id)/!;&?a='b'&c=$HOME%20"
	const own = "com.example.app:/it's/$(id)/!;&?a='b'"
	w := NewEnv(t)
	w.Client("phone", func(c *ledger.ImportClient) { c.Type, c.Profile.RedirectURIs = ledger.Public, []string{own} })
	w.Client("both", func(c *ledger.ImportClient) {
		c.Type, c.Profile.RedirectURIs = ledger.Public, []string{own, "http://127.0.0.1/cb"}
	})
	for _, id := range []string{"secretive", "public"} {
		w.Client(id, func(c *ledger.ImportClient) {
			c.Profile.RedirectURIs = []string{odd}
			if id == "public" {
				c.Type = ledger.Public
			}
		})
	}
	b := w.SignedIn()
	for _, id := range []string{"secretive", "public"} {
		blocks := b.Get("/developer/clients/" + id + "/connect").Blocks()
		shell := exec.Command("sh", "-c", "curl() { printf '%s\\n' \"$@\"; }\n"+strings.Replace(blocks[2], "paste the code", "the code", 1))
		shell.Env = []string{"MINTMARK_CLIENT_SECRET=the secret"}
		out, err := shell.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "\nredirect_uri="+odd+"\n")
		assert.Contains(t, string(out), "\ncode=the code\n")
		assert.Equal(t, id == "secretive", strings.Contains(string(out), "\nclient_secret=the secret\n"))

		formatted, err := format.Source([]byte(blocks[3]))
		require.NoError(t, err, blocks[3])
		assert.Equal(t, string(formatted), blocks[3], "the code must be formatted by gofmt")
		assert.Contains(t, blocks[3], `"`+odd+`"`)
		for _, program := range blocks[3:6] {
			assert.Regexp(t, `state.Value|!== state|!= state`, program, "the state must be verified")
			assert.Regexp(t, `\("iss"\) != issuer|\('iss'\) !== issuer|\("iss"\) != ISSUER`, program, "the issuer must be verified")
		}
		for _, program := range blocks[4:6] {
			assert.Contains(t, program, `"https://app.example.com/it's/$(id)/!;\u0026?a='b'\u0026c=$HOME%20"`)
		}
		assert.Equal(t, id == "secretive", strings.Contains(blocks[5], "import json, os\n"))
	}
	page := b.Get("/developer/clients/phone/connect")
	blocks := page.Blocks()
	assert.Contains(t, page.Text, "the system opens the application")
	assert.Contains(t, page.Text, "Open it on a device with the application installed")
	formatted, err := format.Source([]byte(blocks[3]))
	require.NoError(t, err, blocks[3])
	assert.Equal(t, string(formatted), blocks[3], "the code must be formatted by gofmt")
	assert.Contains(t, blocks[3], `"`+own+`"`)
	for _, program := range blocks[3:] {
		assert.NotRegexp(t, `net/http|Cookie`, program, "no web server receives the redirect")
	}
	assert.NotContains(t, b.Get("/developer/clients/public/connect").Text, "the system opens the application")
	blocks = b.Get("/developer/clients/both/connect").Blocks()
	assert.Contains(t, blocks[0], "&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcb", "a browser can follow it")
	assert.Contains(t, blocks[2], "redirect_uri=http://127.0.0.1/cb", "it has to be that of the authorization")
}
