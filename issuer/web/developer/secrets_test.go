package developer_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestAddSecret verifies that a form adds one secret (service document, section 5.4),
// however often it is sent, and that only a digest is stored.
func TestAddSecret(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	const path = SecretsPath
	none := b.Get(path)
	assert.Contains(t, none.Text, "so that nobody else can ask in its name.")
	assert.NotContains(t, none.Text, "The old secret ends", "there is none")
	form := none.Form(t, path+"/add")
	require.Regexp(t, `^s_[0-9a-f]{16}$`, form.Get("secret"))
	assert.Empty(t, ShownSecret.FindString(none.Text))
	res := b.Post(path+"/add", form)
	require.Equal(t, http.StatusOK, res.StatusCode)
	secret := ShownSecret.FindString(res.Text)
	require.NotEmpty(t, secret, res.Text)
	assert.Equal(t, 2, strings.Count(res.Text, secret))
	assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	assert.Equal(t, ledger.NotACredential, w.RefusedFor("calendar", secret), "the secret must authenticate the client")
	assert.NotContains(t, w.Log.String(), secret)
	var state bytes.Buffer
	require.NoError(t, w.Memory.Save(&state))
	assert.NotContains(t, state.String(), secret)
	for _, c := range w.Proposals {
		assert.NotContains(t, fmt.Sprintf("%+v", c), secret)
	}

	index := w.Index
	again := b.Post(path+"/add", form) // as by a double click or a reload
	assert.Equal(t, http.StatusOK, again.StatusCode)
	assert.Equal(t, res.Text, again.Text)
	assert.Equal(t, index, w.Index, "another secret was added")
	kept := w.View().Client("calendar").Secrets
	require.Len(t, kept, 1)
	assert.Equal(t, form.Get("secret"), kept[0].ID)

	w.Advance(10 * time.Minute)
	late := b.Post(path+"/add", form)
	after := b.Follow(late)
	assert.Contains(t, after.Text, "That secret was generated already")
	assert.Empty(t, ShownSecret.FindString(late.Text+after.Text))
	assert.Contains(t, after.Text, "••••</span>"+secret[len(secret)-4:])
	assert.Contains(t, after.Text, "The only secret can’t be revoked. Generate another first.")

	b.Post(path+"/add", after.Form(t, path+"/add"))
	full := b.Get(path)
	assert.Contains(t, full.Text, "To generate another, revoke one first.")
	assert.NotContains(t, full.Text, path+`/add"`)
	third := b.Post(path+"/add", With(form, "secret", "s_third"))
	assert.Equal(t, http.StatusForbidden, third.StatusCode, "the id was chosen by the sender")
	assert.Len(t, w.View().Client("calendar").Secrets, 2)
}

// TestFirstSecret verifies that the overview of a new application generates its first secret with
// one button, and that the page of the secret leads back to the overview.
func TestFirstSecret(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	w.Client("calendar", nil)
	const path = "/developer/clients/calendar"
	page := b.Get(path)
	assert.Contains(t, page.Text, `<button class="primary small">Generate secret</button>`)
	assert.NotContains(t, page.Text, "People connected", "no figures before the first authorization")
	secret := b.Submit(path, path+"/secrets/add")
	assert.Regexp(t, ShownSecret, secret.Text)
	assert.Contains(t, secret.Text, `<a class="button primary" href="`+path+`">I’ve saved this secret</a>`)
	assert.NotContains(t, b.Get(path).Text, path+`/secrets/add"`)
	second := b.Submit(path+"/secrets", path+"/secrets/add")
	assert.Contains(t, second.Text, `<a class="button primary" href="`+path+`/secrets">I’ve saved this secret</a>`)
	assert.Len(t, w.View().Client("calendar").Secrets, 2)
}

