package credential

import (
	"context"
	"crypto/subtle"
	"io"
	"runtime"
)

// HashPassword hashes a person's password with argon2id (RFC 9106) and a fresh
// salt, at today's cost: 19 MiB of memory and some 20 ms. Where many people may
// ask at once, use a [Hasher].
func HashPassword(rand io.Reader, password string) string {
	h := phc{memory: argonMemory, time: argonTime, threads: argonThreads, salt: make([]byte, argonSalt)}
	mustRead(rand, h.salt)
	h.tag = h.key(password, argonTag)
	return h.text()
}

// CheckPassword reports whether a hash is that of the password. An error is
// ErrPHC: the stored text is damaged, which is no fault of the person.
func CheckPassword(hash, password string) (bool, error) {
	h, err := parsePHC(hash)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(h.tag, h.key(password, len(h.tag))) == 1, nil
}

// Hasher bounds how many passwords are hashed at once: each takes a core and 19
// MiB, and sign-in must not starve the token endpoint. It is safe for concurrent
// use.
type Hasher struct {
	rand  io.Reader
	slots chan struct{} // one element for each hash that is being computed
}

// NewHasher makes a hasher that computes at most parallel hashes at once; 0
// means one for each CPU.
func NewHasher(rand io.Reader, parallel int) *Hasher {
	if parallel <= 0 {
		parallel = max(1, runtime.NumCPU())
	}
	return &Hasher{rand: rand, slots: make(chan struct{}, parallel)}
}

// Hash is HashPassword when there is room, or the context's error.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	if err := h.acquire(ctx); err != nil {
		return "", err
	}
	defer h.release()
	return HashPassword(h.rand, password), nil
}

// Check is CheckPassword when there is room, or the context's error. An empty
// hash stands for a person who does not exist or has no password: it costs as
// much time, and is never right.
func (h *Hasher) Check(ctx context.Context, hash, password string) (bool, error) {
	if err := h.acquire(ctx); err != nil {
		return false, err
	}
	defer h.release()
	if hash == "" {
		dummyHash.key(password, argonTag)
		return false, nil
	}
	right, err := CheckPassword(hash, password)
	if err != nil {
		dummyHash.key(password, argonTag) // nor does time tell that there is such a person
	}
	return right, err
}

// dummyHash is the cost of a new hash without an owner.
var dummyHash = phc{memory: argonMemory, time: argonTime, threads: argonThreads, salt: make([]byte, argonSalt)}

func (h *Hasher) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err // select would take a free slot half of the time
	}
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *Hasher) release() { <-h.slots }
