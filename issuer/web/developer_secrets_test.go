package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

var shownSecret = regexp.MustCompile(`mms_[A-Za-z0-9_-]{43}`)

// refusedFor is why a refresh with that secret and no token is refused.
func (w *world) refusedFor(client, secret string) ledger.Cause {
	out := w.do(&ledger.Refresh{Proof: ledger.Proof{
		Client: client, Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: credential.Digest(mac("secret key"), secret)}},
	}})
	return out.Refusal.Cause
}

// A secret is shown once: neither a reload nor the same form again shows it, or
// makes another (service document, section 5.4).
func TestAddSecret(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn()
	const path = "/developer/clients/calendar/secrets"
	none := b.get(path)
	assert.Contains(t, none.body, "There is no secret yet.")
	form := none.form(t, path+"/add")
	require.Regexp(t, `^s_[0-9a-f]{16}$`, form.Get("secret"))
	res := b.post(path+"/add", form)
	require.Equal(t, http.StatusOK, res.StatusCode)
	secret := shownSecret.FindString(res.body)
	require.NotEmpty(t, secret, res.body)
	assert.Equal(t, 1, strings.Count(res.body, secret))
	assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	assert.Equal(t, ledger.NotACredential, w.refusedFor("calendar", secret), "it proves the client")
	assert.NotContains(t, w.log.String(), secret)

	state := w.index
	again := b.post(path+"/add", form) // as a reload does
	after := b.follow(again)
	assert.Contains(t, after.body, "That secret was generated already")
	assert.Empty(t, shownSecret.FindString(again.body+after.body))
	assert.Equal(t, state, w.index)
	kept := w.View().Client("calendar").Secrets
	require.Len(t, kept, 1)
	assert.Equal(t, form.Get("secret"), kept[0].ID)
	assert.Contains(t, after.body, "••••</span>"+secret[len(secret)-4:])
	assert.Contains(t, after.body, "It is the only one. Generate another first.")

	b.post(path+"/add", after.form(t, path+"/add"))
	full := b.get(path)
	assert.Contains(t, full.body, "Revoke one of the two before you generate another.")
	assert.NotContains(t, full.body, path+`/add"`)
	third := b.post(path+"/add", with(form, "secret", "s_third"))
	assert.Equal(t, http.StatusForbidden, third.StatusCode, "an id of one's own choice")
	assert.Len(t, w.View().Client("calendar").Secrets, 2)
}

// Two pages that were open at once make two, and the third is refused.
func TestAddThirdSecret(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn()
	const path = "/developer/clients/calendar/secrets"
	first, second, third := b.get(path), b.get(path), b.get(path)
	for _, page := range []answer{first, second} {
		assert.Equal(t, http.StatusOK, b.post(path+"/add", page.form(t, path+"/add")).StatusCode)
	}
	res := b.post(path+"/add", third.form(t, path+"/add"))
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.body, "A client has at most 2 active secrets; revoke one first.")
	assert.Empty(t, shownSecret.FindString(res.body))
}

func TestRevokeSecret(t *testing.T) {
	w, _ := mine(t, nil)
	const path = minePath + "/secrets"
	w.pass(time.Hour)
	b := w.signedIn()
	require.Equal(t, ledger.NotACredential, w.refusedFor("mine", "s_old-1111"))
	unused := b.get(path)
	assert.Equal(t, 2, strings.Count(unused.body, "It was never used. It stops working at once"))

	// A use is noted by the commands that are logged.
	native := w.signedIn()
	native.allow("client_id", "mine", "code_challenge", "", "code_challenge_method", "")
	w.must(&ledger.AddKey{Key: ledger.Key{ID: "s1", Purpose: ledger.ForSigning, Algorithm: "ES256", Sealed: []byte{1}}})
	g := w.grants()[0]
	w.must(&ledger.Exchange{
		Proof: ledger.Proof{Client: "mine", Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: credential.Digest(mac("secret key"), "s_old-1111")}}},
		Link:  &ledger.Link{Grant: g.ID, Key: 1}, Redirect: g.Redirect,
	})
	w.pass(3 * time.Minute)
	page := b.get(path)
	assert.Contains(t, page.body, `<div class="warning"><p>It was used 3 minutes ago. Whatever still uses it is refused at once.</p></div>`)

	form := page.form(t, path+"/revoke")
	require.Equal(t, "s_new-2222", form.Get("secret"), "the newest first")
	w.down = true
	assert.Equal(t, http.StatusServiceUnavailable, b.post(path+"/revoke", form).StatusCode)
	w.down = false
	res := b.post(path+"/revoke", form)
	assert.Equal(t, ledger.SecretRevoked, w.refusedFor("mine", "s_new-2222"), "before the answer is read")
	after := b.follow(res)
	assert.Contains(t, after.body, "The secret was revoked.")
	assert.Contains(t, after.body, "Revoked secrets")
	assert.Equal(t, res.Header.Get("Location"), b.post(path+"/revoke", form).Header.Get("Location"), "twice is fine")
	assert.Len(t, w.grants(), 1, "what people allowed stays")
}

// A secret that something may still have is not revoked by accident.
func TestRecently(t *testing.T) {
	now := ledger.Time(time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC).UnixMilli())
	for ago, says := range map[time.Duration]string{
		0: "a moment ago", 119 * time.Second: "a moment ago", 2 * time.Minute: "2 minutes ago", 59 * time.Minute: "59 minutes ago",
		time.Hour: "1 hour ago", 23 * time.Hour: "23 hours ago", 24 * time.Hour: "1 day ago", 6 * 24 * time.Hour: "6 days ago",
		7 * 24 * time.Hour: "",
	} {
		assert.Equal(t, says, web.Recently(now, now.Add(-ago)), ago)
	}
	assert.Empty(t, web.Recently(now, 0), "never")
}

// Two pages that were open at once can not revoke both: the last one is
// replaced, not revoked.
func TestRevokeTheLastSecret(t *testing.T) {
	w, b := mine(t, nil)
	const path = minePath + "/secrets"
	both := b.get(path)
	_, rest, _ := strings.Cut(both.body, "</form></details>")
	last := answer{both.Response, rest}.form(t, path+"/revoke")
	b.submit(path, path+"/revoke")
	res := b.post(path+"/revoke", last)
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.body, "The last active secret of a confidential client can&#39;t be revoked, only replaced.")
	assert.Equal(t, 1, w.View().Client("mine").ActiveSecrets())
}

func TestPublicClientHasNoSecrets(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn()
	const path = "/developer/clients/native/secrets"
	assert.Contains(t, b.get(path).body, "A public client has no secrets")
	assert.NotContains(t, b.get("/developer/clients/native").body, "/secrets")

	w.client("new", func(c *ledger.ImportClient) {
		c.State, c.Type, c.Profile.RedirectURIs = ledger.Pending, ledger.Public, []string{"http://127.0.0.1/cb"}
	})
	assert.Contains(t, b.get("/developer/clients/new").body, "You can change it.")
	assert.Contains(t, b.get("/developer/clients/waiting").body, "You can change it, and generate its secret.")
}