// TestNewSecretIsBound verifies that a form's sealed secret is bound to one secret id of
// one client, one user and one session, for ten minutes.
func TestNewSecretIsBound(t *testing.T) {
	for name, test := range map[string]struct {
		other  func(w *Env, b *Browser) *Browser // returns the sender; nil for the same browser
		client string                            // "" for the same client
		change func(f url.Values)
		wait   time.Duration
	}{
		"another session": {other: func(w *Env, _ *Browser) *Browser { return w.SignedIn() }},
		"another user": {other: func(w *Env, _ *Browser) *Browser {
			w.User("u-bob", "bob", "Bob")
			w.Must(&ledger.TransferClient{Actor: ledger.Actor{Operator: true}, ID: "calendar", Username: "bob", Revision: 1})
			return w.SignedInAs("bob")
		}},
		"another client":    {client: "old"},
		"another secret":    {change: func(f url.Values) { f.Set("secret", "s_0123456789abcdef") }},
		"too late":          {wait: 10 * time.Minute},
		"not sealed by us":  {change: func(f url.Values) { f.Set("sealed", Sealer{}.SealDevice([]byte(`{}`))) }},
		"sealed, but empty": {change: func(f url.Values) { f.Set("sealed", Sealer{}.SealNewSecret(nil)) }},
		"nothing":           {change: func(f url.Values) { f.Set("sealed", "") }},
	} {
		for _, made := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", made ", made), func(t *testing.T) {
				w := NewEnv(t)
				b := w.SignedIn()
				form, sender, path := b.AddSecretForm(), b, SecretsPath
				if made {
					require.NotEmpty(t, ShownSecret.FindString(b.Post(SecretsPath+"/add", form).Text))
				}
				had := len(w.View().Client("calendar").Secrets)
				if test.other != nil {
					sender = test.other(w, b)
				}
				if test.client != "" {
					path = "/developer/clients/" + test.client + "/secrets"
				}
				w.Advance(test.wait)
				// The token is replaced by a valid one, so that the sealed secret decides.
				sent := sender.Get(path).Form(t, path+"/add")
				sent.Set("sealed", form.Get("sealed"))
				sent.Set("secret", form.Get("secret"))
				if test.change != nil {
					test.change(sent)
				}
				id := strings.TrimSuffix(strings.TrimPrefix(path, "/developer/clients/"), "/secrets")
				sent.Set("token", site.FormToken(sender.Session(), "add secret", sender.UserID,
					strings.Join([]string{id, sent.Get("secret"), sent.Get("sealed"), sent.Get("after")}, "\x00")))
				res := sender.Post(path+"/add", sent)
				if res.StatusCode == http.StatusSeeOther {
					res = sender.Follow(res)
					assert.Contains(t, res.Text, "That secret was generated already")
				} else {
					assert.Equal(t, http.StatusConflict, res.StatusCode, res.Text)
					assert.Contains(t, res.Text, "This page was no longer up to date")
				}
				assert.Empty(t, ShownSecret.FindString(res.Text))
				assert.Len(t, w.View().Client("calendar").Secrets, had)
			})
		}
	}
}

// TestNewSecretAgain verifies that the same form shows its secret again only while the
// secret is active, and never adds it again.
func TestNewSecretAgain(t *testing.T) {
	generate := func(w *Env, b *Browser) (form url.Values, id string) {
		form = b.AddSecretForm()
		require.NotEmpty(w.T, ShownSecret.FindString(b.Post(SecretsPath+"/add", form).Text))
		return form, form.Get("secret")
	}
	revoke := func(w *Env, id string) {
		w.Must(&ledger.RevokeSecret{Actor: ledger.Actor{Operator: true}, Client: "calendar", Secret: id})
	}
	t.Run("revoked", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		form, id := generate(w, b)
		generate(w, b)
		revoke(w, id)
		res := b.Post(SecretsPath+"/add", form)
		page := b.Follow(res)
		assert.Contains(t, page.Text, "That secret was generated, and has been revoked since.")
		assert.Empty(t, ShownSecret.FindString(res.Text+page.Text))
	})
	t.Run("revoked, on a node that has not heard of it", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		form, id := generate(w, b)
		generate(w, b)
		w.Lag()
		revoke(w, id)
		assert.Empty(t, ShownSecret.FindString(b.Post(SecretsPath+"/add", form).Text))
	})
	t.Run("revoked and forgotten", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		form, id := generate(w, b)
		for range 9 {
			_, next := generate(w, b)
			revoke(w, id)
			id = next
		}
		require.Nil(t, w.View().Client("calendar").SecretOf(form.Get("secret")))
		state := w.Index
		res := b.Post(SecretsPath+"/add", form)
		assert.Equal(t, http.StatusConflict, res.StatusCode)
		assert.Empty(t, ShownSecret.FindString(res.Text))
		assert.Equal(t, state, w.Index)
	})
	for name, end := range map[string]func(*Env, *Browser){
		"signed out": func(w *Env, b *Browser) {
			w.Must(&ledger.SignOut{Session: credential.SessionDigest(b.Session())})
		},
		"disabled": func(w *Env, _ *Browser) {
			w.Must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.Disable})
		},
		"another's application": func(w *Env, _ *Browser) {
			w.User("u-bob", "bob", "Bob")
			w.Must(&ledger.TransferClient{Actor: ledger.Actor{Operator: true}, ID: "calendar", Username: "bob", Revision: 1})
		},
		"deleted": func(w *Env, _ *Browser) {
			w.Must(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: "calendar"})
		},
	} {
		for _, lagging := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", lagging ", lagging), func(t *testing.T) {
				w := NewEnv(t)
				b := w.SignedIn()
				form, _ := generate(w, b)
				if lagging {
					w.Lag()
				}
				end(w, b)
				res := b.Post(SecretsPath+"/add", form)
				assert.NotEqual(t, http.StatusOK, res.StatusCode)
				assert.Empty(t, ShownSecret.FindString(res.Text))
			})
		}
	}
}

