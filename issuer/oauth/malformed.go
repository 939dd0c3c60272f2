package oauth

import "slices"

// malformed has the descriptions of malformed requests to the token, revocation and introspection
// endpoints. Their numbers, which begin with 1, are sealed into error ids, so descriptions are
// appended and never removed.
var malformed = []string{
	"The parameter grant_type is missing.",
	"The parameter client_id is missing.",
	"The parameter code is missing.",
	"The parameter redirect_uri is missing.",
	"The parameter refresh_token is missing.",
	"The parameter token is missing.",
	"A parameter came more than once.",
	"The client authenticated in two ways.",
	"The parameter client_id differs from the Authorization header.",
	"The body must be application/x-www-form-urlencoded or application/json.",
	"The body can not be read as its Content-Type says.",
	"A parameter of the JSON object is not a string.",
	"A header that may come once came more than once.",
}

// MalformedNumber returns the number of a description of a malformed request, or 0 for any other
// text.
func MalformedNumber(description string) uint32 {
	return uint32(slices.Index(malformed, description) + 1)
}

// MalformedDescription returns the description with a number, or "" for 0 and numbers of later
// versions.
func MalformedDescription(number uint32) string {
	if number == 0 || int(number) > len(malformed) {
		return ""
	}
	return malformed[number-1]
}
