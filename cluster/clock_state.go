package cluster

import (
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// stateTimeTrouble returns a *StateTimeError if at is too far ahead of the clocks of a
// majority. now is the time of this node's clock. If too few other clocks are known,
// it is compared with that alone. at and now are milliseconds since the Unix epoch.
func (n *Node) stateTimeTrouble(at, now int64) error {
	if by := n.aheadOfClocks(at, now); by > watchdog.ClockTolerance {
		return &watchdog.StateTimeError{At: time.UnixMilli(at), By: by}
	}
	return nil
}

// aheadOfClocks returns how far at is ahead of the clocks of a majority, negative if it
// is behind. at, and now of this node's clock, are milliseconds since the Unix epoch.
func (n *Node) aheadOfClocks(at, now int64) time.Duration {
	most := watchdog.MaxClockOffset.Milliseconds()
	ahead := min(max(at-now, -most), most)
	return time.Duration(ahead)*time.Millisecond + time.Duration(n.watchdog.behind.Load())
}

// updateClockBehind records how far the clocks of a majority are behind this node's.
func (n *Node) updateClockBehind(voters []string) {
	ids := mapped(voters, func(id string) raft.ServerID { return raft.ServerID(id) })
	n.watchdog.behind.Store(int64(watchdog.ClockBehind(n.id, ids, n.clockSamples())))
}

// wallMillis returns the time of this node's clock, which may have jumped, in
// milliseconds since the Unix epoch.
func (n *Node) wallMillis() int64 { return watchdog.StampOf(n.config.Now()) }

// checkStamp returns why this node would refuse to stamp if it led now, or nil.
func (n *Node) checkStamp() error {
	at, err := n.watchdog.clock.Read()
	if err != nil {
		return n.watchdog.clock.Trouble()
	}
	return n.stateTimeTrouble(max(n.core.StateTime(), at), at)
}
