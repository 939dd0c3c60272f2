package election

import (
	"sync"
	"time"
)

// Leadership is what a node knows of who leads. Itself it calls the leader once it has
// applied everything that was committed before its election. The zero value knows
// nothing.
type Leadership struct {
	mu            sync.Mutex // guards the rest
	election      uint64     // counts elections and losses seen by this node
	leading       bool
	leader        string        // id of the node that raft takes for the leader, "" if none
	guessed       bool          // leader only calls itself so, and raft knows of none
	since         time.Time     // when this node began to lead
	changed       chan struct{} // closed at the next change
	leaderChanged chan struct{} // closed at the next change of leader
}

// Get reports whether this node leads, and returns a channel that is closed when that
// changes.
func (l *Leadership) Get() (bool, <-chan struct{}) {
	w := l.Route()
	return w.Leading, w.Changed
}

// Route is the node to which a command is sent.
type Route struct {
	Leading       bool            // this node
	Leader        string          // otherwise the leader, which may have lost leadership or not be ready yet; "" if none is known
	Changed       <-chan struct{} // closed when another route may be better
	LeaderChanged <-chan struct{} // closed when the leader changes
}

// OtherLeads reports whether another node than self is known to lead.
func (w Route) OtherLeads(self string) bool { return w.Leader != "" && w.Leader != self }

// Route returns where a command goes now.
func (l *Leadership) Route() Route {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	if l.leaderChanged == nil {
		l.leaderChanged = make(chan struct{})
	}
	return Route{l.leading, l.leader, l.changed, l.leaderChanged}
}

// SetLeader records the leader that raft knows, "" for none.
func (l *Leadership) SetLeader(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.guessed = false
	l.setLeaderLocked(id)
}

// LeaderUnknown reports whether raft knows of no leader, and who is guessed to be it.
func (l *Leadership) LeaderUnknown() (guess string, unheard bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leader == "" || l.guessed {
		return l.leader, true
	}
	return "", false
}

// GuessLeader records a node that calls itself the leader, while raft knows of none.
func (l *Leadership) GuessLeader(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leader == "" {
		l.guessed = true
		l.setLeaderLocked(id)
	}
}

// DropGuess drops a guess that has proved wrong.
func (l *Leadership) DropGuess(guess string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.guessed && l.leader == guess {
		l.guessed = false
		l.setLeaderLocked("")
	}
}

// setLeaderLocked is called with mu held.
func (l *Leadership) setLeaderLocked(id string) {
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

// BeginElection ends this node's leadership. It returns the number of the election that follows,
// and whether this node led.
func (l *Leadership) BeginElection() (election uint64, led bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.election++
	led = l.leading
	l.setLeadingLocked(false)
	return l.election, led
}

// Suspend is BeginElection for a node that leads. On any other node, which may be
// establishing its leadership, it does nothing.
func (l *Leadership) Suspend() (election uint64, led bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.leading {
		return 0, false
	}
	l.election++
	l.setLeadingLocked(false)
	return l.election, true
}

// Confirm records that this node leads since the given election, unless that is over.
// It reports whether this node leads.
func (l *Leadership) Confirm(election uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.election == election {
		l.since = time.Now()
		l.setLeadingLocked(true)
	}
	return l.leading
}

// LeadingFor returns for how long this node has led, 0 if it does not.
func (l *Leadership) LeadingFor() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.leading {
		return 0
	}
	return time.Since(l.since)
}

// Current reports whether an election is the last one.
func (l *Leadership) Current(election uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.election == election
}

// setLeadingLocked is called with mu held.
func (l *Leadership) setLeadingLocked(leading bool) {
	if l.leading != leading {
		l.notifyLocked()
	}
	l.leading = leading
}

// notifyLocked is called with mu held.
func (l *Leadership) notifyLocked() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}