// TestSecretUnderDroppedKey verifies that a node whose keyring lags behind an emergency adds no
// secret that nobody could use, and that the form can be sent again.
func TestSecretUnderDroppedKey(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	form := b.AddSecretForm()
	w.Decide = func(c command.Command) (*ledger.Outcome, error) {
		if c, ok := c.(*ledger.AddSecret); ok {
			c.Secret.Key = 7
		}
		return nil, nil
	}
	res := b.Post(SecretsPath+"/add", form)
	assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	assert.Empty(t, ShownSecret.FindString(res.Text))
	w.Decide = nil
	assert.NotEmpty(t, ShownSecret.FindString(b.Post(SecretsPath+"/add", form).Text))
}

// TestAddSecretOnTwoPages verifies that two pages that are open at the same time add one secret.
func TestAddSecretOnTwoPages(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	first, second := b.AddSecretForm(), b.AddSecretForm()
	assert.Equal(t, http.StatusOK, b.Post(SecretsPath+"/add", first).StatusCode)
	res := b.Post(SecretsPath+"/add", second)
	assert.Equal(t, http.StatusConflict, res.StatusCode)
	assert.Contains(t, res.Text, "Something changed while the page was open")
	assert.Empty(t, ShownSecret.FindString(res.Text))
	assert.Equal(t, http.StatusOK, b.Post(SecretsPath+"/add", res.Form(t, SecretsPath+"/add")).StatusCode, "the redisplayed form must work")
	assert.Equal(t, 2, w.View().Client("calendar").ActiveSecrets())

	res = b.Post(SecretsPath+"/add", second)
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.Text, "There are at most 2 active secrets. Revoke one first.")
}

func TestRevokeSecret(t *testing.T) {
	w, _ := Mine(t, nil)
	const path = MinePath + "/secrets"
	w.Advance(time.Hour)
	b := w.SignedIn()
	require.Equal(t, ledger.NotACredential, w.RefusedFor("mine", "s_old-1111"))
	unused := b.Get(path)
	assert.Equal(t, 2, strings.Count(unused.Text, "It was never used. It stops working immediately"))

	// A use is recorded with commands that are logged anyway.
	native := w.SignedIn()
	native.Allow("client_id", "mine", "code_challenge", "", "code_challenge_method", "")
	w.Must(&ledger.AddKey{Key: ledger.Key{ID: "s1", Purpose: ledger.ForSigning, Algorithm: "ES256", Sealed: []byte{1}}})
	g := w.Grants()[0]
	w.Must(&ledger.Exchange{
		ClientAuth: ledger.ClientAuth{Client: "mine", Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: credential.Digest(Mac("secret key"), "s_old-1111")}}},
		Credential: &ledger.CredentialRef{Grant: g.ID, Key: 1}, Redirect: g.Redirect,
	})
	w.Advance(3 * time.Minute)
	page := b.Get(path)
	assert.Contains(t, page.Text, "It was used 3 minutes ago. Whatever still uses it is refused immediately.")

	form := page.Form(t, path+"/revoke")
	require.Equal(t, "s_new-2222", form.Get("secret"), "newest first")
	w.NoLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, b.Post(path+"/revoke", form).StatusCode)
	w.NoLeader = false
	res := b.Post(path+"/revoke", form)
	assert.Equal(t, ledger.SecretRevoked, w.RefusedFor("mine", "s_new-2222"), "the revocation must take effect before the response")
	after := b.Follow(res)
	assert.Contains(t, after.Text, "Secret ••••S_NEW-2222 was revoked.")
	assert.Contains(t, after.Text, "Revoked secrets")
	assert.Equal(t, res.Header.Get("Location"), b.Post(path+"/revoke", form).Header.Get("Location"), "the same form twice")
	assert.Len(t, w.Grants(), 1, "grants must stay")
}

