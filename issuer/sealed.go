package issuer

import (
	"context"
	"crypto/cipher"
	"errors"

	"github.com/mintmark-auth/mintmark/issuer/credential"
)

// Purposes of what browsers carry for the pages. Any node of the cluster can open
// it, and none has to remember it.
func ofAttempts(k *credentialKey) cipher.AEAD { return k.attempts }
func ofDevices(k *credentialKey) cipher.AEAD  { return k.devices }
func ofSessions(k *credentialKey) cipher.AEAD { return k.sessions }

func ofForms(k *credentialKey) cipher.AEAD { return k.forms }

func ofNewSecrets(k *credentialKey) cipher.AEAD { return k.newSecrets }

// SealNewSecret hides what a form carries that will make a client secret.
func (i *Issuer) SealNewSecret(plain []byte) string { return i.seal(ofNewSecrets, plain) }

// OpenNewSecret is the inverse of SealNewSecret.
func (i *Issuer) OpenNewSecret(text string) ([]byte, error) { return i.open(ofNewSecrets, text) }

// SealForm hides what a form carries about the user whom it was shown to.
func (i *Issuer) SealForm(plain []byte) string { return i.seal(ofForms, plain) }

// OpenForm is the inverse of SealForm.
func (i *Issuer) OpenForm(text string) ([]byte, error) { return i.open(ofForms, text) }

// SealAttempt hides what a browser carries from the beginning of a sign-in
// elsewhere to its end.
func (i *Issuer) SealAttempt(plain []byte) string { return i.seal(ofAttempts, plain) }

// OpenAttempt is the inverse of SealAttempt.
func (i *Issuer) OpenAttempt(text string) ([]byte, error) { return i.open(ofAttempts, text) }

// SealDevice hides what a browser carries about who has signed in with it.
func (i *Issuer) SealDevice(plain []byte) string { return i.seal(ofDevices, plain) }

// OpenDevice is the inverse of SealDevice.
func (i *Issuer) OpenDevice(text string) ([]byte, error) { return i.open(ofDevices, text) }

// SealSession hides what a browser carries about its session.
func (i *Issuer) SealSession(plain []byte) string { return i.seal(ofSessions, plain) }

// OpenSession is the inverse of SealSession. Where the text names a key that this
// node does not have, the key may be new: the cluster is asked, and the error is
// oauth.ErrUnavailable if that can't be done.
func (i *Issuer) OpenSession(ctx context.Context, text string) ([]byte, error) {
	plain, err := i.open(ofSessions, text)
	if !errors.Is(err, credential.ErrUnknownKey) {
		return plain, err
	}
	if err := i.lookAgain(ctx); err != nil {
		return nil, err
	}
	return i.open(ofSessions, text)
}

func (i *Issuer) seal(purpose func(*credentialKey) cipher.AEAD, plain []byte) string {
	ring := i.keys.Load()
	return credential.SealText(i.Rand, purpose(ring.credentials[ring.active]), ring.active, plain)
}

func (i *Issuer) open(purpose func(*credentialKey) cipher.AEAD, text string) ([]byte, error) {
	ring := i.keys.Load()
	return credential.OpenText(func(number uint32) (cipher.AEAD, bool) {
		k, ok := ring.credentials[number]
		if !ok {
			return nil, false
		}
		return purpose(k), true
	}, text)
}
