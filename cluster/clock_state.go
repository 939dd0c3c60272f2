package cluster

import (
	"fmt"
	"math"
	"time"

	"github.com/hashicorp/raft"
)

// A StateTimeError says that state time is ahead of the clocks: a clock that was
// wrong has stamped, or the clocks were set back. Nothing is decided until the
// clocks are there, as what is issued would be refused as not valid yet by all
// whose clocks are right.
type StateTimeError struct {
	At time.Time     // state time
	By time.Duration // ahead of the clocks of a majority, as far as they are known
}

func (e *StateTimeError) Error() string {
	return fmt.Sprintf("the cluster's time is %s, which is %s ahead of the clocks: nothing is decided before they are there",
		e.At.UTC().Format(time.RFC3339), e.By.Round(time.Second))
}

// stateTimeTrouble is a *StateTimeError where a time is too far ahead of the
// clocks of a majority. What this node does not know of the other clocks it takes
// for its own, which shows now.
func (n *Node) stateTimeTrouble(at, now int64) error {
	if by := n.aheadOfClocks(at, now); by > ClockTolerance {
		return &StateTimeError{At: time.UnixMilli(at), By: by}
	}
	return nil
}

// aheadOfClocks takes times in milliseconds. It is negative where at is behind.
func (n *Node) aheadOfClocks(at, now int64) time.Duration {
	most := clockMost.Milliseconds()
	ahead := min(max(at-now, -most), most)
	return time.Duration(ahead)*time.Millisecond + time.Duration(n.guards.behind.Load())
}

// clockMost is half of what a duration can hold, so that two of them can be
// added. No two clocks that are of any use differ as much.
const clockMost = math.MaxInt64 / 2 * time.Nanosecond

// noteBehind keeps how far the clocks of a majority are behind this one.
func (n *Node) noteBehind(voters []string) {
	ids := mapped(voters, func(id string) raft.ServerID { return raft.ServerID(id) })
	n.guards.behind.Store(int64(clockBehind(n.id, ids, n.clockSamples())))
}

// wallMillis is this node's clock, which may have jumped.
func (n *Node) wallMillis() int64 { return stampOf(n.config.Now()) }

// mayStamp says why this node would stamp nothing now if it led.
func (n *Node) mayStamp() error {
	at, err := n.guards.clock.read()
	if err != nil {
		return err
	}
	return n.stateTimeTrouble(max(n.core.at.Load(), at), at)
}
