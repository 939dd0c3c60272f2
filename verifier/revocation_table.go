package verifier

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
)

// revocationTable maps one or two names to the last iat that is revoked. Any goroutine
// reads it without a lock and without an allocation; one goroutine writes. Names are
// stored as two hashes of random seeds, 128 bits, so that a quarter of a million entries
// take six megabytes without pointers for the garbage collector.
type revocationTable struct {
	seeds [2]maphash.Seed
	table atomic.Pointer[[]revocationSlot] // length is a power of two; nil: empty
	used  int                              // slots that are not empty; the writer's
}

// revocationSlot is one entry. Its first hash is written last, and is 0 until then.
type revocationSlot struct {
	first, second atomic.Uint64
	until         atomic.Int64 // iat, in seconds; 0: nothing is revoked
}

const minRevocationSlots = 64

func newRevocationTable() *revocationTable {
	return &revocationTable{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// hash is never 0.
func (c *revocationTable) hash(seed int, a, b string) uint64 {
	x, y := maphash.String(c.seeds[seed], a), maphash.String(c.seeds[seed], b)
	high, low := bits.Mul64(x^0x9e3779b97f4a7c15, y^0xd6e8feb86659fd93)
	return max(high^low^x, 1)
}

// until is the last iat that is revoked, 0 for none.
func (c *revocationTable) until(a, b string) int64 {
	if s := c.find(a, b); s != nil {
		return s.until.Load()
	}
	return 0
}

// find returns the slot of names, or nil.
func (c *revocationTable) find(a, b string) *revocationSlot {
	at := c.table.Load()
	if at == nil {
		return nil
	}
	table := *at
	first := c.hash(0, a, b)
	for i := first; ; i++ {
		s := &table[i&uint64(len(table)-1)]
		switch s.first.Load() {
		case 0:
			return nil
		case first:
			if s.second.Load() == c.hash(1, a, b) {
				return s
			}
		}
	}
}

// set adds or changes an entry. Only the writer calls it.
func (c *revocationTable) set(a, b string, until int64) {
	if s := c.find(a, b); s != nil {
		s.until.Store(until)
		return
	}
	if at := c.table.Load(); at == nil {
		table := make([]revocationSlot, minRevocationSlots)
		c.table.Store(&table)
	} else if 4*(c.used+1) > 3*len(*at) {
		c.rebuild(0, minRevocationSlots)
	}
	insert(*c.table.Load(), c.hash(0, a, b), c.hash(1, a, b), until)
	c.used++
}

func insert(table []revocationSlot, first, second uint64, until int64) {
	i := first
	for table[i&uint64(len(table)-1)].first.Load() != 0 {
		i++
	}
	s := &table[i&uint64(len(table)-1)]
	s.second.Store(second)
	s.until.Store(until)
	s.first.Store(first)
}

// sweep drops the entries that end before a time. Only the writer calls it.
func (c *revocationTable) sweep(before int64) {
	if c.used > 0 {
		c.rebuild(before, 0)
	}
}

// rebuild drops the entries that end before a time, and leaves a table of at least size
// slots, or none.
func (c *revocationTable) rebuild(before int64, size int) {
	old := *c.table.Load()
	live := 0
	for i := range old {
		if until := old[i].until.Load(); until != 0 && until >= before {
			live++
		}
	}
	if live > 0 {
		size = max(minRevocationSlots, 1<<bits.Len(uint(2*live-1))) // half full at most
	}
	c.used = live
	if size == 0 {
		c.table.Store(nil)
		return
	}
	table := make([]revocationSlot, size)
	for i := range old {
		if until := old[i].until.Load(); until != 0 && until >= before {
			insert(table, old[i].first.Load(), old[i].second.Load(), until)
		}
	}
	c.table.Store(&table)
}
