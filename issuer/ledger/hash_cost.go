package ledger

import (
	"fmt"
	"slices"
)

// A HashCost is what it costs to verify a password against a hash that another system made.
// Package credential computes it. The zero HashCost is that of a hash of this server.
type HashCost struct {
	Kind   string `cbor:"1,keyasint"`           // algorithm
	Units  uint64 `cbor:"2,keyasint"`           // of work; they compare hashes of one kind
	Memory uint32 `cbor:"3,keyasint,omitempty"` // KiB
	Lanes  uint8  `cbor:"4,keyasint,omitempty"` // that are computed at the same time
}

// key is the index key of a user's imported hash: by kind, then by cost.
func (c HashCost) key() []string {
	if c.Kind == "" {
		return nil
	}
	return []string{c.Kind, fmt.Sprintf("%016x", c.Units)}
}

// DearestHashes returns the cost of the dearest imported password hash of each kind that users
// have, in order of the kinds, backwards. A sign-in that fails has to cost as much: see
// credential.Hasher.
func (v View) DearestHashes() (all []HashCost) {
	it, err := v.txn.ReverseLowerBound(TableUsers, "hash", "\xff")
	for {
		var found *User
		for u := range walk[User](it, err, TableUsers) {
			found = u
			break
		}
		if found == nil {
			return all
		}
		all = append(all, found.PasswordCost)
		it, err = v.txn.ReverseLowerBound(TableUsers, "hash", found.PasswordCost.Kind) // before all of this kind
	}
}

// maxHash is the maximum length of a hash, in bytes.
const maxHash = 256

// checkHash returns what is wrong with a hash that another system made, or "". Package
// credential has checked its format and its bounds; it does so again before each use.
func checkHash(hash string) string {
	switch {
	case hash == "":
		return "is empty"
	case len(hash) > maxHash:
		return "is too long"
	case slices.ContainsFunc([]byte(hash), func(b byte) bool { return b <= ' ' || b > '~' }):
		return "has a character that no hash has"
	}
	return ""
}
