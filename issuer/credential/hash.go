package credential

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// ErrHash reports a stored text that is not a supported password hash within the bounds. It
// never contains the text.
var ErrHash = errors.New("not a password hash within bounds")

// Bounds on stored hashes, so that verifying an imported or damaged hash can't exhaust a node's
// memory or take minutes. Each hash that is computed takes up to maxMemory; a Hasher bounds how
// many are computed at once.
const (
	maxMemory     = 128 * 1024 // KiB, of argon2 and scrypt
	maxPasses     = 10         // of argon2
	maxLanes      = 8          // of argon2
	minBcrypt     = 4          // cost of bcrypt, a power of two
	maxBcrypt     = 14
	maxIterations = 2_000_000 // of PBKDF2, for each block of the tag together
	maxScrypt     = 1 << 20   // N × r × p of scrypt
	maxBlock      = 32        // r of scrypt
	maxParallel   = 16        // p of scrypt
	minSalt       = 8         // bytes
	maxSalt       = 64
	minTag        = 16
	maxTag        = 64
	maxHash       = 256 // bytes; longer than any text within these bounds
)

// A hash is a parsed password hash within the bounds.
type hash interface {
	cost() ledger.HashCost
	matches(password string) bool
}

// ForeignHash returns the cost of a hash that another system made. fault is "", or what is
// wrong with the hash, in words that follow the name of the field. It never repeats the hash.
//
// These formats are supported, with salt and tag in base64:
//
//	$2a$10$…, $2b$…, $2y$…                      bcrypt
//	$argon2id$v=19$m=65536,t=3,p=4$salt$tag     argon2id, and argon2i
//	$pbkdf2-sha256$i=25000,l=32$salt$tag        PBKDF2 as Ory writes it, and -sha512
//	$pbkdf2-sha256$29000$salt$tag               PBKDF2 as passlib writes it, and -sha512
//	pbkdf2_sha256$600000$salt$tag               PBKDF2 as Django writes it
//	$scrypt$ln=16,r=8,p=1$salt$tag              scrypt, as passlib writes it too
func ForeignHash(text string) (cost ledger.HashCost, fault string) {
	h, fault := parseHash(text)
	if fault != "" {
		return cost, fault
	}
	return h.cost(), ""
}

const faultFormat = "is not a hash of a supported format"

// parseHash parses a hash of any supported format.
func parseHash(text string) (h hash, fault string) {
	if len(text) > maxHash {
		return nil, fmt.Sprintf("is longer than %d bytes", maxHash)
	}
	f := strings.Split(text, "$")
	switch {
	case len(f) == 4 && f[0] == "pbkdf2_sha256":
		return parsePBKDF2(kindPBKDF2SHA256, f[1], f[2], f[3], true)
	case len(f) < 4 || f[0] != "":
		return nil, faultFormat
	}
	switch kind := f[1]; {
	case (kind == "2a" || kind == "2b" || kind == "2y") && len(f) == 4:
		return parseBcrypt(text, f[2], f[3])
	case (kind == kindArgon2id || kind == kindArgon2i) && len(f) == 6:
		return parseArgon(f)
	case (kind == kindPBKDF2SHA256 || kind == kindPBKDF2SHA512) && len(f) == 5:
		return parsePBKDF2(kind, f[2], f[3], f[4], false)
	case kind == kindScrypt && len(f) == 5:
		return parseScrypt(f)
	}
	return nil, faultFormat
}

// fields parses numbers and bytes of a hash, and keeps the first fault.
type fields struct{ fault string }

func (p *fields) fail(text string) {
	if p.fault == "" {
		p.fault = text
	}
}

// number parses a canonical number after a name, such as t=3.
func (p *fields) number(field, name string) uint64 {
	digits, ok := strings.CutPrefix(field, name)
	if !ok || digits == "" || digits[0] == '0' && digits != "0" {
		p.fail(faultFormat)
		return 0
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		p.fail("has a number that is too large")
	case err != nil:
		p.fail(faultFormat)
	}
	return n
}

// within checks a number against its bounds.
func (p *fields) within(n, least, most uint64, what string) {
	switch {
	case n < least:
		p.fail(fmt.Sprintf("has %d %s: at least %d are required", n, what, least))
	case n > most:
		p.fail(fmt.Sprintf("asks for %d %s: at most %d are accepted", n, what, most))
	}
}

// bytes decodes base64 without padding.
func (p *fields) bytes(field, what string, least, most int) []byte {
	b, ok := base64Field(field)
	if !ok {
		p.fail(faultFormat)
		return nil
	}
	p.within(uint64(len(b)), uint64(least), uint64(most), "bytes of "+what)
	return b
}

func (p *fields) saltAndTag(salt, tag string) ([]byte, []byte) {
	return p.bytes(salt, "salt", minSalt, maxSalt), p.bytes(tag, "tag", minTag, maxTag)
}
