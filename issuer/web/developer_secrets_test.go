package web_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
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

// refusedFor returns why a refresh with that secret and an invalid token is refused.
func (w *env) refusedFor(client, secret string) ledger.Cause {
	out := w.do(&ledger.Refresh{ClientAuth: ledger.ClientAuth{
		Client: client, Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: credential.Digest(mac("secret key"), secret)}},
	}})
	return out.Refusal.Cause
}

const secretsPath = "/developer/clients/calendar/secrets"

// addSecretForm returns the form on the page of the secrets.
func (b *browser) addSecretForm() url.Values {
	b.env.t.Helper()
	return b.get(secretsPath).form(b.env.t, secretsPath+"/add")
}

// TestAddSecret verifies that a form adds one secret (service document, section 5.4),
// however often it is sent, and that only a digest is stored.
func TestAddSecret(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	const path = secretsPath
	none := b.get(path)
	assert.Contains(t, none.body, "There is no secret yet")
	form := none.form(t, path+"/add")
	require.Regexp(t, `^s_[0-9a-f]{16}$`, form.Get("secret"))
	assert.Empty(t, shownSecret.FindString(none.body))
	res := b.post(path+"/add", form)
	require.Equal(t, http.StatusOK, res.StatusCode)
	secret := shownSecret.FindString(res.body)
	require.NotEmpty(t, secret, res.body)
	assert.Equal(t, 1, strings.Count(res.body, secret))
	assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	assert.Equal(t, ledger.NotACredential, w.refusedFor("calendar", secret), "the secret must authenticate the client")
	assert.NotContains(t, w.log.String(), secret)
	var state bytes.Buffer
	require.NoError(t, w.memory.Save(&state))
	assert.NotContains(t, state.String(), secret)
	for _, c := range w.proposals {
		assert.NotContains(t, fmt.Sprintf("%+v", c), secret)
	}

	index := w.index
	again := b.post(path+"/add", form) // as by a double click or a reload
	assert.Equal(t, http.StatusOK, again.StatusCode)
	assert.Equal(t, res.body, again.body)
	assert.Equal(t, index, w.index, "another secret was added")
	kept := w.View().Client("calendar").Secrets
	require.Len(t, kept, 1)
	assert.Equal(t, form.Get("secret"), kept[0].ID)

	w.advance(10 * time.Minute)
	late := b.post(path+"/add", form)
	after := b.follow(late)
	assert.Contains(t, after.body, "That secret was generated already")
	assert.Empty(t, shownSecret.FindString(late.body+after.body))
	assert.Contains(t, after.body, "••••</span>"+secret[len(secret)-4:])
	assert.Contains(t, after.body, "The only one: generate another first")

	b.post(path+"/add", after.form(t, path+"/add"))
	full := b.get(path)
	assert.Contains(t, full.body, "Revoke one of the two before you generate another.")
	assert.NotContains(t, full.body, path+`/add"`)
	third := b.post(path+"/add", with(form, "secret", "s_third"))
	assert.Equal(t, http.StatusForbidden, third.StatusCode, "the id was chosen by the sender")
	assert.Len(t, w.View().Client("calendar").Secrets, 2)
}

