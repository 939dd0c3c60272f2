package feed

import (
	"slices"
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

// Config configures a Feed.
type Config struct {
	Issuer func() string // returns iss of the tokens
	// Signer returns the active signing key.
	Signer func() (Signer, error)
	Now    func() time.Time
}

// A Signer signs with a key of the published key set.
type Signer interface {
	Alg() string
	KeyID() string
	Sign(input []byte) ([]byte, error)
}

// A Feed is the revocations that one node knows. Its methods are safe for concurrent use.
type Feed struct {
	config           Config
	confirmRequested chan struct{} // has an element if a confirmation was requested
	closed           chan struct{}
	waiters          waiters

	mu          sync.Mutex
	timeline    command.ID
	restore     restorePoint
	read        uint64              // Seq up to which the trail was read
	revoked     []ledger.Revocation // in order of Seq; readers share parts of it, so elements are never changed
	since       ledger.Time         // revocations before this may be missing; 0 if none is
	last        uint64              // Seq of the last revocation, kept or not
	confirmedAt time.Time           // everything before is known; zero before the first Confirm
	changed     chan struct{}       // closed at the next change of last or timeline
	confirmed   chan struct{}       // closed at the next change of confirmedAt
	cache       documentCache
}

// A restorePoint identifies a restore and what was replayed after it.
type restorePoint struct {
	count    uint32
	replayed uint64
}

// New returns an empty Feed.
func New(c Config) *Feed {
	return &Feed{
		config: c, confirmRequested: make(chan struct{}, 1), closed: make(chan struct{}),
		changed: make(chan struct{}), confirmed: make(chan struct{}),
	}
}

// Close ends all waiting. It must be called once.
func (f *Feed) Close() { close(f.closed) }

// ConfirmRequested returns a channel with an element after somebody requested a
// confirmation.
func (f *Feed) ConfirmRequested() <-chan struct{} { return f.confirmRequested }

// Update adds the revocations of events that were not read before, and reports whether
// there were any. It calls view with the lock held, so that of two concurrent calls the
// later one has no older view.
func (f *Feed) Update(view func() ledger.View) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, now := view(), ledger.Time(f.config.Now().UnixMilli())
	from := now.Add(-Window)
	before := version{f.timeline, f.last}
	row, timeline := v.Restore(), v.CurrentTimeline()
	if is := (restorePoint{row.Count, row.Replayed}); f.read == 0 || timeline.ID != f.timeline || is != f.restore {
		f.reset(v, timeline, from, now)
		f.timeline, f.restore = timeline.ID, is
	}
	if f.read > 0 {
		f.since = max(f.since, v.TrailCompleteAfter(f.read, from))
	}
	more, read, replayed := v.Revocations(f.read)
	f.read, f.since = read, max(f.since, replayed)
	if len(more) > 0 {
		f.revoked, f.last = append(f.revoked, more...), more[len(more)-1].Seq
	}
	// Only the beginning is removed, since the list is not ordered by At: a resumption is
	// followed by an earlier revocation of the client, whose At may be days old.
	kept := slices.IndexFunc(f.revoked, func(r ledger.Revocation) bool { return r.At >= from })
	if kept < 0 {
		kept = len(f.revoked)
	}
	f.revoked = f.revoked[kept:]
	if before == (version{f.timeline, f.last}) {
		return false
	}
	close(f.changed)
	f.changed = make(chan struct{})
	return true
}

// reset starts again from the events that the trail still has. mu must be held.
func (f *Feed) reset(v ledger.View, timeline ledger.Timeline, from, now ledger.Time) {
	f.read, f.revoked, f.last = v.TrailBefore(from), nil, 0
	// The trail has no revocations of an earlier timeline or of a replayed journal.
	f.since = max(v.TrailCompleteFrom(from), v.Restore().At)
	if len(v.Timelines()) > 1 {
		first := v.FirstEventTime(timeline)
		if first == 0 {
			first = now
		}
		f.since = max(f.since, first)
	}
}

// Confirm records that the last view passed to Update had every revocation that any node
// had confirmed before a time.
func (f *Feed) Confirm(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at.After(f.confirmedAt) {
		f.confirmedAt = at
		close(f.confirmed)
		f.confirmed = make(chan struct{})
	}
}
