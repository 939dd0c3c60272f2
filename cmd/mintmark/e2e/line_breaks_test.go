package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// brokenWords returns the parts of addresses in which a line ends.
const brokenWords = `[...document.querySelectorAll("bdi:has(wbr)")].flatMap(e => [...e.childNodes]).filter(n => {
	const r = document.createRange(); r.selectNodeContents(n); return n.nodeType === 3 && r.getClientRects().length > 1 }).map(n => n.data)`

// TestBrowserLooks: irreversible actions look different, and an e-mail address is not
// broken within a word, at any window width.
func TestBrowserLooks(t *testing.T) {
	s := start(t, `
users:
  - {id: u-alice, username: alice, email: alice.longworth@department.example.com, name: Alice, password: "correct horse", admin: true}
  - {id: u-bob, username: bob, email: bob@mail.company.example.com, name: Bob Example the Elder, password: "battery staple"}
clients:
  - {id: one, name: One, owner: alice, redirect_uris: ["https://one.example/callback"], scopes: [PROFILE_READ]}
`)
	b := newTab(t)
	b.open(s.AppURL + "/auth/sign-in")
	b.signIn("alice", "correct horse")
	for _, width := range []int64{1200, 840, 640, 320} {
		b.setDisplay(width, "light")
		for _, page := range []string{"/admin/users", "/account"} {
			b.open(s.AppURL + page)
			require.NotZero(t, b.count("bdi wbr"), page)
			require.Empty(t, evaluate[[]string](b, brokenWords), "%s, %d pixels", page, width)
		}
	}
	for _, theme := range []string{"light", "dark"} {
		b.setDisplay(1200, theme)
		b.open(s.AppURL + "/developer/clients/one/delete")
		const colours = `[".box.danger", ".box.danger button"].map(s => getComputedStyle(document.querySelector(s)).borderTopColor)`
		got := evaluate[[]string](b, colours)
		require.Equal(t, got[1], got[0], "the frame has the colour of the button")
		require.NotEqual(t, evaluate[string](b, `getComputedStyle(document.querySelector("input[type=text]")).borderTopColor`), got[0])
	}
}