// TestNewSecretIsBound verifies that a form's sealed secret is bound to one secret id of
// one client, one user and one session, for ten minutes.
func TestNewSecretIsBound(t *testing.T) {
	for name, test := range map[string]struct {
		other  func(w *env, b *browser) *browser // returns the sender; nil for the same browser
		client string                            // "" for the same client
		change func(f url.Values)
		wait   time.Duration
	}{
		"another session": {other: func(w *env, _ *browser) *browser { return w.signedIn() }},
		"another user": {other: func(w *env, _ *browser) *browser {
			w.user("u-bob", "bob", "Bob")
			w.must(&ledger.TransferClient{Actor: ledger.Actor{Operator: true}, ID: "calendar", Username: "bob", Revision: 1})
			return w.signedInAs("bob")
		}},
		"another client":    {client: "old"},
		"another secret":    {change: func(f url.Values) { f.Set("secret", "s_0123456789abcdef") }},
		"too late":          {wait: 10 * time.Minute},
		"not sealed by us":  {change: func(f url.Values) { f.Set("sealed", sealer{}.SealDevice([]byte(`{}`))) }},
		"sealed, but empty": {change: func(f url.Values) { f.Set("sealed", sealer{}.SealNewSecret(nil)) }},
		"nothing":           {change: func(f url.Values) { f.Set("sealed", "") }},
	} {
		for _, made := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", made ", made), func(t *testing.T) {
				w := newEnv(t)
				b := w.signedIn()
				form, sender, path := b.addSecretForm(), b, secretsPath
				if made {
					require.NotEmpty(t, shownSecret.FindString(b.post(secretsPath+"/add", form).body))
				}
				had := len(w.View().Client("calendar").Secrets)
				if test.other != nil {
					sender = test.other(w, b)
				}
				if test.client != "" {
					path = "/developer/clients/" + test.client + "/secrets"
				}
				w.advance(test.wait)
				// The token is replaced by a valid one, so that the sealed secret decides.
				sent := sender.get(path).form(t, path+"/add")
				sent.Set("sealed", form.Get("sealed"))
				sent.Set("secret", form.Get("secret"))
				if test.change != nil {
					test.change(sent)
				}
				id := strings.TrimSuffix(strings.TrimPrefix(path, "/developer/clients/"), "/secrets")
				sent.Set("token", web.FormToken(sender.session(), "add secret", sender.userID,
					strings.Join([]string{id, sent.Get("secret"), sent.Get("sealed"), sent.Get("after")}, "\x00")))
				res := sender.post(path+"/add", sent)
				if res.StatusCode == http.StatusSeeOther {
					res = sender.follow(res)
					assert.Contains(t, res.body, "That secret was generated already")
				} else {
					assert.Equal(t, http.StatusConflict, res.StatusCode, res.body)
					assert.Contains(t, res.body, "This page was no longer up to date")
				}
				assert.Empty(t, shownSecret.FindString(res.body))
				assert.Len(t, w.View().Client("calendar").Secrets, had)
			})
		}
	}
}

// TestNewSecretAgain verifies that the same form shows its secret again only while the
// secret is active, and never adds it again.
func TestNewSecretAgain(t *testing.T) {
	generate := func(w *env, b *browser) (form url.Values, id string) {
		form = b.addSecretForm()
		require.NotEmpty(w.t, shownSecret.FindString(b.post(secretsPath+"/add", form).body))
		return form, form.Get("secret")
	}
	revoke := func(w *env, id string) {
		w.must(&ledger.RevokeSecret{Actor: ledger.Actor{Operator: true}, Client: "calendar", Secret: id})
	}
	t.Run("revoked", func(t *testing.T) {
		w := newEnv(t)
		b := w.signedIn()
		form, id := generate(w, b)
		generate(w, b)
		revoke(w, id)
		res := b.post(secretsPath+"/add", form)
		page := b.follow(res)
		assert.Contains(t, page.body, "That secret was generated, and has been revoked since.")
		assert.Empty(t, shownSecret.FindString(res.body+page.body))
	})
	t.Run("revoked, on a node that has not heard of it", func(t *testing.T) {
		w := newEnv(t)
		b := w.signedIn()
		form, id := generate(w, b)
		generate(w, b)
		w.lag()
		revoke(w, id)
		assert.Empty(t, shownSecret.FindString(b.post(secretsPath+"/add", form).body))
	})
	t.Run("revoked and forgotten", func(t *testing.T) {
		w := newEnv(t)
		b := w.signedIn()
		form, id := generate(w, b)
		for range 9 {
			_, next := generate(w, b)
			revoke(w, id)
			id = next
		}
		require.Nil(t, w.View().Client("calendar").SecretOf(form.Get("secret")))
		state := w.index
		res := b.post(secretsPath+"/add", form)
		assert.Equal(t, http.StatusConflict, res.StatusCode)
		assert.Empty(t, shownSecret.FindString(res.body))
		assert.Equal(t, state, w.index)
	})
	for name, end := range map[string]func(*env, *browser){
		"signed out": func(w *env, b *browser) {
			w.must(&ledger.SignOut{Session: credential.SessionDigest(b.session())})
		},
		"disabled": func(w *env, _ *browser) {
			w.must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.Disable})
		},
		"another's application": func(w *env, _ *browser) {
			w.user("u-bob", "bob", "Bob")
			w.must(&ledger.TransferClient{Actor: ledger.Actor{Operator: true}, ID: "calendar", Username: "bob", Revision: 1})
		},
		"deleted": func(w *env, _ *browser) {
			w.must(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: "calendar"})
		},
	} {
		for _, lagging := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", lagging ", lagging), func(t *testing.T) {
				w := newEnv(t)
				b := w.signedIn()
				form, _ := generate(w, b)
				if lagging {
					w.lag()
				}
				end(w, b)
				res := b.post(secretsPath+"/add", form)
				assert.NotEqual(t, http.StatusOK, res.StatusCode)
				assert.Empty(t, shownSecret.FindString(res.body))
			})
		}
	}
}

