package credential

import (
	"context"
	"io"
	"runtime"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// HashPassword hashes a password with argon2id (RFC 9106) and a random salt, at the cost for
// new hashes: 19 MiB of memory and some 20 ms. Use a [Hasher] to bound concurrent hashes.
func HashPassword(rand io.Reader, password string) string {
	h := argonHash{kind: kindArgon2id, memory: argonMemory, time: argonTime, threads: argonThreads, salt: make([]byte, argonSalt)}
	mustRead(rand, h.salt)
	h.tag = h.key(password, argonTag)
	return h.text()
}

// A Hasher bounds how many passwords are hashed concurrently: sign-ins must not starve the
// token endpoint. A hash takes a core and 19 MiB, or up to 128 MiB if it was imported from
// another system; so the memory for hashing is at most 128 MiB for each slot. It is safe for
// concurrent use.
type Hasher struct {
	rand  io.Reader
	slots chan struct{}         // one element for each hash being computed
	count func(ledger.HashCost) // called before each hash is computed
}

// NewHasher returns a Hasher that computes at most parallel hashes at once; 0 means one for
// each CPU.
func NewHasher(rand io.Reader, parallel int) *Hasher {
	if parallel <= 0 {
		parallel = max(1, runtime.NumCPU())
	}
	return &Hasher{rand: rand, slots: make(chan struct{}, parallel), count: func(ledger.HashCost) {}}
}

// Hash is HashPassword once a slot is free. It returns the context's error if none becomes free.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	if err := h.acquire(ctx); err != nil {
		return "", err
	}
	defer h.release()
	h.count(ownCost)
	return HashPassword(h.rand, password), nil
}

// Check is Matches for a sign-in. The hash is empty for a user who doesn't exist or has no
// password.
//
// dearest has the dearest imported hash of each kind that is stored. Every check that fails
// costs the same: the dearest hash of each kind, new hashes included. Otherwise the time would
// reveal whether a user exists, and whose hash was imported.
func (h *Hasher) Check(ctx context.Context, hash, password string, dearest []ledger.HashCost) (bool, error) {
	if err := h.acquire(ctx); err != nil {
		return false, err
	}
	defer h.release()
	var spent ledger.HashCost
	var damaged error
	if hash != "" {
		parsed, fault := parseHash(hash)
		if fault != "" {
			damaged = ErrHash
		} else {
			spent = parsed.cost()
			h.count(spent)
			if parsed.matches(password) {
				return true, nil
			}
		}
	}
	for _, cost := range withOwn(dearest) {
		rest := cost.Units
		if cost.Kind == spent.Kind {
			rest -= min(rest, spent.Units)
		}
		h.spend(cost, rest, password)
	}
	return false, damaged
}

// Matches reports whether a hash, own or of another system, is that of the password, once a slot
// is free. It returns the context's error if none becomes free, and ErrHash if the stored hash is
// damaged, which is not the user's fault. It is for callers to whom its time may reveal the kind
// of the hash.
func (h *Hasher) Matches(ctx context.Context, hash, password string) (bool, error) {
	if err := h.acquire(ctx); err != nil {
		return false, err
	}
	defer h.release()
	parsed, fault := parseHash(hash)
	if fault != "" {
		return false, ErrHash
	}
	h.count(parsed.cost())
	return parsed.matches(password), nil
}

// withOwn returns the costs with that of new hashes, unless a dearer hash of its kind is there.
func withOwn(costs []ledger.HashCost) []ledger.HashCost {
	all := []ledger.HashCost{ownCost}
	for _, c := range costs {
		switch {
		case c.Kind != ownCost.Kind:
			all = append(all, c)
		case c.Units > ownCost.Units:
			all[0] = c
		}
	}
	return all
}

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
