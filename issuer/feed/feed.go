package feed

import (
	"sort"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
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
	config           Config
	confirmRequested chan struct{} // has an element when somebody wants it to be fresh
	closed           chan struct{}
	waiters          waiters

	mu          sync.Mutex
	timeline    command.ID
	restore     restorePoint
	read        uint64              // the trail was read up to this Seq
	revoked     []ledger.Revocation // in order of Seq; readers hold parts of it, so it is only cut and appended to
	since       ledger.Time         // nothing is missing from then on; 0: nothing at all
	last        uint64              // Seq of the last revocation, kept or not
	confirmedAt time.Time           // everything before is known; zero: never said
	changed     chan struct{}       // closed at the next change of last or timeline
	confirmed   chan struct{}       // closed at the next change of fresh
	cache       documentCache
}

// restorePoint tells one restore, and what was replayed after it, from another.
type restorePoint struct {
	count    uint32
	replayed uint64
}

// New is a Feed that knows nothing yet.
func New(c Config) *Feed {
	return &Feed{
		config: c, confirmRequested: make(chan struct{}, 1), closed: make(chan struct{}),
		changed: make(chan struct{}), confirmed: make(chan struct{}),
	}
}

// Close has nobody wait any more. It is called once.
func (f *Feed) Close() { close(f.closed) }

// ConfirmRequested has an element when an answer was asked for since one was last taken.
func (f *Feed) ConfirmRequested() <-chan struct{} { return f.confirmRequested }

// Update takes in what the trail has that was not read before. It reports whether
// that is a revocation. The view is taken in here, so that of two calls the later
// one has no older view.
func (f *Feed) Update(view func() ledger.View) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, now := view(), ledger.Time(f.config.Now().UnixMilli())
	from := now.Add(-Window)
	before := version{f.timeline, f.last}
	row, life := v.Restore(), v.CurrentTimeline()
	if is := (restorePoint{row.Count, row.Replayed}); f.read == 0 || life.ID != f.timeline || is != f.restore {
		f.reset(v, life, from, now)
		f.timeline, f.restore = life.ID, is
	}
	if f.read > 0 {
		f.since = max(f.since, v.TrailCompleteAfter(f.read, from))
	}
	more, read, replayed := v.Revocations(f.read)
	f.read, f.since = read, max(f.since, replayed)
	if len(more) > 0 {
		f.revoked, f.last = append(f.revoked, more...), more[len(more)-1].Seq
	}
	// The list is ordered by At only to within MaxAhead; Window includes that.
	f.revoked = f.revoked[sort.Search(len(f.revoked), func(i int) bool { return f.revoked[i].At >= from }):]
	if before == (version{f.timeline, f.last}) {
		return false
	}
	close(f.changed)
	f.changed = make(chan struct{})
	return true
}

// reset starts from what the trail still has. It is called with mu held.
func (f *Feed) reset(v ledger.View, life ledger.Timeline, from, now ledger.Time) {
	f.read, f.revoked, f.last = v.TrailBefore(from), nil, 0
	// What an older timeline had, or what a journal brought back, is in no trail.
	f.since = max(v.TrailCompleteFrom(from), v.Restore().At)
	if len(v.Timelines()) > 1 {
		first := v.FirstEventTime(life)
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
	if at.After(f.confirmedAt) {
		f.confirmedAt = at
		close(f.confirmed)
		f.confirmed = make(chan struct{})
	}
}
