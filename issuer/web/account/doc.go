// Package account serves the pages of a user's own account: what needs the user’s attention, the connected apps,
// the profile, the password, and the browsers in which the user is signed in.
package account