// TestAddSecretOnTwoPages verifies that two pages that are open at the same time add one secret.
func TestAddSecretOnTwoPages(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	first, second := b.addSecretForm(), b.addSecretForm()
	assert.Equal(t, http.StatusOK, b.post(secretsPath+"/add", first).StatusCode)
	res := b.post(secretsPath+"/add", second)
	assert.Equal(t, http.StatusConflict, res.StatusCode)
	assert.Contains(t, res.body, "Something changed while the page was open")
	assert.Empty(t, shownSecret.FindString(res.body))
	assert.Equal(t, http.StatusOK, b.post(secretsPath+"/add", res.form(t, secretsPath+"/add")).StatusCode, "the redisplayed form must work")
	assert.Equal(t, 2, w.View().Client("calendar").ActiveSecrets())

	res = b.post(secretsPath+"/add", second)
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.body, "There are at most 2 active secrets. Revoke one first.")
}

func TestRevokeSecret(t *testing.T) {
	w, _ := mine(t, nil)
	const path = minePath + "/secrets"
	w.advance(time.Hour)
	b := w.signedIn()
	require.Equal(t, ledger.NotACredential, w.refusedFor("mine", "s_old-1111"))
	unused := b.get(path)
	assert.Equal(t, 2, strings.Count(unused.body, "It was never used. It stops working immediately"))

	// A use is recorded with commands that are logged anyway.
	native := w.signedIn()
	native.allow("client_id", "mine", "code_challenge", "", "code_challenge_method", "")
	w.must(&ledger.AddKey{Key: ledger.Key{ID: "s1", Purpose: ledger.ForSigning, Algorithm: "ES256", Sealed: []byte{1}}})
	g := w.grants()[0]
	w.must(&ledger.Exchange{
		ClientAuth: ledger.ClientAuth{Client: "mine", Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: credential.Digest(mac("secret key"), "s_old-1111")}}},
		Credential: &ledger.CredentialRef{Grant: g.ID, Key: 1}, Redirect: g.Redirect,
	})
	w.advance(3 * time.Minute)
	page := b.get(path)
	assert.Contains(t, page.body, "It was used 3 minutes ago. Whatever still uses it is refused immediately.")

	form := page.form(t, path+"/revoke")
	require.Equal(t, "s_new-2222", form.Get("secret"), "newest first")
	w.noLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, b.post(path+"/revoke", form).StatusCode)
	w.noLeader = false
	res := b.post(path+"/revoke", form)
	assert.Equal(t, ledger.SecretRevoked, w.refusedFor("mine", "s_new-2222"), "the revocation must take effect before the response")
	after := b.follow(res)
	assert.Contains(t, after.body, "The secret was revoked.")
	assert.Contains(t, after.body, "Revoked secrets")
	assert.Equal(t, res.Header.Get("Location"), b.post(path+"/revoke", form).Header.Get("Location"), "the same form twice")
	assert.Len(t, w.grants(), 1, "grants must stay")
}

// TestRecently verifies the warning that a secret is still in use.
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

// TestRevokeTheLastSecret verifies that two pages that are open at the same time can't
// revoke both secrets: the last one can only be replaced.
func TestRevokeTheLastSecret(t *testing.T) {
	w, b := mine(t, nil)
	const path = minePath + "/secrets"
	both := b.get(path)
	_, rest, _ := strings.Cut(both.body, "</form></div></details>")
	last := answer{both.Response, rest}.form(t, path+"/revoke")
	b.submit(path, path+"/revoke")
	res := b.post(path+"/revoke", last)
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.body, "The last active secret of a confidential client can&#39;t be revoked, only replaced.")
	assert.Equal(t, 1, w.View().Client("mine").ActiveSecrets())
}

func TestPublicClientHasNoSecrets(t *testing.T) {
	w := newEnv(t)
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
