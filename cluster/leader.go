package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// leadership is whether this node leads and has applied everything that was
// committed before it did.
type leadership struct {
	mu            sync.Mutex
	election      uint64 // counts elections and losses seen by this node
	leading       bool
	leader        string        // id of the node that raft takes for the leader, "" if none
	guessed       bool          // known only calls itself so, and raft knows of none
	since         time.Time     // when this node began to lead
	changed       chan struct{} // closed at the next change
	leaderChanged chan struct{} // closed at the next change of known
}

func (l *leadership) get() (bool, <-chan struct{}) {
	w := l.route()
	return w.leading, w.changed
}

// route is where a command goes.
type route struct {
	leading       bool            // to this node
	leader        string          // or to another one, which may have lost its leadership by now or not be ready for it yet; "" where nobody is known
	changed       <-chan struct{} // closed when another way may be better
	leaderChanged <-chan struct{} // closed when the leader is another one
}

// otherLeads reports whether another node is known to lead.
func (n *Node) otherLeads(w route) bool { return w.leader != "" && w.leader != string(n.id) }

func (l *leadership) route() route {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	if l.leaderChanged == nil {
		l.leaderChanged = make(chan struct{})
	}
	return route{l.leading, l.leader, l.changed, l.leaderChanged}
}

// setLeader notes whom raft takes for the leader.
func (l *leadership) setLeader(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.guessed = false
	l.setLeaderLocked(id)
}

// leaderUnknown reports whether raft knows of no leader, and who is guessed to be it.
func (l *leadership) leaderUnknown() (guess string, unheard bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leader == "" || l.guessed {
		return l.leader, true
	}
	return "", false
}

// guessLeader notes who calls itself the leader, while raft knows of none.
func (l *leadership) guessLeader(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leader == "" {
		l.guessed = true
		l.setLeaderLocked(id)
	}
}

// dropGuess drops a guess that has proved wrong.
func (l *leadership) dropGuess(guess string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.guessed && l.leader == guess {
		l.guessed = false
		l.setLeaderLocked("")
	}
}

// setLeaderLocked is called with mu held.
func (l *leadership) setLeaderLocked(id string) {
	if l.leader == id {
		return
	}
	l.leader = id
	if l.leaderChanged != nil {
		close(l.leaderChanged)
		l.leaderChanged = nil
	}
	l.notifyLocked()
}

// beginElection ends what is known. It returns the number of the election that follows,
// and whether this node led.
func (l *leadership) beginElection() (election uint64, led bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.election++
	led = l.leading
	l.setLeadingLocked(false)
	return l.election, led
}

// suspend is lose for a node that leads. It does nothing for another, which may be
// taking over.
func (l *leadership) suspend() (election uint64, led bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.leading {
		return 0, false
	}
	l.election++
	l.setLeadingLocked(false)
	return l.election, true
}

// confirm says that this node leads since the given election, and returns
// whether it does.
func (l *leadership) confirm(election uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.election == election {
		l.since = time.Now()
		l.setLeadingLocked(true)
	}
	return l.leading
}

// leadingFor is for how long this node has led.
func (l *leadership) leadingFor() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.leading {
		return 0
	}
	return time.Since(l.since)
}

func (l *leadership) current(election uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.election == election
}

// setLeadingLocked is called with mu held.
func (l *leadership) setLeadingLocked(leading bool) {
	if l.leading != leading {
		l.notifyLocked()
	}
	l.leading = leading
}

// notifyLocked is called with mu held.
func (l *leadership) notifyLocked() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Leading says whether this node leads, which it does when it has been elected
// and has applied everything that was committed before, and returns a channel
// that is closed when that changes.
func (n *Node) Leading() (bool, <-chan struct{}) { return n.leader.get() }

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
			election, led := n.leader.beginElection()
			if led {
				n.log.Info("cluster: this node leads no more")
			}
			if elected {
				barriers.Go(func() { n.establishLeadership(election) })
			}
		case <-n.stopped:
			n.leader.beginElection()
			return
		}
	}
}

func (n *Node) observeLeader() {
	_, id := n.raft.LeaderWithID()
	n.recordLeaderTerm()
	n.leader.setLeader(string(id))
	n.logLeaderChange(string(id))
}

// establishLeadership makes an elected node lead once it has applied everything that was
// committed before its election, its clock agrees with a majority, and a majority
// has reported until when commands could be decided before. It ends when the
// election is over: n.leader has a higher number by then.
func (n *Node) establishLeadership(election uint64) {
	said := false
	for n.leader.current(election) {
		pause := retryInterval
		err := await(n.raft.Barrier(0), n.stopped)
		if err == nil {
			n.watchdog.start.loaded.Store(true)
			n.checkStartClock()
		}
		agrees := err == nil && n.clockAgrees()
		if agrees && n.collectLive() {
			if n.leader.confirm(election) {
				n.log.Info("cluster: this node leads", "term", n.raft.CurrentTerm())
			}
			return
		}
		if err == nil && !agrees && n.leader.current(election) {
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
