package web_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHome(t *testing.T) {
	b := newEnv(t).signedIn()
	home := b.get("/")
	for _, text := range []string{
		"<title>Hello, Ada Lovelace · Mintmark</title>", "<h1><bdi>Hello, Ada Lovelace</bdi></h1>",
		`<h2><a href="/connected-apps">Connected apps</a></h2>`, `<h2><a href="/account">Profile &amp; security</a></h2>`,
		`<a class="skip" href="#main">`, `<main id="main"`, `<nav class="side" aria-label="Main">`, `<a href="/account"><bdi>Ada Lovelace</bdi></a>`, `data-key="`,
	} {
		assert.Contains(t, home.body, text)
	}
	assert.NotContains(t, home.body, "Administer")
}
