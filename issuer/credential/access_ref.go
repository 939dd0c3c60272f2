package credential

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// AccessRef returns the reference in an access token that a verifier.Verifier has accepted;
// grant is its claim grant_id. ok is false if it is not a token of MintAccess.
func AccessRef(token, grant string) (ref ledger.AccessRef, ok bool) {
	encoded, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return ref, false
	}
	var header struct {
		KeyID string `json:"kid"`
	}
	if json.Unmarshal(text, &header) != nil {
		return ref, false
	}
	id, ok := ledger.ParseGrantID(grant)
	return ledger.AccessRef{Grant: id, Key: header.KeyID}, ok && header.KeyID != ""
}
