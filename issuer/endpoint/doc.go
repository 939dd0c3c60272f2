// Package endpoint serves what programs call: the token endpoint, GET /v2/me,
// the key set and the metadata. It owns how a request becomes a typed value
// and how a result becomes status, headers and body. It decides nothing about
// clients and grants, and shows nothing to people: that is package web.
package endpoint
