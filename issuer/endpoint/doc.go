// Package endpoint serves the endpoints for programs: the token, revocation and
// introspection endpoints, /v2/me, the key set, the metadata and the revocation feed. It owns how a request becomes a typed
// value and how a result becomes status, headers and body. It decides nothing about
// clients and grants, and serves no pages: that is package web.
package endpoint
