package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// ErrNoMajority reports that too few voters can be reached to decide anything.
var ErrNoMajority = errcode.New("no_majority", "which is no majority, so nothing can be decided")

// A NoMajorityError means that nothing can be decided, because too few voters can be
// reached.
type NoMajorityError struct{ Reason string }

func (e *NoMajorityError) Error() string { return e.Reason }
func (e *NoMajorityError) Unwrap() []error {
	return []error{ErrNoMajority, &member.RefusedError{Reason: e.Reason}}
}

// quorum is which voters can be reached.
type quorum struct {
	voters []string // names
	silent []string // those of them that do not answer
	behind []string // those that answer, and do not follow this leader yet
}

func (q quorum) reachable() int { return len(q.voters) - len(q.silent) }

// hasMajority reports whether those that answer are enough to commit.
func (q quorum) hasMajority() bool { return q.reachable() > len(q.voters)/2 }

// canCommit reports whether they would do so at once.
func (q quorum) canCommit() bool { return q.reachable()-len(q.behind) > len(q.voters)/2 }

// without returns the quorum after a voter is removed.
func (q quorum) without(name string) quorum {
	drop := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
	}
	return quorum{drop(q.voters), drop(q.silent), drop(q.behind)}
}

// quorum asks the voters of raft's configuration how they are.
func (n *Node) quorum(ctx context.Context) quorum {
	var q quorum
	var mu sync.Mutex // of q.silent and q.behind
	var asking sync.WaitGroup
	for _, id := range n.Voters() {
		name := n.nameOf(id)
		q.voters = append(q.voters, name)
		if id == string(n.id) {
			continue
		}
		asking.Go(func() {
			follows, err := n.follows(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				q.silent = append(q.silent, name)
			case !follows:
				q.behind = append(q.behind, name)
			}
		})
	}
	asking.Wait()
	slices.Sort(q.silent)
	return q
}

// follows reports whether a voter has what this leader has committed. A voter that has
// come back may answer for seconds before raft calls it again: until then it
// commits nothing, and a leader that depends on it would lose its leadership.
func (n *Node) follows(ctx context.Context, id string) (bool, error) {
	committed := n.raft.CommitIndex()
	s, err := n.statuses.ask(ctx, id)
	return s.Leader == string(n.id) && s.Term == n.raft.CurrentTerm() && s.Last >= committed, err
}

func (n *Node) nameOf(id string) string {
	if m := member.ByID(n.View(), id); m != nil {
		return m.Name
	}
	if m, ok := n.folder.PeerList.Member(id); ok {
		return m.Name
	}
	return id
}

// The reasons that are gone in a moment.
var (
	// raft's configuration does not follow the members yet.
	errConfigChanging = member.Refuse(member.ErrChangeUnderWay)
	errNotCaughtUp    = member.Refuse(member.ErrNotCaughtUp)
)

// awaitRemovable waits until checkRemovable returns nil, as long as its error is one that
// passes in a moment, or any error with force.
func (n *Node) awaitRemovable(ctx context.Context, id string, patience time.Duration, force bool) (refused error) {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = n.waitFor(waiting, func() bool {
		refused = n.checkRemovable(ctx, id)
		return refused == nil || !force && !errors.Is(refused, errConfigChanging) && !errors.Is(refused, errNotCaughtUp)
	})
	return refused
}

// checkRemovable returns why a member can't be removed now, or nil. The change of raft's
// configuration must be committed by the voters that are left, and until then
// the leader needs a majority of those that are.
func (n *Node) checkRemovable(ctx context.Context, id string) error {
	byID, suffrage := n.membersAndServers()
	m := byID[raft.ServerID(id)]
	if m == nil {
		return nil // it is gone already
	}
	if len(byID) != len(suffrage) {
		return errConfigChanging
	}
	for id := range byID {
		if _, known := suffrage[id]; !known {
			return errConfigChanging
		}
	}
	q := n.quorum(ctx)
	left := q.without(m.Name)
	switch {
	case !q.hasMajority():
		return q.noMajorityError()
	case len(left.voters) == 0:
		return member.Refuse(fmt.Errorf("%s: %w", m.Name, member.ErrLastVoter))
	case !left.hasMajority():
		return member.Refuse(fmt.Errorf("without %s: %w: %d of %d answer, and %s not",
			m.Name, member.ErrNoMajorityLeft, left.reachable(), len(left.voters), strings.Join(left.silent, ", ")))
	case !q.canCommit() || !left.canCommit():
		return errNotCaughtUp
	}
	return nil
}

// noMajorityError describes that nothing can be decided.
func (q quorum) noMajorityError() error {
	return &NoMajorityError{fmt.Sprintf("only %d of %d voters can be reached, %v: no answer from %s",
		q.reachable(), len(q.voters), ErrNoMajority, strings.Join(q.silent, ", "))}
}

// explainUnavailable adds to an error of a cluster without a leader the reason, if that is
// that too few voters can be reached. If this node's clock is not to be trusted, that
// is the reason: to give up voters would not set clocks right.
func (n *Node) explainUnavailable(ctx context.Context, err error) error {
	if !errors.Is(err, ErrUnavailable) || ctx.Err() != nil {
		return err
	}
	q := n.quorum(ctx)
	if q.hasMajority() {
		return err
	}
	if clock := n.watchdog.checkStamp(); clock != nil {
		return fmt.Errorf("%w: %w", err, clock)
	}
	return q.noMajorityError()
}
