package web

import "net/http"

// setHeaders are on every answer. Referrer-Policy isn't no-referrer: a browser
// would then send Origin: null with our own forms.
func (w *Web) setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
	if w.config.Secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// allowBackCache lets a browser keep the answer to a form in which something was
// wrong: it has no other way to show that page to who goes back to it, and offers
// to send the form again instead. What is kept is not used for anything else, and
// clearBackCache ends it.
func allowBackCache(c *request, f *form) {
	if f.kind.revisited && c.posted {
		c.Header().Set("Cache-Control", "private, no-cache")
	}
}

// clearBackCache has a browser drop what allowBackCache let it keep: who uses it next is
// somebody else.
func clearBackCache(h http.Header) { h.Set("Clear-Site-Data", `"cache"`) }

// contentPolicy limits what a page may load and where its forms may lead. Chromium
// checks form-action against every redirect that follows a form, also against those of
// the application, whose targets this server doesn't know. The consent page therefore
// has formsAnywhere, without form-action. Every other form leads to a page of this
// server: see continueTo.
const (
	contentPolicy = formsAnywhere + "; form-action 'self'"
	formsAnywhere = "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
