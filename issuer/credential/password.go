package credential

import (
	"context"
	"crypto/subtle"
	"io"
	"runtime"
)

// HashPassword hashes a password with argon2id (RFC 9106) and a random salt, at the cost for
// new hashes: 19 MiB of memory and some 20 ms. Use a [Hasher] to bound concurrent hashes.
func HashPassword(rand io.Reader, password string) string {
	h := phc{memory: argonMemory, time: argonTime, threads: argonThreads, salt: make([]byte, argonSalt)}
	mustRead(rand, h.salt)
	h.tag = h.key(password, argonTag)
	return h.text()
}

// CheckPassword reports whether a hash is that of the password. The error is ErrPHC if the
// stored hash is damaged, which is not the user's fault.
func CheckPassword(hash, password string) (bool, error) {
	h, err := parsePHC(hash)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(h.tag, h.key(password, len(h.tag))) == 1, nil
}

// A Hasher bounds how many passwords are hashed concurrently: each takes a core and 19 MiB, and
// sign-ins must not starve the token endpoint. It is safe for concurrent use.
type Hasher struct {
	rand  io.Reader
	slots chan struct{} // one element for each hash being computed
}

// NewHasher returns a Hasher that computes at most parallel hashes at once; 0 means one for
// each CPU.
func NewHasher(rand io.Reader, parallel int) *Hasher {
	if parallel <= 0 {
		parallel = max(1, runtime.NumCPU())
	}
	return &Hasher{rand: rand, slots: make(chan struct{}, parallel)}
}

// Hash is HashPassword once a slot is free. It returns the context's error if none becomes free.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	if err := h.acquire(ctx); err != nil {
		return "", err
	}
	defer h.release()
	return HashPassword(h.rand, password), nil
}

// Check is CheckPassword once a slot is free. It returns the context's error if none becomes
// free. For an empty hash, of a user who doesn't exist or has no password, it takes the same
// time and returns false.
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
		dummyHash.key(password, argonTag) // otherwise the time would reveal that the user exists
	}
	return right, err
}

// dummyHash has the cost of a new hash, for users without one.
var dummyHash = phc{memory: argonMemory, time: argonTime, threads: argonThreads, salt: make([]byte, argonSalt)}

func (h *Hasher) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err // select might choose a free slot instead
	}
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *Hasher) release() { <-h.slots }
