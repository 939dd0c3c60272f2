package election

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// ErrNotLeading is the reason of an error when the node that was asked does not lead.
var ErrNotLeading = errors.New("no leader was reached")

// Peers makes calls to other nodes; *transport.Peers does.
type Peers interface {
	Connect(ctx context.Context, id string) (*transport.Conn, error)
	Ask(ctx context.Context, id string, lost <-chan struct{}, op byte, body []byte, timeout time.Duration) (transport.Reply, error)
}

// Config is what an Elector needs of its node.
type Config struct {
	ID        raft.ServerID
	Log       *slog.Logger
	Transport raft.Transport
	Peers     Peers
	NameOf    func(id string) string
	// CallTimeout bounds a call to another node that needs no waiting there.
	CallTimeout time.Duration
	// CampaignInterval is between the campaigns of two voters that lost the leader.
	CampaignInterval time.Duration
	// LossTimeout is how long a node may hear from no leader. 0: derived from raft's
	// election timeout.
	LossTimeout time.Duration
	// Ready makes this node, which was elected and has applied everything that was
	// committed before, ready to lead. clockAgrees reports that its clock allows that.
	Ready func() (ready, clockAgrees bool)
	// OnLeader is called with the leader of a term, if that is another node.
	OnLeader func(id string, term uint64)
	// Candidates describes the other voters.
	Candidates func() map[string]Candidate
	// Go starts a goroutine that the end of the node waits for.
	Go func(func())
	// Closing is closed when the node closes, Stopped when raft was told to stop.
	Closing, Stopped <-chan struct{}
}

// An Elector takes part in elections for one node.
type Elector struct {
	Leadership
	Config
	raft   *raft.Raft
	notify chan bool // leadership, from raft

	listeningSince atomic.Pointer[time.Time] // when this node began to listen for a leader
	campaigned     atomic.Pointer[time.Time] // when it last campaigned; the zero time before the first

	withdrawn             atomic.Bool // the node stops, and has transferred leadership
	transferFailureLogged atomic.Bool // leadership could not be transferred before the stop, and that was logged
	loggedLeader          string      // id of the leader that was logged last; used by Watch only
}

// notifyBuffer is enough for what happens while the reader is descheduled.
const notifyBuffer = 16

// retryInterval is the pause between two attempts while raft changes its state.
const retryInterval = 10 * time.Millisecond

// New returns the elector of a node whose raft does not run yet.
func New(c Config) *Elector { return &Elector{Config: c, notify: make(chan bool, notifyBuffer)} }

// NotifyCh is for raft.Config.
func (e *Elector) NotifyCh() chan<- bool { return e.notify }

// Start is called once, when raft runs and before the other methods are used.
func (e *Elector) Start(r *raft.Raft) {
	e.raft = r
	e.listeningSince.Store(new(time.Now()))
	e.campaigned.Store(new(time.Time))
}

// Voters returns the ids of the nodes that vote, as this node knows them.
func (e *Elector) Voters() []string {
	var ids []string
	for _, s := range e.raft.GetConfiguration().Configuration().Servers {
		if s.Suffrage == raft.Voter {
			ids = append(ids, string(s.ID))
		}
	}
	return ids
}

// SoleVoter reports whether this node is the only one that votes.
func (e *Elector) SoleVoter() bool {
	voters := e.Voters()
	return len(voters) == 1 && voters[0] == string(e.ID)
}

// WhileLeading runs duty whenever this node leads, with a context that ends when
// it no longer does, and waits for it to return. It returns when ctx ends or the
// node closes. A duty that returns early is run again at the next election.
func (e *Elector) WhileLeading(ctx context.Context, duty func(context.Context)) {
	for {
		leading, changed := e.Get()
		if leading {
			e.runDuty(ctx, changed, duty)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-e.Closing:
			return
		}
	}
}

func (e *Elector) runDuty(ctx context.Context, lost <-chan struct{}, duty func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-lost:
		case <-e.Closing:
		case <-ctx.Done():
		}
		cancel()
	})
	defer watcher.Wait()
	defer cancel()
	duty(ctx)
}

// Watch drains raft's NotifyCh until raft is told to stop. raft blocks its main
// goroutine on a full channel (and its LeaderCh loses values), so nothing here waits:
// a new leader passes its Barrier in a goroutine of its own.
func (e *Elector) Watch() {
	var barriers sync.WaitGroup
	defer barriers.Wait()
	// Not blocking: a full channel drops only older reports of the leader, which is
	// read anew at each.
	heard := make(chan raft.Observation, notifyBuffer)
	observer := raft.NewObserver(heard, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.LeaderObservation)
		return ok
	})
	e.raft.RegisterObserver(observer)
	defer e.raft.DeregisterObserver(observer)
	e.observeLeader()
	for {
		select {
		case <-heard:
			e.observeLeader()
		case elected := <-e.notify:
			election, led := e.BeginElection()
			if led {
				e.Log.Info("leadership lost")
			}
			if elected {
				barriers.Go(func() { e.establish(election) })
			}
		case <-e.Stopped:
			e.BeginElection()
			return
		}
	}
}

func (e *Elector) observeLeader() {
	_, id := e.raft.LeaderWithID()
	e.recordLeaderTerm()
	e.SetLeader(string(id))
	if id == "" || string(id) == e.loggedLeader {
		return
	}
	e.loggedLeader = string(id)
	if id != e.ID { // establish logs this node's own leadership
		e.Log.Info("leader changed", "name", e.NameOf(string(id)), "term", e.raft.CurrentTerm())
	}
}

// recordLeaderTerm reports the term of the present leader. Raft clears the leader before it
// raises the term: if the term is the same before and after the leader is read,
// that leader led in that term.
func (e *Elector) recordLeaderTerm() {
	term := e.raft.CurrentTerm()
	_, id := e.raft.LeaderWithID()
	if id == "" || id == e.ID || e.raft.CurrentTerm() != term {
		return
	}
	e.OnLeader(string(id), term)
}

// establish makes an elected node lead once it has applied everything that was
// committed before its election, and is ready. It ends when the election is over.
func (e *Elector) establish(election uint64) {
	logged := false
	for e.Current(election) {
		pause := retryInterval
		err := transport.Await(e.raft.Barrier(0), e.Stopped)
		var ready, agrees bool
		if err == nil {
			ready, agrees = e.Ready()
		}
		if ready {
			if e.Confirm(election) {
				e.Log.Info("leadership acquired", "term", e.raft.CurrentTerm())
			}
			return
		}
		if err == nil && !agrees && e.Current(election) {
			if !logged {
				e.Log.Error("elected without clock agreement, transferring leadership")
			}
			logged, pause = true, minLeadTime
			e.MaybeTransfer(e.FallbackTarget())
		}
		select {
		case <-time.After(pause):
		case <-e.Stopped:
			return
		}
	}
}

// SuspendLeadership makes a leader decide nothing until it is ready again. It stays
// raft's leader, because no other node can take over.
func (e *Elector) SuspendLeadership() {
	if election, led := e.Suspend(); led {
		e.Go(func() { e.establish(election) })
	}
}

// untilStopped returns a context that ends when raft is told to stop.
func (e *Elector) untilStopped() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		select {
		case <-e.Stopped:
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// wait waits for d, or until ctx ends, and reports whether d has passed.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
