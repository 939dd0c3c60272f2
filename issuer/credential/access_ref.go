package credential

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// AccessRef returns the reference in an access token that a verifier.Verifier has accepted, so its
// header can be read; grant is its claim grant_id. ok is false if it is not a token of MintAccess.
func AccessRef(token, grant string) (ref ledger.AccessRef, ok bool) {
	encoded, _, _ := strings.Cut(token, ".")
	text, _ := base64.RawURLEncoding.DecodeString(encoded)
	var header struct {
		KeyID string `json:"kid"`
	}
	_ = json.Unmarshal(text, &header)
	id, ok := ledger.ParseGrantID(grant)
	return ledger.AccessRef{Grant: id, Key: header.KeyID}, ok && header.KeyID != ""
}
