package credential

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
)

// ErrPHC reports a stored text that is not an argon2id PHC string within the bounds. It never
// contains the text.
var ErrPHC = errors.New("not an argon2id hash within bounds")

// The cost of a new hash: the first of OWASP's equivalent recommendations for argon2id.
const (
	argonMemory  = 19 * 1024 // KiB
	argonTime    = 2
	argonThreads = 1
	argonSalt    = 16
	argonTag     = 32
)

// Bounds on stored hashes, so that verifying an imported or damaged hash can't exhaust a node's
// memory or take minutes (RFC 9106 §3.1 has the lower bounds).
const (
	maxMemory  = 64 * 1024 // KiB
	maxTime    = 8
	maxThreads = 4
	minSalt    = 8
	maxSalt    = 64
	minTag     = 16
	maxTag     = 64
	maxPHC     = 256 // longer than any text within these bounds
)

// A phc is a parsed argon2id hash:
//
//	$argon2id$v=19$m=19456,t=2,p=1$salt$tag
//
// with salt and tag in base64 without padding.
type phc struct {
	memory, time uint32
	threads      uint8
	salt, tag    []byte
}

// key computes the tag of a password with this salt and cost.
func (h phc) key(password string, size int) []byte {
	return argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.threads, uint32(size))
}

func (h phc) text() string {
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version,
		h.memory, h.time, h.threads, enc.EncodeToString(h.salt), enc.EncodeToString(h.tag))
}

// parsePHC accepts exactly the output of text: parameters in this order, no unknown ones, and
// canonical numbers and base64.
func parsePHC(text string) (phc, error) {
	if len(text) > maxPHC {
		return phc{}, ErrPHC
	}
	fields := strings.Split(text, "$")
	if len(fields) != 6 || fields[0] != "" || fields[1] != "argon2id" ||
		fields[2] != "v="+strconv.Itoa(argon2.Version) {
		return phc{}, ErrPHC
	}
	cost := strings.Split(fields[3], ",")
	if len(cost) != 3 {
		return phc{}, ErrPHC
	}
	threads, okThreads := parameter(cost[2], "p=", 1, maxThreads)
	time, okTime := parameter(cost[1], "t=", 1, maxTime)
	memory, okMemory := parameter(cost[0], "m=", 8*max(threads, 1), maxMemory)
	salt, okSalt := binaryField(fields[4], minSalt, maxSalt)
	tag, okTag := binaryField(fields[5], minTag, maxTag)
	if !okThreads || !okTime || !okMemory || !okSalt || !okTag {
		return phc{}, ErrPHC
	}
	return phc{memory: memory, time: time, threads: uint8(threads), salt: salt, tag: tag}, nil
}

func parameter(field, name string, least, most uint32) (uint32, bool) {
	digits, ok := strings.CutPrefix(field, name)
	if !ok || digits == "" || digits[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || uint32(n) < least || uint32(n) > most {
		return 0, false
	}
	return uint32(n), true
}

func binaryField(field string, least, most int) ([]byte, bool) {
	enc := base64.RawStdEncoding
	if len(field) > enc.EncodedLen(most) {
		return nil, false
	}
	b, err := enc.Strict().DecodeString(field)
	// The decoder skips line breaks; the length reveals them.
	if err != nil || len(b) < least || enc.EncodedLen(len(b)) != len(field) {
		return nil, false
	}
	return b, true
}
