package feed

import (
	"sort"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// Window is how long a revocation is kept after its event. It is the lifetime of a token
// that was issued just before the event, plus a minute by which the clocks of resource
// servers may be behind, plus MaxAhead, by which the token's iat may be ahead.
const Window = (oauth.AccessTokenLifetime+60)*time.Second + ledger.MaxAhead

// Config is what a Feed is made of.
type Config struct {
	Issuer func() string // iss of the tokens
	// Signer is the key to sign with now.
	Signer func() (Signer, error)
	Now    func() time.Time
}

// A Signer signs with a key of the published set.
type Signer interface {
	Alg() string
	KeyID() string
	Sign(input []byte) ([]byte, error)
}

// A Feed is what one node knows to be revoked. Its methods may be called by any
// goroutine.
type Feed struct {
	config  Config
	asked   chan struct{} // has an element when somebody wants it to be fresh
	closed  chan struct{}
	waiting waiting

	mu      sync.Mutex
	life    ledger.CommandID
	restore restored
	read    uint64              // the trail was read up to this Seq
	revoked []ledger.Revocation // in order of Seq; readers hold parts of it, so it is only cut and appended to
	since   ledger.Time         // nothing is missing from then on; 0: nothing at all
	last    uint64              // Seq of the last revocation, kept or not
	fresh   time.Time           // everything before is known; zero: never said
	changed chan struct{}       // closed at the next change of last or life
	sure    chan struct{}       // closed at the next change of fresh
	bodies  bodies
}

// restored tells one restore, and what was replayed after it, from another.
type restored struct {
	count    uint32
	replayed uint64
}

// New is a Feed that knows nothing yet.
func New(c Config) *Feed {
	return &Feed{
		config: c, asked: make(chan struct{}, 1), closed: make(chan struct{}),
		changed: make(chan struct{}), sure: make(chan struct{}),
	}
}

// Close has nobody wait any more. It is called once.
func (f *Feed) Close() { close(f.closed) }

// Asked has an element when an answer was asked for since one was last taken.
func (f *Feed) Asked() <-chan struct{} { return f.asked }

// Follow takes in what the trail has that was not read before. It reports whether
// that is a revocation. The view is taken in here, so that of two calls the later
// one has no older view.
func (f *Feed) Follow(view func() ledger.View) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, now := view(), ledger.Time(f.config.Now().UnixMilli())
	from := now.Add(-Window)
	before := version{f.life, f.last}
	row, life := v.Restore(), v.LastLife()
	if is := (restored{row.Count, row.Replayed}); f.read == 0 || life.ID != f.life || is != f.restore {
		f.begin(v, life, from, now)
		f.life, f.restore = life.ID, is
	}
	if f.read > 0 {
		f.since = max(f.since, v.TrailLost(f.read, from))
	}
	more, read, replayed := v.Revocations(f.read)
	f.read, f.since = read, max(f.since, replayed)
	if len(more) > 0 {
		f.revoked, f.last = append(f.revoked, more...), more[len(more)-1].Seq
	}
	// The list is ordered by At only to within MaxAhead; Window includes that.
	f.revoked = f.revoked[sort.Search(len(f.revoked), func(i int) bool { return f.revoked[i].At >= from }):]
	if before == (version{f.life, f.last}) {
		return false
	}
	close(f.changed)
	f.changed = make(chan struct{})
	return true
}

// begin starts from what the trail still has. It is called with mu held.
func (f *Feed) begin(v ledger.View, life ledger.Life, from, now ledger.Time) {
	f.read, f.revoked, f.last = v.TrailBefore(from), nil, 0
	// What an older life had, or what a journal brought back, is in no trail.
	f.since = max(v.TrailFrom(from), v.Restore().At)
	if len(v.Lives()) > 1 {
		first := v.FirstEventOf(life)
		if first == 0 {
			first = now
		}
		f.since = max(f.since, first)
	}
}

// Confirm says that the last view that was followed had all that was answered,
// by any node, before a time.
func (f *Feed) Confirm(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at.After(f.fresh) {
		f.fresh = at
		close(f.sure)
		f.sure = make(chan struct{})
	}
}
