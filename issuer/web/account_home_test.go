package web_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHome(t *testing.T) {
	b := newEnv(t).signedIn()
	home := b.get("/")
	for _, text := range []string{
		"<title>Home · Mintmark</title>", "Hello, <bdi>Ada Lovelace</bdi>", "You are signed in as <strong><bdi>ada</bdi></strong>",
		`<a href="/" aria-current="page">Home</a>`, `<h2><a href="/connected-apps">Connected apps</a></h2>`, `<h2><a href="/account">Your account</a></h2>`,
		`<a class="skip" href="#main">`, `<main id="main"`, `<nav class="menu" aria-label="Main">`,
	} {
		assert.Contains(t, home.body, text)
	}
	assert.NotContains(t, home.body, "Administration")
	assert.NotContains(t, home.body, `aria-label="Breadcrumb"`)
}
