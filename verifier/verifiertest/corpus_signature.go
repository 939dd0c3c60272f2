package verifiertest

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"

	"github.com/mintmark-auth/mintmark/verifier"
)

// signatures adds tokens without a valid signature of the issuer.
func (c *corpus) signatures() {
	h, p, _ := parts(c.good())
	signed := h + "." + p
	refused := func(name string, signature []byte, why string) {
		c.add("signature-"+name, signed+"."+b64(signature), verifier.ReasonSignature, why)
	}
	zero, one := make([]byte, 32), append(make([]byte, 31), 1)
	n := elliptic.P256().Params().N.FillBytes(make([]byte, 32))
	ones := bytes.Repeat([]byte{0xff}, 32)
	right := c.key.sign(signed)
	swapped := append(bytes.Clone(right[32:]), right[:32]...)
	flipped := bytes.Clone(right)
	flipped[40] ^= 1
	refused("of-zeros", append(bytes.Clone(zero), zero...), "CVE-2022-21449")
	refused("r-zero", append(bytes.Clone(zero), one...), "FIPS 186-5 §6.4.2: r and s are in 1..n-1")
	refused("s-zero", append(bytes.Clone(one), zero...), "FIPS 186-5 §6.4.2")
	refused("r-is-n", append(bytes.Clone(n), right[32:]...), "FIPS 186-5 §6.4.2")
	refused("s-is-n", append(bytes.Clone(right[:32]), n...), "FIPS 186-5 §6.4.2")
	refused("all-ones", append(bytes.Clone(ones), ones...), "FIPS 186-5 §6.4.2")
	refused("one-bit-flipped", flipped, "not the issuer's")
	refused("r-and-s-swapped", swapped, "not the issuer's")
	refused("one-octet-short", right[:63], "RFC 7518 §3.4: 64 octets")
	refused("one-octet-more", append(bytes.Clone(right), 0), "RFC 7518 §3.4: 64 octets")
	refused("of-ES384-length", append(append(make([]byte, 16), right[:32]...), append(make([]byte, 16), right[32:]...)...), "RFC 7518 §3.4: 64 octets")
	refused("in-DER", der(c.key, signed), "RFC 7518 §3.4: r and s, not ASN.1")
	refused("over-payload-only", c.key.sign(p), "RFC 7515 §5.2: over header and payload")
	refused("over-octets", c.key.sign(string(must(decode(h)))+"."+string(must(decode(p)))), "RFC 7515 §5.2: over their base64url")
	refused("without-hash", must(unhashed(c.key, signed)), "RFC 7518 §3.4: over SHA-256")
	refused("by-a-stranger", newKey(verifier.ES256).sign(signed), "not the issuer's")
	refused("by-a-stranger-of-EdDSA", newKey(verifier.EdDSA).sign(signed), "not the issuer's")

	_, payload, _ := parts(c.withClaims(members{"legacy": true}))
	c.add("signature-of-another-payload", h+"."+payload+"."+b64(right), verifier.ReasonSignature, "not the issuer's: a claim was changed")
	header, _, _ := parts(c.withHeader(members{"x": 1}))
	c.add("signature-of-another-header", header+"."+p+"."+b64(right), verifier.ReasonSignature, "not the issuer's: the header was changed")

	// RFC 8725 §2.1: a public key as the secret of an HMAC.
	public := must(x509.MarshalPKIXPublicKey(c.key.private.Public()))
	for name, secret := range map[string][]byte{
		"PEM": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
		"DER": public,
		"JWK": must(marshal(c.key.jwk)),
		"set": c.issuer.KeySet(),
		"kid": []byte(c.key.kid),
		"nil": nil,
	} {
		header := b64([]byte(text(changed(c.header, members{"alg": "HS256"}))))
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(header + "." + p))
		c.add("signature-HS256-with-public-"+name, header+"."+p+"."+b64(mac.Sum(nil)), verifier.ReasonAlgorithm,
			"RFC 8725 §2.1: anybody who reads the key set could sign")
	}
}

func der(k *key, signed string) []byte {
	digest := sha256.Sum256([]byte(signed))
	return must(k.private.Sign(rand.Reader, digest[:], crypto.SHA256))
}

func unhashed(k *key, signed string) ([]byte, error) {
	r, s, err := ecdsa.Sign(rand.Reader, k.private.(*ecdsa.PrivateKey), []byte(signed)[:32])
	if err != nil {
		return nil, err
	}
	return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...), nil
}
