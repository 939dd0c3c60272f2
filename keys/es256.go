package keys

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"errors"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

// p256Size is the length of one P-256 field element.
const p256Size = 32

// signES256 returns r and s as two concatenated 32-byte big-endian integers (RFC 7518 §3.4).
// The standard library signs in ASN.1 form.
func signES256(key *ecdsa.PrivateKey, digest [sha256.Size]byte) ([]byte, error) {
	der, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		return nil, err
	}
	input, seq := cryptobyte.String(der), cryptobyte.String(nil)
	var r, s []byte // without leading zeros
	if !input.ReadASN1(&seq, asn1.SEQUENCE) || !input.Empty() ||
		!seq.ReadASN1Integer(&r) || !seq.ReadASN1Integer(&s) || !seq.Empty() ||
		len(r) > p256Size || len(s) > p256Size {
		return nil, errors.New("signature is not a P-256 signature")
	}
	sig := make([]byte, 2*p256Size)
	copy(sig[p256Size-len(r):], r)
	copy(sig[2*p256Size-len(s):], s)
	return sig, nil
}
