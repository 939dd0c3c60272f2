package cluster

import (
	"fmt"
	"math"
	"time"

	"github.com/hashicorp/raft"
)

// A StateTimeError reports that state time is more than ClockTolerance ahead of the
// clocks: a wrong clock has stamped, or the clocks were set back. Nothing is decided
// until the clocks reach state time, because verifiers with a right clock would refuse
// new tokens as not valid yet.
type StateTimeError struct {
	At time.Time     // state time
	By time.Duration // ahead of the clocks of a majority, as far as they are known
}

func (e *StateTimeError) Error() string {
	return fmt.Sprintf("the cluster's time is %s, which is %s ahead of the clocks: nothing is decided until the clocks reach it",
		e.At.UTC().Format(time.RFC3339), e.By.Round(time.Second))
}

// stateTimeTrouble returns a *StateTimeError if at is too far ahead of the clocks of a
// majority. now is the time of this node's clock. If too few other clocks are known,
// it is compared with that alone. at and now are milliseconds since the Unix epoch.
func (n *Node) stateTimeTrouble(at, now int64) error {
	if by := n.aheadOfClocks(at, now); by > ClockTolerance {
		return &StateTimeError{At: time.UnixMilli(at), By: by}
	}
	return nil
}

// aheadOfClocks returns how far at is ahead of the clocks of a majority, negative if it
// is behind. at, and now of this node's clock, are milliseconds since the Unix epoch.
func (n *Node) aheadOfClocks(at, now int64) time.Duration {
	most := maxClockOffset.Milliseconds()
	ahead := min(max(at-now, -most), most)
	return time.Duration(ahead)*time.Millisecond + time.Duration(n.watchdog.behind.Load())
}

// maxClockOffset is half of the longest duration, so that two of them can be added. It
// bounds differences between clocks; no two clocks in use differ as much.
const maxClockOffset = math.MaxInt64 / 2 * time.Nanosecond

// updateClockBehind records how far the clocks of a majority are behind this node's.
func (n *Node) updateClockBehind(voters []string) {
	ids := mapped(voters, func(id string) raft.ServerID { return raft.ServerID(id) })
	n.watchdog.behind.Store(int64(clockBehind(n.id, ids, n.clockSamples())))
}

// wallMillis returns the time of this node's clock, which may have jumped, in
// milliseconds since the Unix epoch.
func (n *Node) wallMillis() int64 { return stampOf(n.config.Now()) }

// checkStamp returns why this node would refuse to stamp if it led now, or nil.
func (n *Node) checkStamp() error {
	at, err := n.watchdog.clock.read()
	if err != nil {
		return n.watchdog.clock.trouble()
	}
	return n.stateTimeTrouble(max(n.core.at.Load(), at), at)
}
