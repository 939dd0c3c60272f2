package site_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestNoticesAreNotForged verifies that a forged link shows no notice.
func TestNoticesAreNotForged(t *testing.T) {
	w, b := Mine(t, nil)
	w.User("u-bob", "bob", "Bob")
	bob, other := w.SignedInAs("bob"), w.SignedIn()
	for path, word := range map[string]string{
		MinePath + "/secrets": "revoked", MinePath: "accepted", "/account": "password", "/developer": "deleted",
		"/connected-apps": "disconnected-all", "/": "waits",
	} {
		genuine := b.Noticed(path, word)
		assert.True(t, b.ShowsNotice(genuine), path)
		assert.True(t, b.ShowsNotice(genuine), "a reload must show it again")
		made := func(key, user, path, word string) string {
			_, token, _ := strings.Cut(site.SignNotice(key, user, path, word), ".")
			return token
		}
		for name, token := range map[string]string{
			"none": "", "another person": made(bob.Session(), bob.UserID, path, word), "another session": made(other.Session(), b.UserID, path, word),
			"no session": made("", b.UserID, path, word), "another page": made(b.Session(), b.UserID, "/elsewhere", word),
			"another word": made(b.Session(), b.UserID, path, "saved"), "short": made(b.Session(), b.UserID, path, word)[:15],
			"long": made(b.Session(), b.UserID, path, word) + "A",
		} {
			assert.False(t, b.ShowsNotice(path+"?done="+word+"."+token), "%s: %s", path, name)
		}
		assert.False(t, b.ShowsNotice(path+"?done="+word), path)
	}
}

func TestAdministratorsNoticesAreNotForged(t *testing.T) {
	_, root := Administration(t)
	for path, words := range map[string][]string{
		"/admin/users/u-bob": {"edited", "added", string(ledger.Enable), string(ledger.Demote)},
		CalendarPage:         {"approve", "transfer"},
	} {
		for _, word := range words {
			assert.True(t, root.ShowsNotice(root.Noticed(path, word)), word)
			assert.False(t, root.ShowsNotice(path+"?done="+word), word)
		}
	}
}

// TestNotesAreNotForged verifies the same for the notes of the sign-in page.
func TestNotesAreNotForged(t *testing.T) {
	const says = "in every browser"
	w := NewEnv(t)
	b := w.SignedIn()
	genuine := b.Post("/account/sign-out-everywhere", b.Get("/account").Form(t, "/account/sign-out-everywhere")).Header.Get("Location")
	assert.Contains(t, b.Get(genuine).Text, says)
	assert.Contains(t, b.Get(genuine).Text, says, "a reload must show it again")
	assert.NotContains(t, b.Get("/auth/sign-in?note=everywhere").Text, says)

	other := w.Browser()
	assert.NotContains(t, other.Get("/auth/sign-in?note=everywhere").Text, says)
	assert.NotContains(t, other.Get(genuine).Text, says)
	assert.Contains(t, other.Get("/auth/sign-in?note=undone").Text, "You’re signed out")

	other.SetSession("unknown", 0)
	w.NoLeader = true
	assert.NotContains(t, other.Get("/auth/sign-in?note=undone").Text, "You’re signed out", "this can't be determined")
}
