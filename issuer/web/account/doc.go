// Package account serves the pages of a user's own account: the home page, the connected apps,
// the profile, the password, and the browsers in which the user is signed in.
package account
