package issuer

import (
	"context"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
	"github.com/mintmark-auth/mintmark/verifier"
)

// Purposes of the subkeys of a credential key.
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
)

// A keyring is every key of one state of the ledger, opened. It is immutable; a
// new one is made when the keys change.
type keyring struct {
	signing     map[string]*keys.Signer
	credentials map[uint32]*credentialKey
	active      uint32   // the credential key to make digests and error ids with
	opened      []string // ids of all keys in here

	jwks   []byte
	etag   string
	source verifier.KeySource // the same keys, for tokens that come back to us
}

type credentialKey struct {
	chain, secret, declarations *keys.MACKey
	errors, attempts, devices   cipher.AEAD
	sessions, newSecrets, forms cipher.AEAD
}

// openKeyring opens the keys of a view with the cluster keys. A key that can't be
// opened is an error that names it: the node has another cluster key.
func openKeyring(v ledger.View, k *keys.ClusterKeys) (*keyring, error) {
	r := &keyring{signing: map[string]*keys.Signer{}, credentials: map[uint32]*credentialKey{}}
	var published [][]byte
	for row := range v.Keys() {
		plain, err := k.Open(sealContext(row.Purpose, row.ID), row.Sealed)
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
			r.credentials[row.Number] = &credentialKey{
				chain: s.MAC(forChain), secret: s.MAC(forSecret), declarations: s.MAC(forDeclarations),
				errors: s.AEAD(forErrorID), attempts: s.AEAD(forAttempts), devices: s.AEAD(forDevices),
				sessions: s.AEAD(forSessions), newSecrets: s.AEAD(forNewSecrets), forms: s.AEAD(forForms),
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
		return r, nil // a cluster that has made none yet
	}
	if r.source, err = verifier.StaticKeys(r.jwks); err != nil {
		return nil, fmt.Errorf("read the key set: %w", err)
	}
	return r, nil
}

func sealContext(p ledger.Purpose, id string) string { return "mintmark/" + string(p) + "/" + id }

func (r *keyring) chainMAC(number uint32) (credential.MAC, bool) {
	k, ok := r.credentials[number]
	if !ok {
		return nil, false
	}
	return k.chain, true
}

func (r *keyring) errorAEAD(number uint32) (cipher.AEAD, bool) {
	k, ok := r.credentials[number]
	if !ok {
		return nil, false
	}
	return k.errors, true
}

// digests are those of a presented secret under every key of the keyring: the
// ledger knows which one the client's secrets were recorded under.
func (r *keyring) digests(secret string) []ledger.Digest {
	d := make([]ledger.Digest, 0, len(r.credentials))
	for number, k := range r.credentials {
		d = append(d, ledger.Digest{Key: number, MAC: credential.Digest(k.secret, secret)})
	}
	return d
}

// reloadPause keeps strangers, who can name any key, from having the cluster
// asked for each of their forgeries.
const reloadPause = 250 * time.Millisecond

// reloadKeyring makes a keyring that is not older than the call. Calls that wait
// together share one.
func (i *Issuer) reloadKeyring(ctx context.Context) error {
	called := time.Now()
	select {
	case i.reloading <- struct{}{}:
	case <-ctx.Done():
		return unavailable(ctx.Err())
	}
	defer func() { <-i.reloading }()
	if i.reloadedAt.After(called) {
		return nil
	}
	select {
	case <-time.After(time.Until(i.reloadedAt.Add(reloadPause))):
	case <-ctx.Done():
		return unavailable(ctx.Err())
	}
	looked := time.Now()
	if _, err := i.ViewPaced(ctx); err != nil {
		return err
	}
	i.reloadedAt = looked
	return i.reopen()
}
