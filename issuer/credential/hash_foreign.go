package credential

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"strconv"
	"strings"

	"golang.org/x/crypto/bcrypt"
	"golang.org/x/crypto/scrypt"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	kindBcrypt       = "bcrypt"
	kindPBKDF2SHA256 = "pbkdf2-sha256"
	kindPBKDF2SHA512 = "pbkdf2-sha512"
	kindScrypt       = "scrypt"
)

// A bcryptHash is $2a$, $2b$ or $2y$, a cost and 53 characters of salt and tag. The three
// differ only in bugs of old implementations: bcrypt reads 72 bytes of a password. $2x$ marks
// hashes of a faulty one, and is not supported.
type bcryptHash struct {
	text []byte
	log2 uint8
}

func parseBcrypt(text, cost, rest string) (hash, string) {
	n, err := strconv.ParseUint(cost, 10, 8)
	if err != nil || len(cost) != 2 || len(rest) != 53 || strings.Trim(rest, bcryptAlphabet) != "" {
		return nil, faultFormat
	}
	var p fields
	if p.within(n, minBcrypt, maxBcrypt, "as the cost of bcrypt"); p.fault != "" {
		return nil, p.fault
	}
	return bcryptHash{[]byte(text), uint8(n)}, ""
}

const bcryptAlphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

func (h bcryptHash) cost() ledger.HashCost {
	return ledger.HashCost{Kind: kindBcrypt, Units: 1 << h.log2, Memory: 4, Lanes: 1}
}

func (h bcryptHash) matches(password string) bool {
	return bcrypt.CompareHashAndPassword(h.text, []byte(password)) == nil
}

// A pbkdf2Hash is a hash by PBKDF2 (RFC 8018 §5.2) with HMAC.
type pbkdf2Hash struct {
	kind       string
	iterations int
	salt, tag  []byte
}

// parsePBKDF2 parses the formats that ForeignHash names. The salt of Django's is a text.
func parsePBKDF2(kind, cost, salt, tag string, plainSalt bool) (hash, string) {
	var p fields
	iterations, length, named := cost, "", false
	if strings.HasPrefix(cost, "i=") {
		iterations, length, named = strings.Cut(cost[len("i="):], ",")
	}
	h := pbkdf2Hash{kind: kind}
	n := p.number(iterations, "")
	h.salt, h.tag = []byte(salt), p.bytes(adapted(tag), "tag", minTag, maxTag)
	if plainSalt {
		p.within(uint64(len(salt)), minSalt, maxSalt, "bytes of salt")
	} else {
		h.salt = p.bytes(adapted(salt), "salt", minSalt, maxSalt)
	}
	if named && p.number(length, "l=") != uint64(len(h.tag)) {
		p.fail("names another length than its tag has")
	}
	p.within(n, 1, maxIterations, "iterations")
	p.within(n*h.blocks(), 1, maxIterations, "iterations for all blocks of its tag")
	if p.fault != "" {
		return nil, p.fault
	}
	h.iterations = int(n)
	return h, ""
}

// adapted returns standard base64 without padding. passlib writes "." for "+", and Django
// pads.
func adapted(field string) string {
	if n := len(field); n%4 == 0 {
		field = strings.TrimSuffix(strings.TrimSuffix(field, "="), "=")
	}
	return strings.ReplaceAll(field, ".", "+")
}

// blocks returns the number of blocks of the tag, each of which takes all iterations.
func (h pbkdf2Hash) blocks() uint64 {
	size := sha256.Size
	if h.kind == kindPBKDF2SHA512 {
		size = sha512.Size
	}
	return uint64(max(1, (len(h.tag)+size-1)/size))
}

func (h pbkdf2Hash) cost() ledger.HashCost {
	return ledger.HashCost{Kind: h.kind, Units: uint64(h.iterations) * h.blocks(), Lanes: 1}
}

func (h pbkdf2Hash) matches(password string) bool {
	var key []byte
	var err error // in FIPS 140-only mode
	if h.kind == kindPBKDF2SHA512 {
		key, err = pbkdf2.Key(sha512.New, password, h.salt, h.iterations, len(h.tag))
	} else {
		key, err = pbkdf2.Key(sha256.New, password, h.salt, h.iterations, len(h.tag))
	}
	return err == nil && subtle.ConstantTimeCompare(h.tag, key) == 1
}

// A scryptHash is a hash by scrypt (RFC 7914) with N = 2^log2.
type scryptHash struct {
	log2      uint8
	r, p      int
	salt, tag []byte
}

func parseScrypt(f []string) (hash, string) {
	cost := strings.Split(f[2], ",")
	if len(cost) != 3 {
		return nil, faultFormat
	}
	var p fields
	ln, r, parallel := p.number(cost[0], "ln="), p.number(cost[1], "r="), p.number(cost[2], "p=")
	p.within(ln, 1, 20, "as the binary logarithm of N")
	p.within(r, 1, maxBlock, "as r")
	p.within(parallel, 1, maxParallel, "as p")
	p.within(r<<ln>>3, 0, maxMemory, "KiB of memory")
	p.within(r<<ln*parallel, 1, maxScrypt, "as the product of N, r and p")
	salt, tag := p.saltAndTag(adapted(f[3]), adapted(f[4]))
	if p.fault != "" {
		return nil, p.fault
	}
	return scryptHash{uint8(ln), int(r), int(parallel), salt, tag}, ""
}

func (h scryptHash) cost() ledger.HashCost {
	n := uint64(h.r) << h.log2
	return ledger.HashCost{Kind: kindScrypt, Units: n * uint64(h.p), Memory: uint32(n >> 3), Lanes: 1}
}

func (h scryptHash) matches(password string) bool {
	key, err := scrypt.Key([]byte(password), h.salt, 1<<h.log2, h.r, h.p, len(h.tag))
	return err == nil && subtle.ConstantTimeCompare(h.tag, key) == 1
}
