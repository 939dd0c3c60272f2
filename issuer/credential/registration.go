package credential

import (
	"bytes"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// The client_id of a registered client (RFC 7591) is
//
//	prefix | base64url( version | key id | MAC | registration )
//
// so that nothing is stored for a registration. It has no secret: the MAC only proves that the
// registration endpoint has made it, within its limits. The same registration gives the same
// client_id as long as the key is active.
const (
	registeredVersion = 1

	registeredKeyAt  = 1
	registeredMACAt  = registeredKeyAt + 4
	registeredTextAt = registeredMACAt + 32
	maxRegistered    = registeredTextAt + oauth.MaxRegistration
)

// MintClientID returns the client_id of a registration, or false if that is longer than
// oauth.MaxRegistration.
func MintClientID(m MAC, keyID uint32, r oauth.Registration) (string, bool) {
	text, _ := json.Marshal(r) // strings can always be marshalled
	if len(text) > oauth.MaxRegistration {
		return "", false
	}
	b := make([]byte, registeredTextAt, registeredTextAt+len(text))
	b[0] = registeredVersion
	binary.BigEndian.PutUint32(b[registeredKeyAt:], keyID)
	sum := m.Sum(b[:registeredMACAt], text)
	copy(b[registeredMACAt:], sum[:])
	return oauth.RegisteredPrefix + base64.RawURLEncoding.EncodeToString(append(b, text...)), true
}

// ParseClientID returns the registration in a client_id, if one of the keys made it.
func ParseClientID(clientID string, keys MACs) (r oauth.Registration, err error) {
	if !oauth.IsRegisteredID(clientID) {
		return r, ErrMalformed
	}
	encoded := clientID[len(oauth.RegisteredPrefix):]
	if len(encoded) > base64.RawURLEncoding.EncodedLen(maxRegistered) {
		return r, ErrMalformed
	}
	b, _ := base64.RawURLEncoding.DecodeString(encoded)
	if len(b) < registeredTextAt || b[0] != registeredVersion || base64.RawURLEncoding.EncodeToString(b) != encoded {
		return r, ErrMalformed // also what can't be decoded, and another spelling of a genuine one
	}
	m, ok := keys(binary.BigEndian.Uint32(b[registeredKeyAt:]))
	if !ok {
		return r, ErrUnknownKey
	}
	if sum := m.Sum(b[:registeredMACAt], b[registeredTextAt:]); subtle.ConstantTimeCompare(sum[:], b[registeredMACAt:registeredTextAt]) != 1 {
		return r, ErrForged
	}
	d := json.NewDecoder(bytes.NewReader(b[registeredTextAt:]))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, ErrMalformed
	}
	return r, nil
}
