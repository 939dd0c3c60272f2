// Package upstream asks an OpenID Connect provider who somebody is (OpenID
// Connect Core 1.0 §3.1, by the authorization code with PKCE). It owns the
// provider's metadata, which it learns in the background, every request to the
// provider, and what of an answer can be believed. It does not own the browser in
// between, with its cookies and pages, nor accounts and sessions.
package upstream
