package credential

import (
	"math/bits"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// spend computes hashes of a kind, of no use, at a cost of some units. memory and lanes are
// those of the dearest hash of the kind, so that its whole cost is spent as it would spend it.
func (h *Hasher) spend(dearest ledger.HashCost, units uint64, password string) {
	salt := make([]byte, argonSalt)
	compute := func(of hash) {
		h.count(of.cost())
		of.matches(password)
	}
	switch dearest.Kind {
	case kindArgon2id, kindArgon2i:
		lanes := max(1, dearest.Lanes)
		least := 8 * uint64(lanes)
		memory := max(uint64(dearest.Memory), least)
		if passes := units / memory; passes > 0 {
			compute(argonHash{dearest.Kind, uint32(memory), uint32(passes), lanes, salt, make([]byte, argonTag)})
			units -= passes * memory
		}
		if units >= least {
			compute(argonHash{dearest.Kind, uint32(units), 1, lanes, salt, make([]byte, argonTag)})
		}
	case kindBcrypt:
		for log2 := uint8(minBcrypt); log2 <= maxBcrypt; log2++ {
			if units&(1<<log2) != 0 {
				cost := string([]byte{'0' + log2/10, '0' + log2%10})
				compute(bcryptHash{[]byte("$2a$" + cost + "$" + strings.Repeat(".", 53)), log2})
			}
		}
	case kindPBKDF2SHA256, kindPBKDF2SHA512:
		if units > 0 {
			compute(pbkdf2Hash{dearest.Kind, int(units), salt, make([]byte, minTag)})
		}
	case kindScrypt:
		const r = 8
		// The dearest N first, as often as it fits; then each smaller power of two once.
		log2 := bits.Len64(max(uint64(dearest.Memory)<<3/r, 2)) - 1
		if p := units / r >> log2; p > 0 {
			compute(scryptHash{uint8(log2), r, int(p), salt, make([]byte, argonTag)})
			units -= p * r << log2
		}
		for log2--; log2 > 0; log2-- {
			if units/r&(1<<log2) != 0 {
				compute(scryptHash{uint8(log2), r, 1, salt, make([]byte, argonTag)})
			}
		}
	}
}
