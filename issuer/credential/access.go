package credential

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
)

// AccessClaims are the claims of an access token (RFC 9068 §2.2) and two private ones,
// legacy and grant_id. Times are Unix seconds of the command that permitted the token, not of
// the node that mints it.
type AccessClaims struct {
	Issuer   string // iss
	Subject  string // sub, the user's id
	Audience string // aud
	ClientID string // client_id
	Scope    string // scope, names separated by single spaces; empty if Legacy
	GrantID  string // grant_id
	ID       string // jti

	IssuedAt  int64 // iat
	ExpiresAt int64 // exp

	Legacy bool // legacy, always present
}

// commonSignature is the encoded length of an ES256 or EdDSA signature, which is reserved in
// advance. A longer RS256 signature costs a copy, negligible beside its 2 ms.
const commonSignature = 86

// ErrClaims reports claims that are not valid for an access token.
var ErrClaims = errors.New("claims are not those of an access token")

// MintAccess returns a signed access token (RFC 9068 §2).
func MintAccess(s Signer, c AccessClaims) (AccessToken, error) {
	if err := c.check(); err != nil {
		return AccessToken{}, err
	}
	var scratch [1024]byte // for the JSON; longer claims move to the heap
	json := appendHeader(scratch[:0], s)
	header := len(json)
	json = appendClaims(json, c)

	enc := base64.RawURLEncoding
	size := enc.EncodedLen(header) + 1 + enc.EncodedLen(len(json)-header) + 1 + commonSignature
	token := make([]byte, 0, size)
	token = enc.AppendEncode(token, json[:header])
	token = append(token, '.')
	token = enc.AppendEncode(token, json[header:])
	signature, err := s.Sign(token)
	if err != nil {
		return AccessToken{}, fmt.Errorf("mint access token: %w", err)
	}
	token = append(token, '.')
	token = enc.AppendEncode(token, signature)
	return AccessToken{redact(string(token))}, nil
}

// check refuses claims without what RFC 9068 §2.2 requires. Verifiers would refuse such a
// token later, where the mistake is harder to find.
func (c AccessClaims) check() error {
	switch "" {
	case c.Issuer, c.Subject, c.Audience, c.ClientID, c.GrantID, c.ID:
		return fmt.Errorf("%w: empty claim", ErrClaims)
	}
	if c.ExpiresAt <= c.IssuedAt {
		return fmt.Errorf("%w: exp not after iat", ErrClaims)
	}
	if c.Legacy && c.Scope != "" {
		return fmt.Errorf("%w: legacy with a scope", ErrClaims)
	}
	return nil
}

// appendHeader appends the JOSE header (RFC 9068 §2.1), without parameters that could point a
// verifier to a key (RFC 8725 §3.10).
func appendHeader(b []byte, s Signer) []byte {
	b = append(b, `{"alg":`...)
	b = appendString(b, s.Alg())
	b = append(b, `,"kid":`...)
	b = appendString(b, s.KeyID())
	return append(b, `,"typ":"at+jwt"}`...)
}

func appendClaims(b []byte, c AccessClaims) []byte {
	b = append(b, `{"iss":`...)
	b = appendString(b, c.Issuer)
	b = append(b, `,"sub":`...)
	b = appendString(b, c.Subject)
	b = append(b, `,"aud":`...)
	b = appendString(b, c.Audience)
	b = append(b, `,"exp":`...)
	b = strconv.AppendInt(b, c.ExpiresAt, 10)
	b = append(b, `,"iat":`...)
	b = strconv.AppendInt(b, c.IssuedAt, 10)
	b = append(b, `,"jti":`...)
	b = appendString(b, c.ID)
	b = append(b, `,"client_id":`...)
	b = appendString(b, c.ClientID)
	b = append(b, `,"scope":`...)
	b = appendString(b, c.Scope)
	b = append(b, `,"legacy":`...)
	b = strconv.AppendBool(b, c.Legacy)
	b = append(b, `,"grant_id":`...)
	b = appendString(b, c.GrantID)
	return append(b, '}')
}
