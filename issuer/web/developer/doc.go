// Package developer serves the pages of a user's own applications: registering and editing them,
// their secrets, how to connect, who uses them, why requests were refused, the move to scopes, and
// handing them over.
//
// A client of somebody else is reported as not found. Administrators may see the errors and the
// number of users of every client.
package developer
