package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// noticed returns the address of a page with a notice, as a redirect to it has it.
func (b *browser) noticed(path, word string) string {
	return path + "?" + url.Values{"done": {web.SignNotice(b.session(), b.userID, path, word)}}.Encode()
}

var noticeToken = regexp.MustCompile(`(\?done=[a-z-]+)\.[A-Za-z0-9_-]{16}$`)

// leadsTo returns the target of a redirect, without the token of a notice.
func leadsTo(res answer) string {
	return noticeToken.ReplaceAllString(res.Header.Get("Location"), "$1")
}

// showsNotice reports whether a page begins with a notice.
func (b *browser) showsNotice(address string) bool {
	b.env.t.Helper()
	page := b.get(address)
	require.Equal(b.env.t, http.StatusOK, page.StatusCode)
	return strings.Contains(page.body, `class="callout good notice" role="status"`)
}

// TestNoticesAreNotForged verifies that a forged link shows no notice.
func TestNoticesAreNotForged(t *testing.T) {
	w, b := mine(t, nil)
	w.user("u-bob", "bob", "Bob")
	bob, other := w.signedInAs("bob"), w.signedIn()
	for path, word := range map[string]string{
		minePath + "/secrets": "revoked", minePath: "accepted", "/account": "password", "/developer": "deleted",
		"/connected-apps": "disconnected-all", "/": "waits",
	} {
		genuine := b.noticed(path, word)
		assert.True(t, b.showsNotice(genuine), path)
		assert.True(t, b.showsNotice(genuine), "a reload must show it again")
		made := func(key, user, path, word string) string {
			_, token, _ := strings.Cut(web.SignNotice(key, user, path, word), ".")
			return token
		}
		for name, token := range map[string]string{
			"none": "", "another person": made(bob.session(), bob.userID, path, word), "another session": made(other.session(), b.userID, path, word),
			"no session": made("", b.userID, path, word), "another page": made(b.session(), b.userID, "/elsewhere", word),
			"another word": made(b.session(), b.userID, path, "saved"), "short": made(b.session(), b.userID, path, word)[:15],
			"long": made(b.session(), b.userID, path, word) + "A",
		} {
			assert.False(t, b.showsNotice(path+"?done="+word+"."+token), "%s: %s", path, name)
		}
		assert.False(t, b.showsNotice(path+"?done="+word), path)
	}
}

func TestAdministratorsNoticesAreNotForged(t *testing.T) {
	_, root := administration(t)
	for path, words := range map[string][]string{
		"/admin/users/u-bob": {"edited", "password", string(ledger.Enable), string(ledger.Demote)},
		calendarPage:         {"approve", "transfer"},
	} {
		for _, word := range words {
			assert.True(t, root.showsNotice(root.noticed(path, word)), word)
			assert.False(t, root.showsNotice(path+"?done="+word), word)
		}
	}
}

// TestNotesAreNotForged verifies the same for the notes of the sign-in page.
func TestNotesAreNotForged(t *testing.T) {
	const says = "in every browser"
	w := newEnv(t)
	b := w.signedIn()
	genuine := b.post("/account/sign-out-everywhere", b.get("/account").form(t, "/account/sign-out-everywhere")).Header.Get("Location")
	assert.Contains(t, b.get(genuine).body, says)
	assert.Contains(t, b.get(genuine).body, says, "a reload must show it again")
	assert.NotContains(t, b.get("/auth/sign-in?note=everywhere").body, says)

	other := w.browser()
	assert.NotContains(t, other.get("/auth/sign-in?note=everywhere").body, says)
	assert.NotContains(t, other.get(genuine).body, says)
	assert.Contains(t, other.get("/auth/sign-in?note=undone").body, "You are signed out")

	other.setSession("unknown", 0)
	w.noLeader = true
	assert.NotContains(t, other.get("/auth/sign-in?note=undone").body, "You are signed out", "this can't be determined")
}
