package issuer

import (
	"context"
	"crypto/cipher"
	"errors"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/keyring"
)

// Browsers store data for the pages, sealed by purpose, so that any node of the cluster
// can open it and no node has to store it.
func ofErrors(k *keyring.CredentialKey) cipher.AEAD     { return k.Errors }
func ofAttempts(k *keyring.CredentialKey) cipher.AEAD   { return k.Attempts }
func ofDevices(k *keyring.CredentialKey) cipher.AEAD    { return k.Devices }
func ofSessions(k *keyring.CredentialKey) cipher.AEAD   { return k.Sessions }
func ofForms(k *keyring.CredentialKey) cipher.AEAD      { return k.Forms }
func ofNewSecrets(k *keyring.CredentialKey) cipher.AEAD { return k.NewSecrets }

// SealNewSecret seals a client secret for the form that adds it; see web.NewSecrets.
func (i *Issuer) SealNewSecret(plain []byte) string { return i.seal(ofNewSecrets, plain) }

// OpenNewSecret is the inverse of SealNewSecret.
func (i *Issuer) OpenNewSecret(text string) ([]byte, error) { return i.open(ofNewSecrets, text) }

// SealForm seals the record of the user to whom a form was shown; see web.Forms.
func (i *Issuer) SealForm(plain []byte) string { return i.seal(ofForms, plain) }

// OpenForm is the inverse of SealForm.
func (i *Issuer) OpenForm(text string) ([]byte, error) { return i.open(ofForms, text) }

// SealAttempt seals the state of a sign-in at the upstream provider, for a cookie of the
// browser.
func (i *Issuer) SealAttempt(plain []byte) string { return i.seal(ofAttempts, plain) }

// OpenAttempt is the inverse of SealAttempt.
func (i *Issuer) OpenAttempt(text string) ([]byte, error) { return i.open(ofAttempts, text) }

// SealDevice seals the record of the user who has signed in with a browser, for a cookie
// of that browser.
func (i *Issuer) SealDevice(plain []byte) string { return i.seal(ofDevices, plain) }

// OpenDevice is the inverse of SealDevice.
func (i *Issuer) OpenDevice(text string) ([]byte, error) { return i.open(ofDevices, text) }

// SealSession seals the session cookie; see web.Sessions.
func (i *Issuer) SealSession(plain []byte) string { return i.seal(ofSessions, plain) }

// OpenSession is the inverse of SealSession. If the text names a key that this node
// doesn't have, the key may be new, so the node asks the leader first. The error is
// oauth.ErrUnavailable if no leader answers.
func (i *Issuer) OpenSession(ctx context.Context, text string) ([]byte, error) {
	plain, err := i.open(ofSessions, text)
	if !errors.Is(err, credential.ErrUnknownKey) {
		return plain, err
	}
	if err := i.Keyring.Reload(ctx); err != nil {
		return nil, err
	}
	return i.open(ofSessions, text)
}

func (i *Issuer) seal(purpose func(*keyring.CredentialKey) cipher.AEAD, plain []byte) string {
	number, key := i.Keyring.Ring().Active()
	return credential.SealText(i.config.Rand, purpose(key), number, plain)
}

func (i *Issuer) open(purpose func(*keyring.CredentialKey) cipher.AEAD, text string) ([]byte, error) {
	return credential.OpenText(i.Keyring.Ring().AEADs(purpose), text)
}
