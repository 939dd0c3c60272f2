// Package upstream authenticates users at an OpenID Connect provider (OpenID Connect Core
// 1.0 §3.1, authorization code flow with PKCE). It owns the provider's metadata, which it
// fetches in the background, every request to the provider, and the validation of its
// responses. It does not own the browser in between, with its cookies and pages, nor
// accounts and sessions.
package upstream
