package issuer

import (
	"crypto/cipher"

	"github.com/mintmark-auth/mintmark/issuer/credential"
)

// Purposes of what browsers carry for the pages. Any node of the cluster can open
// it, and none has to remember it.
func ofAttempts(k *credentialKey) cipher.AEAD { return k.attempts }
func ofDevices(k *credentialKey) cipher.AEAD  { return k.devices }

// SealAttempt hides what a browser carries from the beginning of a sign-in
// elsewhere to its end.
func (i *Issuer) SealAttempt(plain []byte) string { return i.seal(ofAttempts, plain) }

// OpenAttempt is the inverse of SealAttempt.
func (i *Issuer) OpenAttempt(text string) ([]byte, error) { return i.open(ofAttempts, text) }

// SealDevice hides what a browser carries about who has signed in with it.
func (i *Issuer) SealDevice(plain []byte) string { return i.seal(ofDevices, plain) }

// OpenDevice is the inverse of SealDevice.
func (i *Issuer) OpenDevice(text string) ([]byte, error) { return i.open(ofDevices, text) }

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
