package integrity

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// duplicateReport is what a peer last reported of another process of this node.
type duplicateReport struct {
	other    Incarnation
	by       string // name of the peer
	at       time.Time
	lastSeen time.Time // when the peer last heard from the duplicate
}

func (r *duplicateReport) err() error {
	return fmt.Errorf("%w (reported by %s: started at %s)", member.ErrDuplicateNode, r.by, time.UnixMilli(r.other.Started).UTC().Format(time.RFC3339))
}

// DuplicateCheck detects other processes of this node, and of the other members. The
// process of this node that was started last isolates itself.
type DuplicateCheck struct {
	*Incarnations
	Self    Incarnation
	NameOf  func(id string) string
	Isolate func() // closes this node's connections, and refuses new ones
	Log     *slog.Logger

	reported atomic.Pointer[duplicateReport] // the last report of another process; nil before the first
	isolated atomic.Pointer[duplicateReport] // why this process is isolated, nil if it is not
}

// NewDuplicateCheck returns the check of a process that starts now. NameOf, Isolate and
// Log are set before it is used.
func NewDuplicateCheck(now time.Time) (*DuplicateCheck, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, fmt.Errorf("generate incarnation: %w", err)
	}
	self := Incarnation{Started: now.UnixMilli(), Number: binary.BigEndian.Uint64(b[:])}
	return &DuplicateCheck{Incarnations: newIncarnations(), Self: self}, nil
}

// Err returns nil, or an error that wraps member.ErrDuplicateNode if this process was
// started later than another one of this node: then it has isolated itself.
func (d *DuplicateCheck) Err() error {
	if r := d.isolated.Load(); r != nil {
		return r.err()
	}
	return nil
}

// Reported reports whether a peer ever reported another process of this node.
func (d *DuplicateCheck) Reported() bool { return d.reported.Load() != nil }

// ErrDuplicatePeer reports that two processes run as one member.
var ErrDuplicatePeer = errcode.New("duplicate_peer", "two processes run as this node, with copies of the same data folder")

// Observe records that a member's process sent something no earlier than since, and
// logs the first sign of a duplicate.
func (d *DuplicateCheck) Observe(id string, r Incarnation, since time.Duration) {
	if d.observe(id, r, since, d.Now()) {
		d.Log.Error("duplicate node detected", "name", d.NameOf(id), "error", ErrDuplicatePeer)
	}
}

// Report records that a peer reports another process of this node, which it last heard
// from unseen ago. The process that was started later isolates itself, at once and for as
// long as it runs: its votes are not its own.
func (d *DuplicateCheck) Report(by string, other Incarnation, unseen time.Duration) {
	if other == d.Self {
		return
	}
	now := time.Now()
	r := &duplicateReport{other, d.NameOf(by), now, now.Add(-unseen)}
	later := d.Self.Compare(r.other) > 0
	if known := d.reported.Swap(r); known == nil || known.other != r.other {
		d.Log.Error("duplicate of this node reported", "by", r.by,
			"other_started", time.UnixMilli(r.other.Started).UTC(), "isolated", later, "error", member.ErrDuplicateNode)
	}
	if later && d.isolated.CompareAndSwap(nil, r) {
		d.Isolate()
	}
}

// Trouble returns an error while a duplicate of this node was reported a moment ago.
func (d *DuplicateCheck) Trouble() error {
	if err := d.Err(); err != nil {
		return err
	}
	if r := d.reported.Load(); r != nil && time.Since(r.at) < DuplicateRetention {
		return fmt.Errorf("%w%s", r.err(), describeLastSeen(time.Since(r.lastSeen)))
	}
	return nil
}

// Describe describes two processes of a member to operators; "" if there is one.
func (d *DuplicateCheck) Describe(id string) string {
	unseen, ok := d.DuplicateUnseen(id)
	if !ok {
		return ""
	}
	return ErrDuplicatePeer.Error() + describeLastSeen(unseen)
}

// describeLastSeen is added to a message about a duplicate that was not heard from for
// unseen. It was probably stopped, and is still reported for DuplicateRetention.
func describeLastSeen(unseen time.Duration) string {
	if unseen < DuplicateSilence {
		return ""
	}
	return fmt.Sprintf("; duplicate last seen %s ago", unseen.Round(time.Second))
}
