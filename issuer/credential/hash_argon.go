package credential

import (
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	kindArgon2id = "argon2id"
	kindArgon2i  = "argon2i"
)

// The cost of a new hash: the first of OWASP's equivalent recommendations for argon2id.
const (
	argonMemory  = 19 * 1024 // KiB
	argonTime    = 2
	argonThreads = 1
	argonSalt    = 16
	argonTag     = 32
)

// An argonHash is a parsed hash of argon2id or argon2i (RFC 9106):
//
//	$argon2id$v=19$m=19456,t=2,p=1$salt$tag
//
// with salt and tag in base64 without padding.
type argonHash struct {
	kind         string
	memory, time uint32 // KiB, passes
	threads      uint8
	salt, tag    []byte
}

// ownCost is the cost of a new hash.
var ownCost = argonHash{kind: kindArgon2id, memory: argonMemory, time: argonTime, threads: argonThreads}.cost()

func (h argonHash) cost() ledger.HashCost {
	return ledger.HashCost{Kind: h.kind, Units: uint64(h.memory) * uint64(h.time), Memory: h.memory, Lanes: h.threads}
}

// key computes the tag of a password with this salt and cost.
func (h argonHash) key(password string, size int) []byte {
	if h.kind == kindArgon2i {
		return argon2.Key([]byte(password), h.salt, h.time, h.memory, h.threads, uint32(size))
	}
	return argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.threads, uint32(size))
}

func (h argonHash) matches(password string) bool {
	return subtle.ConstantTimeCompare(h.tag, h.key(password, len(h.tag))) == 1
}

func (h argonHash) text() string {
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$%s$v=%d$m=%d,t=%d,p=%d$%s$%s", h.kind, argon2.Version,
		h.memory, h.time, h.threads, enc.EncodeToString(h.salt), enc.EncodeToString(h.tag))
}

// parseArgon accepts exactly the output of text: parameters in this order, no unknown ones,
// and canonical numbers and base64. RFC 9106 §3.1 has the lower bounds.
func parseArgon(f []string) (hash, string) {
	cost := strings.Split(f[3], ",")
	if f[2] != "v="+strconv.Itoa(argon2.Version) || len(cost) != 3 {
		return nil, faultFormat
	}
	var p fields
	memory, passes, lanes := p.number(cost[0], "m="), p.number(cost[1], "t="), p.number(cost[2], "p=")
	p.within(lanes, 1, maxLanes, "lanes")
	p.within(passes, 1, maxPasses, "passes")
	p.within(memory, 8*max(lanes, 1), maxMemory, "KiB of memory")
	salt, tag := p.saltAndTag(f[4], f[5])
	if p.fault != "" {
		return nil, p.fault
	}
	return argonHash{f[1], uint32(memory), uint32(passes), uint8(lanes), salt, tag}, ""
}

// base64Field decodes canonical base64 without padding.
func base64Field(field string) ([]byte, bool) {
	enc := base64.RawStdEncoding
	b, err := enc.Strict().DecodeString(field)
	// The decoder skips line breaks; the length reveals them.
	return b, err == nil && enc.EncodedLen(len(b)) == len(field)
}
