package recovery

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/join"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// A Plan describes what Recover would do to a folder.
type Plan struct {
	Last      uint64          // index of the last entry of raft's log
	Abandoned []AbandonedNode // the other nodes, in order of name
	View      *memdb.Txn      // the state with the whole log applied
	At        int64           // state time of the last command in it, ms since the Unix epoch
	Seq       uint64          // see Recovery.Seq
}

// An AbandonedNode is a node that Recover would give up, and the result of asking it
// whether it runs.
type AbandonedNode struct {
	member.Member
	Probe ProbeResult
	Why   string // why there is no answer, for operators; "" if there is one
}

// A ProbeResult is the result of asking a node that Recover would give up.
type ProbeResult uint8

const (
	// ProbeUnreachable means that nothing, or something else, answered at the
	// node's address. The node may run, and other nodes may reach it.
	ProbeUnreachable ProbeResult = iota
	// ProbeRefused means that the connection was refused: nothing listens there, or
	// a firewall rejects connections.
	ProbeRefused
	// ProbeRunning means that the node runs and has no leader.
	ProbeRunning
	// ProbeHasLeader means that the node runs, and leads or follows a leader.
	ProbeHasLeader
)

// recoveryProbeTimeout bounds the question, in which a node that answers finds out
// whether it has a leader.
const recoveryProbeTimeout = 5 * time.Second

// NewPlan returns what Recover would do to the folder o.Dir, whose data does not
// change. It asks the other nodes by the join protocol, which needs the node's key
// only: a certificate of the cluster would need the cluster key.
func NewPlan(ctx context.Context, o Options) (p Plan, err error) {
	if err := integrity.CheckRemoved(o.Dir); err != nil {
		return p, fmt.Errorf("recover: %w", err)
	}
	if member, err := integrity.IsMember(o.Dir); err != nil || !member {
		return p, errors.Join(errNothingToRecover, err)
	}
	f, err := open(o)
	if err != nil {
		return p, fmt.Errorf("recover: %w", err)
	}
	defer func() { err = errors.Join(err, f.folder.Close()) }()
	if p.Last, err = f.folder.Store.Logs.LastIndex(); err != nil {
		return p, fmt.Errorf("recover: read log: %w", err)
	}
	taken, err := f.folder.Snapshots.List()
	if err != nil {
		return p, fmt.Errorf("recover: list snapshots: %w", err)
	}
	for _, s := range taken {
		p.Last = max(p.Last, s.Index)
	}
	kept, joined, err := f.folder.NodeIDs()
	if err != nil {
		return p, fmt.Errorf("recover: %w", err)
	}
	if len(kept) == 0 {
		kept = joined
	}
	for _, m := range f.folder.PeerList.Get().Members {
		if m.ID != string(kept) {
			p.Abandoned = append(p.Abandoned, AbandonedNode{Member: m})
		}
	}
	slices.SortFunc(p.Abandoned, func(a, b AbandonedNode) int { return strings.Compare(a.Name, b.Name) })
	if len(p.Abandoned) > 0 {
		if err := f.probeAbandoned(ctx, string(kept), &p); err != nil {
			return p, err
		}
	}
	return p, f.replayForPlan(&p)
}

// replayForPlan applies the log to the state in memory.
func (f *offline) replayForPlan(p *Plan) error {
	earlier, _, err := read(f.Dir)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	err = f.replay(func(view *memdb.Txn, shared uint64) error {
		p.View, p.At, p.Seq = view, machine.ReadStatus(view).At, shared
		return errStopReplay
	})
	if !errors.Is(err, errStopReplay) {
		return fmt.Errorf("recover: %w", err)
	}
	if earlier != nil {
		p.Seq = earlier.Seq // Recover continues that recovery
	}
	return nil
}

// probeAbandoned asks all these nodes at once whether they run and have a leader.
func (f *offline) probeAbandoned(ctx context.Context, self string, p *Plan) error {
	key, err := member.NodeKey(rand.Reader, f.Dir)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	own, err := member.SelfSigned(key, self, f.Now())
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, recoveryProbeTimeout)
	defer cancel()
	out := transport.NewNetwork(self, nil, f.folder.PeerList, &member.Credentials{Now: f.Now}, f.Logger.Warn)
	errs := make([]error, len(p.Abandoned))
	var asking sync.WaitGroup
	for i := range p.Abandoned {
		asking.Go(func() {
			g := &p.Abandoned[i]
			c, err := out.DialUnauthenticated(ctx, g.Member, own)
			if err != nil {
				g.Why = transport.DescribeDialError(transport.WrapDialError(g.Address, err))
				if errors.Is(err, syscall.ECONNREFUSED) {
					g.Probe = ProbeRefused
				}
				return
			}
			defer func() { _ = c.Close() }()
			g.Probe = ProbeRunning // even if it does not answer in time
			switch a, err := join.Ask(ctx, c, join.Request{CheckMembership: true, CheckLeader: true}); {
			case err != nil:
			case a.NotMember:
				errs[i] = fmt.Errorf("recover: reported by node %s: %w", g.Name, member.ErrRemoved)
			case a.HasLeader:
				g.Probe = ProbeHasLeader
			}
		})
	}
	asking.Wait()
	return errors.Join(errs...)
}
