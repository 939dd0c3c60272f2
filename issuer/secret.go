package issuer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/keyring"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Secret returns what the ledger records of a client secret: its digest under the active
// credential key.
func (i *Issuer) Secret(plain string) (ledger.NewSecret, error) {
	if plain == "" {
		return ledger.NewSecret{}, errors.New("a client secret is empty")
	}
	s, err := i.SecretOfSHA256(sha256.Sum256([]byte(plain)))
	s.Tail = credential.Tail(plain)
	return s, err
}

// SecretOfSHA256 is Secret for a secret of which only the SHA-256 is known.
func (i *Issuer) SecretOfSHA256(sum [32]byte) (ledger.NewSecret, error) {
	id, err := i.newSecretID()
	if err != nil {
		return ledger.NewSecret{}, err
	}
	number, key := i.Keyring.Ring().Active()
	return ledger.NewSecret{ID: id, Key: number, Digest: credential.DigestOfSHA256(key.Secret, sum)}, nil
}

// SecretOfHash is Secret for a secret of which only a hash is known that another system made
// and that credential.ForeignHash accepts.
func (i *Issuer) SecretOfHash(hash string) (ledger.NewSecret, error) {
	id, err := i.newSecretID()
	return ledger.NewSecret{ID: id, Hash: hash}, err
}

func (i *Issuer) newSecretID() (string, error) {
	var id [8]byte
	if _, err := io.ReadFull(i.config.Rand, id[:]); err != nil {
		return "", fmt.Errorf("make a secret's id: %w", err)
	}
	return "s_" + hex.EncodeToString(id[:]), nil
}

// Digest returns the digest of a secret under a credential key, and false if there is no
// such key any more.
func (i *Issuer) Digest(key uint32, plain string) (digest [32]byte, ok bool) {
	k := i.Keyring.Ring().Credential(key)
	if k == nil {
		return digest, false
	}
	return credential.Digest(k.Secret, plain), true
}

// SecretDigests returns the digests of a secret, of which the SHA-256 is known, under every
// credential key that this node has opened.
func (i *Issuer) SecretDigests(sum [32]byte) []ledger.Digest {
	return i.Keyring.Ring().DigestsOfSHA256(sum)
}

// Declared returns keyed digests of a declaration, by which the ledger recognises one that
// it has applied: under the active key first, then under the others. They are keyed
// because declarations contain secrets that can be guessed.
func (i *Issuer) Declared(text []byte) []string {
	ring := i.Keyring.Ring()
	active, key := ring.Active()
	list := []string{declared(key, text)}
	for number, key := range ring.Credentials() {
		if number != active {
			list = append(list, declared(key, text))
		}
	}
	return list
}

func declared(k *keyring.CredentialKey, text []byte) string {
	sum := k.Declarations.Sum(text)
	return hex.EncodeToString(sum[:16])
}
