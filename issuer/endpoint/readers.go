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

// Readers are the resource servers that may read the revocation feed, by name, with the
// SHA-256 of their secrets. Secrets are 256 random bits, so they need no slow hash.
// Readers is immutable.
type Readers struct {
	secrets map[string][][sha256.Size]byte
}

// ReaderName matches valid names of resource servers.
var ReaderName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// maxReaders limits how much of a wrong file is parsed.
const maxReaders = 10_000

// ParseReaders parses lines "name:SHA-256 in hexadecimal". It skips empty lines and lines
// that begin with "#". A repeated name has several valid secrets, so that secrets can be
// rotated. Errors don't contain the input.
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
		return nil, errors.New("no readers")
	}
	return readers, nil
}

// ReaderLine returns the line of a reader.
func ReaderLine(name, secret string) string {
	digest := sha256.Sum256([]byte(secret))
	return name + ":" + hex.EncodeToString(digest[:])
}

// authenticate reports whether a secret is one of a reader's.
func (r *Readers) authenticate(name, secret string) bool {
	digest := sha256.Sum256([]byte(secret))
	known := 0
	for _, one := range r.secrets[name] {
		known |= subtle.ConstantTimeCompare(one[:], digest[:])
	}
	return known == 1
}
