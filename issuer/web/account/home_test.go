package account_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

func TestHome(t *testing.T) {
	b := NewEnv(t).SignedIn()
	home := b.Get("/")
	for _, text := range []string{
		"<title>Hello, Ada Lovelace · Mintmark</title>", "<h1><bdi>Hello, Ada Lovelace</bdi></h1>",
		`<h2><a href="/connected-apps">Connected apps</a></h2>`, `<h2><a href="/account">Profile &amp; security</a></h2>`,
		`<a class="skip" href="#main">`, `<main id="main"`, `<nav class="side" aria-label="Main">`, `<a href="/account"><bdi>Ada Lovelace</bdi></a>`, `data-key="`,
	} {
		assert.Contains(t, home.Text, text)
	}
	assert.NotContains(t, home.Text, "Administer")
}
