package issuer

import (
	"crypto/cipher"

	"github.com/mintmark-auth/mintmark/issuer/credential"
)

// SealAttempt hides what a browser carries from the beginning of a sign-in
// elsewhere to its end. Any node of the cluster can open it, and none has to
// remember it.
func (i *Issuer) SealAttempt(plain []byte) string {
	ring := i.keys.Load()
	return credential.SealText(i.Rand, ring.credentials[ring.active].attempts, ring.active, plain)
}

// OpenAttempt is the inverse of SealAttempt.
func (i *Issuer) OpenAttempt(text string) ([]byte, error) {
	return credential.OpenText(i.keys.Load().attemptAEAD, text)
}

func (r *ring) attemptAEAD(number uint32) (cipher.AEAD, bool) {
	k, ok := r.credentials[number]
	if !ok {
		return nil, false
	}
	return k.attempts, true
}