// TestRevokeTheLastSecret verifies that two pages that are open at the same time can't
// revoke both secrets: the last one can only be replaced.
func TestRevokeTheLastSecret(t *testing.T) {
	w, b := Mine(t, nil)
	const path = MinePath + "/secrets"
	both := b.Get(path)
	_, rest, _ := strings.Cut(both.Text, "Revoke secret<")
	last := Answer{Response: both.Response, Text: rest}.Form(t, path+"/revoke")
	b.Submit(path, path+"/revoke")
	res := b.Post(path+"/revoke", last)
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.Text, "The last active secret of a confidential client can&#39;t be revoked, only replaced.")
	assert.Equal(t, 1, w.View().Client("mine").ActiveSecrets())
}

func TestPublicClientHasNoSecrets(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	const path = "/developer/clients/native/secrets"
	assert.Contains(t, b.Get(path).Text, "A public client has no secrets")
	assert.NotContains(t, b.Get("/developer/clients/native").Text, "/secrets")

	w.Client("new", func(c *ledger.ImportClient) {
		c.State, c.Type, c.Profile.RedirectURIs = ledger.Pending, ledger.Public, []string{"http://127.0.0.1/cb"}
	})
	assert.Contains(t, b.Get("/developer/clients/new").Text, "Done: </span>No secret needed")
	assert.Contains(t, b.Get("/developer/clients/waiting").Text, "Current: </span>Generate a secret")
}

// TestNamedSecrets: a secret gets a name and the old one an end with one form; both can be
// changed afterwards.
func TestNamedSecrets(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	const path = SecretsPath
	secrets := func() ledger.Secrets { return w.View().Client("calendar").Secrets }
	long := b.Post(path+"/add", With(b.AddSecretForm(), "name", strings.Repeat("x", 41)))
	assert.Equal(t, http.StatusUnprocessableEntity, long.StatusCode)
	assert.Contains(t, long.Text, `<a href="#f-name">Name is too long: `)
	assert.Contains(t, long.Text, strings.Repeat("x", 41), "what was typed must stay")
	require.Empty(t, secrets())
	require.Equal(t, http.StatusOK, b.Post(path+"/add", With(b.AddSecretForm(), "name", " first <1> ")).StatusCode)
	require.Equal(t, "first <1>", secrets()[0].Name)
	assert.Contains(t, b.Get(path).Text, "<b><bdi>first &lt;1&gt;</bdi></b>")

	state := w.Index
	form := With(b.AddSecretForm(), "name", "second", "old_ends", "7d")
	for range 2 { // as by a double click
		require.Equal(t, http.StatusOK, b.Post(path+"/add", form).StatusCode)
	}
	assert.Equal(t, state+1, w.Index)
	assert.Equal(t, w.Now().Add(7*24*time.Hour), secrets()[0].Ends)
	assert.Zero(t, secrets()[1].Ends)
	w.Advance(25 * time.Hour)
	b = w.SignedIn()
	page := b.Get(path)
	assert.Contains(t, page.Text, `<span class="pill">Ends on 11 March 2026</span>`)
	assert.Equal(t, 1, strings.Count(page.Text, `value="never"`))

	set := func(secret int, pairs ...string) Answer {
		form := page.Form(t, path+"/set")
		form.Set("secret", secrets()[secret].ID)
		form.Set("token", site.FormToken(b.Session(), "set secret", b.UserID, "calendar\x00"+form.Get("secret")))
		return b.Post(path+"/set", With(form, pairs...))
	}
	for range 2 {
		assert.Contains(t, b.Follow(set(0, "ends", "never")).Text, " works until you revoke it.")
		assert.Zero(t, secrets()[0].Ends)
		assert.Equal(t, "first <1>", secrets()[0].Name)
	}
	assert.Contains(t, b.Follow(set(1, "name", "production")).Text, "Secret production (ends in ")
	assert.Equal(t, "production", secrets()[1].Name)
	wrong := set(1, "name", strings.Repeat("x", 41))
	assert.Equal(t, http.StatusUnprocessableEntity, wrong.StatusCode)
	assert.Contains(t, wrong.Text, "Name is too long: ")

	b.Done(b.Post(path+"/revoke", page.Form(t, path+"/revoke")))
	gone := set(1, "name", "late")
	assert.NotEqual(t, http.StatusSeeOther, gone.StatusCode)
	assert.Equal(t, "production", secrets()[1].Name)
	assert.Contains(t, b.Get("/developer/clients/calendar/history").Text, "Revoked secret ")
}
