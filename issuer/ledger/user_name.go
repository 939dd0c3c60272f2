package ledger

import "strings"

// reservedName returns why an unused name is refused, or "": people or programs could
// mistake its user for another. A user who already has the name may keep it.
func (v View) reservedName(name, id string) string {
	switch other := v.User(name); {
	case reading(name) == Operator:
		return "is what the audit trail calls the operator of this service"
	case looksLikeID(name):
		return "looks like an identifier that this service makes"
	case other != nil && other.ID != id:
		return "is the identifier of another user"
	}
	return v.unclearName(name, id)
}

// reservedID does the same for the identifier of a new user.
func (v View) reservedID(id string) string {
	switch {
	case fold(id) == Operator:
		return "is what the audit trail calls the operator of this service"
	case v.UserByName(id) != nil:
		return "is the user name of another user"
	}
	return ""
}

// minRandomID is the minimum length of the random part of a generated identifier of a user,
// client or secret.
const minRandomID = 22

// looksLikeID reports whether a name has the form of a generated identifier. Readers compare
// only the beginning of such a name.
func looksLikeID(name string) bool {
	kind, random, _ := strings.Cut(fold(name), "_")
	return (kind == "u" || kind == "c" || kind == "s") && len(random) >= minRandomID &&
		strings.Trim(random, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
