package keyring

import (
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
	"github.com/mintmark-auth/mintmark/verifier"
)

// Purposes of the subkeys of a credential key. They are part of the derivation: changing a
// text changes the key.
const (
	forChain        = "mintmark chained credential"
	forSecret       = "mintmark client secret"
	forErrorID      = "mintmark error id"
	forDeclarations = "mintmark declaration"
	forAttempts     = "mintmark sign-in elsewhere"
	forDevices      = "mintmark device"
	forSessions     = "mintmark session"
	forNewSecrets   = "mintmark new client secret"
	forForms        = "mintmark form"
	forClientIDs    = "mintmark registered client"
)

// A Ring has all keys of one state of the ledger, opened. It is immutable.
type Ring struct {
	signing     map[string]*keys.Signer
	credentials map[uint32]*CredentialKey
	active      uint32   // number of the active credential key
	opened      []string // ids of all keys, sorted

	jwks   []byte
	etag   string
	source verifier.KeySource // the signing keys, for verifying this server's own tokens
}

// A CredentialKey has the subkeys of one credential key, by purpose.
type CredentialKey struct {
	Chain        *keys.MACKey // for authorization codes and refresh tokens
	Secret       *keys.MACKey // for digests of client secrets
	Declarations *keys.MACKey // for digests of declarations
	ClientIDs    *keys.MACKey // for the client_ids of registered clients

	Errors     cipher.AEAD // for error_ids
	Attempts   cipher.AEAD // for sign-ins at the upstream provider
	Devices    cipher.AEAD // for the users who have signed in with a browser
	Sessions   cipher.AEAD // for session cookies
	NewSecrets cipher.AEAD // for client secrets in the form that adds them
	Forms      cipher.AEAD // for the user to whom a form was shown
}

// Open opens the keys of a view with the cluster keys. If none of them opens a key, the
// error names it and is keys.ErrUnsealable.
func Open(v ledger.View, held *keys.ClusterKeys) (*Ring, error) {
	r := &Ring{signing: map[string]*keys.Signer{}, credentials: map[uint32]*CredentialKey{}}
	var published [][]byte
	for row := range v.Keys() {
		plain, err := held.Open(sealContext(row.Purpose, row.ID), row.Sealed)
		if err != nil {
			return nil, fmt.Errorf("open key %s: %w", row.ID, err)
		}
		switch row.Purpose {
		case ledger.ForSigning:
			s, err := keys.ParseSigner(plain)
			if err != nil {
				return nil, fmt.Errorf("read key %s: %w", row.ID, err)
			}
			r.signing[row.ID] = s
			published = append(published, row.Public)
		case ledger.ForCredentials:
			s, err := keys.ParseSecret(plain)
			if err != nil {
				return nil, fmt.Errorf("read key %s: %w", row.ID, err)
			}
			r.credentials[row.Number] = &CredentialKey{
				Chain: s.MAC(forChain), Secret: s.MAC(forSecret), Declarations: s.MAC(forDeclarations),
				ClientIDs: s.MAC(forClientIDs),
				Errors:    s.AEAD(forErrorID), Attempts: s.AEAD(forAttempts), Devices: s.AEAD(forDevices),
				Sessions: s.AEAD(forSessions), NewSecrets: s.AEAD(forNewSecrets), Forms: s.AEAD(forForms),
			}
			if row.State == ledger.KeyActive {
				r.active = row.Number
			}
		}
		r.opened = append(r.opened, row.ID)
	}
	slices.Sort(r.opened)
	var err error
	if r.jwks, err = keys.JWKS(published); err != nil {
		return nil, fmt.Errorf("render the key set: %w", err)
	}
	sum := sha256.Sum256(r.jwks)
	r.etag = `"` + hex.EncodeToString(sum[:16]) + `"`
	if len(published) == 0 {
		return r, nil // a new cluster
	}
	if r.source, err = verifier.StaticKeys(r.jwks); err != nil {
		return nil, fmt.Errorf("read the key set: %w", err)
	}
	return r, nil
}

// Opened returns the ids of all keys of the ring, sorted. The caller must not modify the
// slice.
func (r *Ring) Opened() []string { return r.opened }

// Signer returns the signing key with an id, or nil.
func (r *Ring) Signer(id string) *keys.Signer { return r.signing[id] }

// Credential returns the credential key with a number, or nil.
func (r *Ring) Credential(number uint32) *CredentialKey { return r.credentials[number] }

// Active returns the active credential key, for digests and error ids, and its number.
func (r *Ring) Active() (number uint32, k *CredentialKey) { return r.active, r.credentials[r.active] }

// Credentials returns all credential keys by number, in no particular order.
func (r *Ring) Credentials() iter.Seq2[uint32, *CredentialKey] { return maps.All(r.credentials) }

// ChainMAC is a credential.MACs for credential.ParseCode and credential.ParseRefresh.
func (r *Ring) ChainMAC(number uint32) (credential.MAC, bool) {
	k, ok := r.credentials[number]
	if !ok {
		return nil, false
	}
	return k.Chain, true
}

// ClientIDMAC is a credential.MACs for credential.ParseClientID.
func (r *Ring) ClientIDMAC(number uint32) (credential.MAC, bool) {
	k, ok := r.credentials[number]
	if !ok {
		return nil, false
	}
	return k.ClientIDs, true
}

// AEADs returns a credential.AEADs for credential.OpenText and credential.OpenCause, with
// the subkeys for one purpose.
func (r *Ring) AEADs(purpose func(*CredentialKey) cipher.AEAD) func(number uint32) (cipher.AEAD, bool) {
	return func(number uint32) (cipher.AEAD, bool) {
		k, ok := r.credentials[number]
		if !ok {
			return nil, false
		}
		return purpose(k), true
	}
}

// Digests returns the digests of a presented secret under every key of the ring. The
// ledger knows under which key each of the client's secrets was recorded.
func (r *Ring) Digests(secret string) []ledger.Digest {
	return r.DigestsOfSHA256(sha256.Sum256([]byte(secret)))
}

// DigestsOfSHA256 is Digests for a secret of which only the SHA-256 is known.
func (r *Ring) DigestsOfSHA256(sum [sha256.Size]byte) []ledger.Digest {
	d := make([]ledger.Digest, 0, len(r.credentials))
	for number, k := range r.credentials {
		d = append(d, ledger.Digest{Key: number, MAC: credential.DigestOfSHA256(k.Secret, sum)})
	}
	return d
}
