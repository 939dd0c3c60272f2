package site

import (
	"net/http"
	"strings"
)

// setHeaders sets the headers of every response of a route. Referrer-Policy isn't
// no-referrer, because browsers would then send Origin: null with this server's own forms.
// The pages below /auth/ have no Cross-Origin-Opener-Policy: it would cut the connection
// between an application in a browser and the window that it opens for the authorization
// step, and the application would not learn that the user has decided. See IsolateOpener.
func (w *Site) setHeaders(h http.Header, route string) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	if !strings.HasPrefix(route, "/auth/") {
		isolateOpener(h)
	}
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
	if w.Secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

func isolateOpener(h http.Header) { h.Set("Cross-Origin-Opener-Policy", "same-origin") }

// IsolateOpener sets the policy for a page below /auth/ that doesn't lead to the authorization
// step.
func (c *Request) IsolateOpener() { isolateOpener(c.Header()) }

// allowBackCache permits a browser to store a page that shows a sent form again:
// otherwise the back button would offer to send the form again instead of showing the
// page. The stored page is not used for anything else, and clearBackCache removes it.
func allowBackCache(c *Request, f *Form) {
	if f.Kind.Revisited && c.posted {
		c.Header().Set("Cache-Control", "private, no-cache")
	}
}

// clearBackCache removes what allowBackCache permitted to store, since another person may
// use the browser next.
func clearBackCache(h http.Header) { h.Set("Clear-Site-Data", `"cache"`) }

// contentPolicy limits what a page may load and where its forms may lead. Chromium checks
// form-action against every redirect after a form, including those of the application,
// whose targets this server doesn't know. The consent page therefore has FormsAnywhere,
// without form-action. Every other form leads to a page of this server: see continueTo.
const (
	contentPolicy = FormsAnywhere + "; form-action 'self'"
	FormsAnywhere = "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'"

	// shellPolicy is for the pages of signed-in users, which have the script of package ui. It
	// may not turn text into markup or code.
	shellPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; " +
		"require-trusted-types-for 'script'; trusted-types 'none'"
)
