package verifier

import "strings"

// header has the members of the JOSE header that are read.
type header struct {
	alg, kid, typ string
}

// refusedMembers are header members that an access token never has. A member with a key
// or a link to one would let the sender choose the key (RFC 8725 §3.10); an extension in
// crit must be understood (RFC 7515 §4.1.11); zip and b64 change what is signed.
var refusedMembers = []string{"crit", "jwk", "jku", "x5u", "x5c", "zip", "b64"}

var headerMembers = append([]string{"alg", "kid", "typ"}, refusedMembers...)

// parseHeader reads the header of an access token.
func parseHeader(text string) (header, error) {
	h, err := readHeader(text)
	if err == nil && !isAccessTokenType(h.typ) {
		return header{}, refuse(ReasonType, "typ is not at+jwt")
	}
	return h, err
}

// readHeader reads the header of a JWS of any type.
func readHeader(text string) (header, error) {
	// White space around the JSON is refused: it is part of what is signed, and readers
	// that encode the header again lose it.
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return header{}, refuse(ReasonMalformed, "header is not exactly one JSON object")
	}
	var h header
	s := scanner{in: text}
	err := s.object(func(name string) (err error) {
		switch name {
		case "alg":
			h.alg, err = s.text()
			h.alg = canonical(h.alg)
		case "kid":
			h.kid, err = s.text()
		case "typ":
			h.typ, err = s.text()
		default:
			if isAmong(name, headerMembers) {
				return refuse(ReasonHeader, "a member that is not allowed")
			}
			err = s.value()
		}
		return err
	})
	if err == nil {
		err = s.end()
	}
	switch {
	case err == errJSON:
		return header{}, refuse(ReasonMalformed, "header is not strict JSON")
	case err != nil:
		return header{}, err
	case h.alg == "" || h.kid == "":
		return header{}, refuse(ReasonHeader, "alg or kid is missing")
	}
	return h, nil
}

// isAccessTokenType follows RFC 9068 §4; media types compare without regard to
// letter case (RFC 7515 §4.1.9).
func isAccessTokenType(typ string) bool {
	return strings.EqualFold(typ, "at+jwt") || strings.EqualFold(typ, "application/at+jwt")
}
