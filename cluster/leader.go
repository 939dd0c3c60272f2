package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// Leading says whether this node leads, which it does when it has been elected
// and has applied everything that was committed before, and returns a channel
// that is closed when that changes.
func (n *Node) Leading() (bool, <-chan struct{}) { return n.leader.Get() }

// WhileLeading runs duty whenever this node leads, with a context that ends when
// it no longer does, and waits for it to return. It returns when ctx ends or the
// node closes. A duty that returns early is run again at the next election.
func (n *Node) WhileLeading(ctx context.Context, duty func(context.Context)) {
	for {
		leading, changed := n.Leading()
		if leading {
			n.runDuty(ctx, changed, duty)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-n.closing:
			return
		}
	}
}

func (n *Node) runDuty(ctx context.Context, lost <-chan struct{}, duty func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-lost:
		case <-n.closing:
		case <-ctx.Done():
		}
		cancel()
	})
	defer watcher.Wait()
	defer cancel()
	duty(ctx)
}

// notifyBuffer is enough for what happens while the reader is descheduled.
const notifyBuffer = 16

// watchLeadership drains raft's NotifyCh. raft blocks its main goroutine on a
// full channel (and its LeaderCh loses values), so nothing here waits: a new
// leader passes its Barrier in a goroutine of its own.
func (n *Node) watchLeadership() {
	var barriers sync.WaitGroup
	defer barriers.Wait()
	// Not blocking: what a full channel drops is an older word on the leader,
	// who is asked for anew at each.
	heard := make(chan raft.Observation, notifyBuffer)
	observer := raft.NewObserver(heard, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.LeaderObservation)
		return ok
	})
	n.raft.RegisterObserver(observer)
	defer n.raft.DeregisterObserver(observer)
	n.observeLeader()
	for {
		select {
		case <-heard:
			n.observeLeader()
		case elected := <-n.notify:
			election, led := n.leader.BeginElection()
			if led {
				n.log.Info("cluster: this node leads no more")
			}
			if elected {
				barriers.Go(func() { n.establishLeadership(election) })
			}
		case <-n.stopped:
			n.leader.BeginElection()
			return
		}
	}
}

func (n *Node) observeLeader() {
	_, id := n.raft.LeaderWithID()
	n.recordLeaderTerm()
	n.leader.SetLeader(string(id))
	n.logLeaderChange(string(id))
}

// recordLeaderTerm records the term of the present leader. Raft clears the leader before it
// raises the term: if the term is the same before and after the leader is read,
// that leader led in that term.
func (n *Node) recordLeaderTerm() {
	term := n.raft.CurrentTerm()
	_, id := n.raft.LeaderWithID()
	if id == "" || id == n.id || n.raft.CurrentTerm() != term {
		return
	}
	n.rollbackDetector.RecordLed(string(id), term)
}

// establishLeadership makes an elected node lead once it has applied everything that was
// committed before its election, its clock agrees with a majority, and a majority
// has reported until when commands could be decided before. It ends when the
// election is over: n.leader has a higher number by then.
func (n *Node) establishLeadership(election uint64) {
	said := false
	for n.leader.Current(election) {
		pause := retryInterval
		err := transport.Await(n.raft.Barrier(0), n.stopped)
		if err == nil {
			n.watchdog.start.loaded.Store(true)
			n.checkStartClock()
		}
		agrees := err == nil && n.clockAgrees()
		if agrees && n.collectLive() {
			if n.leader.Confirm(election) {
				n.log.Info("cluster: this node leads", "term", n.raft.CurrentTerm())
			}
			return
		}
		if err == nil && !agrees && n.leader.Current(election) {
			if !said {
				n.log.Error("cluster: this node was elected, and its clock differs from the others' or can't be compared with them")
			}
			said, pause = true, minLeadTime
			n.maybeTransfer(n.fallbackTarget())
		}
		select {
		case <-time.After(pause):
		case <-n.stopped:
			return
		}
	}
}

// retryInterval keeps a retry from spinning while raft changes its mind.
const retryInterval = 10 * time.Millisecond
