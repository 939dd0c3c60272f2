package endpoint

import (
	"bufio"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Readers are the resource servers that may read the feed of revocations, by name,
// with the SHA-256 of their secrets: random ones of 256 bits, which need no slow
// hash. It is not changed once it is made.
type Readers struct {
	secrets map[string][][sha256.Size]byte
}

// ReaderName is what a resource server may be called.
var ReaderName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// maxReaders keeps a wrong file from being read to its end.
const maxReaders = 10_000

// ParseReaders reads "name:SHA-256 in hexadecimal" lines; what begins with "#" and
// empty lines are skipped. A name that is there twice has two secrets, so that one
// can take the place of the other. An error does not hold what was read.
func ParseReaders(r io.Reader) (*Readers, error) {
	readers := &Readers{secrets: map[string][][sha256.Size]byte{}}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		name, digits, _ := strings.Cut(text, ":")
		digest, err := hex.DecodeString(digits)
		if !ReaderName.MatchString(name) || err != nil || len(digest) != sha256.Size || n > maxReaders {
			return nil, fmt.Errorf("line %d is not a name, a colon and the SHA-256 of a secret in hexadecimal", n)
		}
		readers.secrets[name] = append(readers.secrets[name], [sha256.Size]byte(digest))
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(readers.secrets) == 0 {
		return nil, errors.New("there is nobody in it")
	}
	return readers, nil
}

// ReaderLine is the line of a reader.
func ReaderLine(name, secret string) string {
	digest := sha256.Sum256([]byte(secret))
	return name + ":" + hex.EncodeToString(digest[:])
}

// authenticate reports whether a secret is that of a name.
func (r *Readers) authenticate(name, secret string) bool {
	digest := sha256.Sum256([]byte(secret))
	known := 0
	for _, one := range r.secrets[name] {
		known |= subtle.ConstantTimeCompare(one[:], digest[:])
	}
	return known == 1
}
