package verifier

import (
	"encoding/base64"
	"strings"
)

// maxToken is the longest accepted token, in bytes. It is checked first. A token with all
// scopes is several times shorter.
const maxToken = 8 << 10

// compact is a JWS in compact serialization (RFC 7515 §7.1), decoded and not verified.
type compact struct {
	signed    []byte // the ASCII bytes under the signature: header.payload
	header    string
	payload   string
	signature []byte
}

// encoding refuses padding and nonzero trailing bits, so that a token has one spelling.
// It skips CR and LF, which split refuses.
var encoding = base64.RawURLEncoding.Strict()

func split(token string) (compact, error) {
	if len(token) > maxToken {
		return compact{}, refuse(ReasonMalformed, "longer than 8 KiB")
	}
	return splitParts(token)
}

// splitParts is split for a JWS of any length.
func splitParts(token string) (compact, error) {
	first, last := strings.IndexByte(token, '.'), strings.LastIndexByte(token, '.')
	if strings.Count(token, ".") != 2 || first == 0 || last == first+1 || last == len(token)-1 {
		return compact{}, refuse(ReasonMalformed, "not three parts")
	}
	if strings.IndexByte(token, '\n') >= 0 || strings.IndexByte(token, '\r') >= 0 {
		return compact{}, refuse(ReasonMalformed, "not base64url")
	}
	// Two allocations for any token: one for its bytes followed by the octets of all
	// three parts, and one for the string of which header, payload and claims are
	// substrings.
	buffer := make([]byte, len(token)+encoding.DecodedLen(len(token)))
	raw, octets := buffer[:len(token)], buffer[len(token):]
	copy(raw, token)
	h, err := encoding.Decode(octets, raw[:first])
	if err != nil {
		return compact{}, refuse(ReasonMalformed, "not base64url")
	}
	p, err := encoding.Decode(octets[h:], raw[first+1:last])
	if err != nil {
		return compact{}, refuse(ReasonMalformed, "not base64url")
	}
	s, err := encoding.Decode(octets[h+p:], raw[last+1:])
	if err != nil {
		return compact{}, refuse(ReasonMalformed, "not base64url")
	}
	text := string(octets[:h+p])
	return compact{
		signed:    raw[:last],
		header:    text[:h],
		payload:   text[h:],
		signature: octets[h+p : h+p+s],
	}, nil
}
