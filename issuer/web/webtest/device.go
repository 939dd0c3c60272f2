package webtest

import (
	"fmt"
	"net/http"

	"github.com/stretchr/testify/require"
)

// Exhaust lets an attacker at Ada's address guess until her name and that address are limited.
func (w *Env) Exhaust() {
	w.T.Helper()
	thief := w.Browser()
	page := thief.Get("/auth/sign-in")
	for i := range 10 {
		thief.SignIn(page, "ada", fmt.Sprint("guess ", i))
	}
	for i := range 60 {
		thief.SignIn(page, fmt.Sprint("user", i), "guess")
	}
	require.Equal(w.T, http.StatusTooManyRequests, thief.SignIn(page, "ada", Password).StatusCode)
	require.Equal(w.T, http.StatusTooManyRequests, thief.SignIn(page, "bob", Password).StatusCode)
}

// SignOut signs the browser out with the page's button.
func (b *Browser) SignOut() {
	b.Env.T.Helper()
	require.Equal(b.Env.T, http.StatusSeeOther, b.Post("/auth/sign-out", b.Get("/").Form(b.Env.T, "/auth/sign-out")).StatusCode)
}
