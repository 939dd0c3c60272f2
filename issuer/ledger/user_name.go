package ledger

import "strings"

// reservedName returns why a name that no user has is refused, or "": people and programs
// could mistake its user for somebody else. A user who already has the name may keep it.
func (v View) reservedName(name, id string) string {
	switch other := v.User(name); {
	case fold(name) == Operator:
		return "is what the audit trail calls the operator of this service"
	case looksLikeID(name):
		return "looks like an identifier that this service makes"
	case other != nil && other.ID != id:
		return "is the identifier of another user"
	}
	return ""
}

// reservedID says the same of the identifier of a new user.
func (v View) reservedID(id string) string {
	switch other := v.UserByName(id); {
	case fold(id) == Operator:
		return "is what the audit trail calls the operator of this service"
	case other != nil && other.ID != id:
		return "is the user name of another user"
	}
	return ""
}

// minRandomID is how long the random part of an identifier is at least that was made
// for a user, a client or a secret.
const minRandomID = 22

// looksLikeID reports whether a name has the shape of such an identifier: people
// don't read so many characters, and see that it begins as one does.
func looksLikeID(name string) bool {
	kind, random, _ := strings.Cut(fold(name), "_")
	return (kind == "u" || kind == "c" || kind == "s") && len(random) >= minRandomID &&
		strings.Trim(random, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
