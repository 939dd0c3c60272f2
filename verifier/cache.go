package verifier

import (
	"context"
	"hash/maphash"
	"math/bits"
	"strings"
	"sync/atomic"
	"time"
)

// maxCacheSize bounds the memory that a wrong Config.CacheSize takes.
const maxCacheSize = 1 << 20

// cache stores accepted tokens, by the exact token. It is a table of small buckets that
// are read without a lock: a hit writes nothing that another core reads, except the first
// one since its bucket was full.
//
// The caller of get must check again whatever can change.
type cache struct {
	seed    maphash.Seed
	buckets []bucket // a power of two
}

// bucket is one cache line of slots for the tokens of one hash.
type bucket [8]atomic.Pointer[entry]

// entry is one token. Only its atomic members change.
type entry struct {
	token          string
	claims         *Claims
	key            atomic.Pointer[publicKey]     // verified the token
	listed         atomic.Pointer[keySetVersion] // the last version known to have key; nil for other sources than a JWKS
	feedGeneration atomic.Uint64                 // of the feed, at which the token was not revoked
	used           atomic.Bool                   // since the bucket was full
}

// newCache makes a cache with room for size tokens in use. It has twice as many slots:
// tokens are spread over the buckets at random, and with as many slots as tokens, one
// token in ten would find its bucket full.
func newCache(size int) *cache {
	buckets := 1
	if n := (2*size - 1) / len(bucket{}); n > 0 {
		buckets = 1 << bits.Len(uint(n))
	}
	return &cache{seed: maphash.MakeSeed(), buckets: make([]bucket, buckets)}
}

// bucketOf hashes the end of the token only, which is the signature: the most random part,
// and chosen by the issuer, since only accepted tokens are stored.
func (c *cache) bucketOf(token string) *bucket {
	end := token[max(0, len(token)-32):]
	return &c.buckets[maphash.String(c.seed, end)&uint64(len(c.buckets)-1)]
}

func (c *cache) get(token string) *entry {
	b := c.bucketOf(token)
	for i := range b {
		if e := b[i].Load(); e != nil && e.token == token {
			if !e.used.Load() {
				e.used.Store(true)
			}
			return e
		}
	}
	return nil
}

// put stores a token. If its bucket is full, the token replaces one that was not used
// since the bucket was full.
func (c *cache) put(token string, claims *Claims, key Key) {
	e := &entry{token: strings.Clone(token), claims: claims}
	e.key.Store(key.publicKey)
	b := c.bucketOf(token)
	for i := range b {
		if b[i].CompareAndSwap(nil, e) {
			return
		}
	}
	for i := range b {
		if old := b[i].Load(); old == nil || !old.used.Load() {
			b[i].Store(e)
			return
		}
	}
	for i := range b {
		if old := b[i].Load(); old != nil {
			old.used.Store(false)
		}
	}
	b[0].Store(e)
}

// drop removes a token.
func (c *cache) drop(e *entry) {
	b := c.bucketOf(e.token)
	for i := range b {
		b[i].CompareAndSwap(e, nil)
	}
}

// verifyCached checks everything that can have changed since a token was accepted. False
// without an error means that the whole token must be verified again.
func (v *Verifier) verifyCached(ctx context.Context, e *entry, now time.Time) (bool, error) {
	listed, err := v.listed(ctx, e, now)
	if err != nil || !listed {
		return false, err
	}
	if err := v.live(e.claims, now); err != nil {
		return false, err
	}
	if v.feed != nil && !v.notRevoked(e) {
		return false, refuse(ReasonRevoked, revokedText)
	}
	return true, nil
}

// notRevoked reports whether the feed does not revoke a token. The result is stored until
// the feed changes: looking up four names would double the cost of a hit.
func (v *Verifier) notRevoked(e *entry) bool {
	news := v.feed.generation.Load() // before the look-up, which may miss what is added meanwhile
	if e.feedGeneration.Load() == news {
		return true
	}
	if v.feed.revoked(e.claims) {
		return false
	}
	if news%2 == 0 {
		e.feedGeneration.Store(news)
	}
	return true
}

// listed reports whether the key that verified a token is still in the key set.
func (v *Verifier) listed(ctx context.Context, e *entry, now time.Time) (bool, error) {
	var current *keySetVersion
	if v.jwks != nil {
		if !v.sameClock {
			now = v.jwks.now()
		}
		v.jwks.nudge(now)
		current = v.jwks.current.Load()
		if current != nil && current == e.listed.Load() && current.serves(now) {
			return true, nil
		}
	}
	before := e.key.Load()
	key, err := v.key(ctx, before.id)
	if err != nil {
		return false, err
	}
	if key.publicKey != before {
		if !key.equal(Key{before}) {
			return false, nil // another key with the same kid
		}
		e.key.Store(key.publicKey)
	}
	e.listed.Store(current)
	return true, nil
}
