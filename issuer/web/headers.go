package web

import (
	"net/http"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// setHeaders are on every answer. Referrer-Policy isn't no-referrer: a browser
// would then send Origin: null with our own forms.
func (w *Web) setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy(""))
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if w.config.Secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// keepForBack lets a browser keep the answer to a form in which something was
// wrong: it has no other way to show that page to who goes back to it, and offers
// to send the form again instead. What is kept is not used for anything else, and
// forgetKept ends it.
func keepForBack(c *call, f *form) {
	if f.kind.revisited && c.posted {
		c.Header().Set("Cache-Control", "private, no-cache")
	}
}

// forgetKept has a browser drop what keepForBack let it keep: who uses it next is
// somebody else.
func forgetKept(h http.Header) { h.Set("Clear-Site-Data", `"cache"`) }

// formsReach lets the forms of this page end, after redirects, at a
// redirection URI. Chromium holds every redirect after a form against
// form-action. The URI must be registered.
func formsReach(c *call, uri string) {
	c.Header().Set("Content-Security-Policy", contentPolicy(formTarget(uri)))
}

func contentPolicy(formTarget string) string {
	target := "'self'"
	if formTarget != "" {
		target += " " + formTarget
	}
	return "default-src 'none'; style-src 'self'; img-src 'self'; form-action " + target +
		"; frame-ancestors 'none'; base-uri 'none'"
}

// formTarget is the source expression for a redirection URI, or "" where
// there is none that is safe to write: a host may hold ; and , (RFC 3986
// §3.2.2), which would end the directive or the policy.
func formTarget(uri string) string {
	origin := oauth.RedirectOrigin(uri)
	if strings.Contains(origin, "[") {
		return "http:" // no source expression can name an IPv6 address; only [::1] is registered with one
	}
	if strings.ContainsFunc(origin, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~:/+", r)
	}) {
		return ""
	}
	return origin
}
