package credential

import (
	"context"
	"crypto/rand"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// AppendString is appendString.
var AppendString = appendString

// NormalArgon parses a hash of argon2 and formats it again, without computing anything.
func NormalArgon(text string) (normal, fault string) {
	h, fault := parseHash(text)
	if a, ok := h.(argonHash); ok {
		return a.text(), fault
	}
	return "", fault
}

// CheckPassword is Hasher.Matches with a slot that is free.
func CheckPassword(hash, password string) (bool, error) {
	return NewHasher(rand.Reader, 1).Matches(context.Background(), hash, password)
}

// OwnCost is the cost of a new hash.
var OwnCost = ownCost

// OnHash sets a function that is called before each hash is computed.
func (h *Hasher) OnHash(f func(ledger.HashCost)) { h.count = f }

// DerivePBKDF2 is PBKDF2 without the bounds on a stored hash, for vectors.
func DerivePBKDF2(kind, password string, salt []byte, iterations int, tag []byte) bool {
	return pbkdf2Hash{kind, iterations, salt, tag}.matches(password)
}

// DeriveScrypt is scrypt without the bounds on a stored hash, for vectors.
func DeriveScrypt(password string, salt []byte, log2 uint8, r, p int, tag []byte) bool {
	return scryptHash{log2, r, p, salt, tag}.matches(password)
}
