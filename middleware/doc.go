// Package middleware guards the routes of a resource server that takes
// Mintmark's access tokens: a net/http wrapper that verifies the bearer token
// offline, asks for the scope that the route needs, and answers refusals as
// RFC 6750 §3 says.
//
// It owns the Authorization header as a reader, and the refusals. It does not
// own the verdict on a token (package verifier) nor what a scope covers
// (package scope), and it doesn't know the service's routes.
//
// A guarded handler still has one check to make, which nobody else can: a token
// says what the application may do for its user, not whether the booking in the
// path is that user's, or the user a member of the team or organization. Take
// the user's id from [FromContext] and ask your own data.
//
// A program that imports this package links the standard library only.
package middleware
