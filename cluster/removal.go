package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/election"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// A removal runs on the leader, one at a time, in this order:
//
//  1. A leader that is to go hands over, and the next one carries on.
//  2. raft's configuration loses the node, and that is committed.
//  3. The member's row goes, and the key in it is refused from then on.
//
// In the opposite order the configuration would still count a node that is refused by all
// others: a leader that dies between the two steps could leave it without the majority
// that any change needs, for good. In this order the next leader finds a member that is
// in no configuration and adds it again, as a nonvoter: the removal did not happen, and
// can be requested again.

// memberChanges serializes changes of the members.
type memberChanges struct {
	removing       sync.Mutex // held while a member is removed, one at a time
	replaceBlocked string     // why a replaced member can't go, as it was logged last; guarded by removing
	raft           tryMutex   // held while raft's configuration changes
}

// tryMutex is a mutex whose Lock ends with a context.
type tryMutex chan struct{}

func newTryMutex() tryMutex { return make(tryMutex, 1) }

func (t tryMutex) tryLock() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

func (t tryMutex) lock(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t tryMutex) unlock() { <-t }

// Remove removes a member, named by name or id, from the cluster. When it returns,
// the members that can be reached refuse the member's key, on open connections too.
// Remove is refused if a majority of the voters, before or after the change, can't be
// reached: the change could not be committed then. With force it first waits for them,
// at most for Config.ProposeTimeout.
//
// The error is a *RefusedError if a rule forbids the removal, and ErrUnavailable if
// nothing was done for another reason. After ErrUnknown the caller must repeat the
// removal.
func (n *Node) Remove(ctx context.Context, name string, force bool) error {
	if err := n.membershipTrouble(); err != nil {
		return member.Refuse(err)
	}
	view, err := n.ViewFresh(ctx)
	if err != nil && force {
		waiting, cancel := context.WithTimeout(ctx, n.config.ProposeTimeout)
		defer cancel()
		_ = n.waitFor(waiting, func() bool {
			view, err = n.ViewFresh(waiting)
			return err == nil
		})
	}
	if err != nil {
		return n.explainUnavailable(ctx, err)
	}
	m := member.Named(view, name)
	if m == nil {
		return &member.NoNodeError{Name: name}
	}
	return n.viaLeader(ctx, n.config.ProposeTimeout, func(w election.Route) error {
		return n.removeVia(ctx, w, m.ID, force)
	})
}

// removeVia has the leader remove a member.
func (n *Node) removeVia(ctx context.Context, w election.Route, id string, force bool) error {
	if w.Leading {
		_, err := n.removeLocal(ctx, id, force)
		return err
	}
	own := id == n.ID()
	answer, err := n.askLeader(ctx, w, transport.OpRemove, encodeRemoval(id, force))
	switch {
	case own && errors.Is(err, ErrUnknown) && n.membership.confirm(ctx, w.Leader):
		return nil // this node's own removal ended the connection that the answer would have come by
	case err != nil:
		return err
	case !own && len(answer) == 8:
		return n.awaitRefused(ctx, id, binary.BigEndian.Uint64(answer))
	}
	return nil
}

// The body of OpRemove: whether it is forced, and the id.
func encodeRemoval(id string, force bool) []byte {
	b := []byte{0}
	if force {
		b[0] = 1
	}
	return append(b, id...)
}

// serveRemoval answers OpRemove. Where it is done the answer is the index of the
// log at which a view has it.
func (n *Node) serveRemoval(ctx context.Context, body []byte) transport.Reply {
	if len(body) < 2 {
		return transport.Reply{Status: transport.ReplyFailed, Body: []byte("remove: no node is named")}
	}
	index, err := n.removeLocal(ctx, string(body[1:]), body[0] == 1)
	if err != nil {
		return errorReply(err)
	}
	return transport.Reply{Status: transport.ReplyOK, Body: binary.BigEndian.AppendUint64(nil, index)}
}

// settleTimeout is how long a removal that is asked for waits for the change
// before it, such as a node that joins.
const settleTimeout = 2 * reconcileInterval

// removeLocal removes a member where the leader is this node.
func (n *Node) removeLocal(ctx context.Context, id string, force bool) (index uint64, err error) {
	if leading, _ := n.Leading(); !leading {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, errNotLeading)
	}
	if index, err = n.removeSerialized(ctx, id, force); err != nil {
		return 0, err
	}
	return index, n.awaitRefusedEverywhere(ctx, id, index)
}

func (n *Node) removeSerialized(ctx context.Context, id string, force bool) (index uint64, err error) {
	if !n.changes.removing.TryLock() {
		return 0, member.Refuse(member.ErrRemovalUnderWay)
	}
	defer n.changes.removing.Unlock()
	patience := settleTimeout
	if force {
		patience = n.config.ProposeTimeout / 2 // so that there is time left for what is waited for
	}
	if err := n.awaitRemovable(ctx, id, patience, force); err != nil {
		return 0, err
	}
	if err := n.changes.raft.lock(ctx); err != nil {
		return 0, fmt.Errorf("%w: change of the raft configuration in progress: %w", ErrUnavailable, err)
	}
	defer n.changes.raft.unlock()
	return n.removeLocked(ctx, id)
}

// removeReplaced removes the member whose place a new one has taken, if it may go
// now. The reason why it may not is logged once.
func (n *Node) removeReplaced(ctx context.Context, m *member.Member) (gone bool, err error) {
	if !n.changes.removing.TryLock() {
		return false, nil
	}
	defer n.changes.removing.Unlock()
	_, err = n.removeLocked(ctx, m.Replaces)
	var refused *member.RefusedError
	switch {
	case errors.As(err, &refused):
		if n.changes.replaceBlocked != refused.Reason {
			n.changes.replaceBlocked = refused.Reason
			n.log.Warn("replaced node not removed yet", "name", m.Name, "old", m.Replaces, "reason", refused.Reason)
		}
		return false, nil
	case errors.Is(err, errNotLeading):
		return true, nil // the next leader carries on
	case err != nil:
		return false, err
	}
	n.changes.replaceBlocked = ""
	n.log.Info("node replaced", "name", m.Name, "old", m.Replaces)
	return true, nil
}

// removeLocked is called with changes.removing and changes.raft held.
func (n *Node) removeLocked(ctx context.Context, id string) (index uint64, err error) {
	m := member.ByID(n.View(), id)
	if m == nil {
		return n.Applied(), nil // it was removed meanwhile
	}
	term := n.raft.CurrentTerm()
	// Again, since the change before is done only now.
	if err := n.awaitRemovable(ctx, id, settleTimeout, false); err != nil {
		return 0, err
	}
	if id == string(n.id) {
		if err := n.transferLeadership(ctx, ""); err != nil && !errors.Is(err, errNotLeading) {
			return 0, member.Refuse(fmt.Errorf("node %s leads, and %w: %v", m.Name, member.ErrNotTransferred, err))
		}
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, errNotLeading) // the next leader carries on
	}
	ctx = context.WithoutCancel(ctx) // a removal that has begun does not end with its request
	n.log.Info("node removal begun", "name", m.Name, "id", id)
	err = transport.Await(n.raft.RemoveServer(raft.ServerID(id), 0, n.config.ProposeTimeout), n.stopped)
	switch {
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return 0, fmt.Errorf("%w: %w: %w", ErrUnavailable, errNotLeading, err)
	case err != nil:
		return 0, fmt.Errorf("%w: remove node %s from the raft configuration: %w", ErrUnknown, m.Name, err)
	}
	if n.config.hooks.ServerRemoved != nil {
		n.config.hooks.ServerRemoved()
	}
	return n.dropMember(ctx, id, term)
}

// dropMember removes the row of a member, and so its key, by this node as the leader of a
// term. Neither another leader may do it instead, nor this one in a later term: the
// member may have been added to the configuration again.
func (n *Node) dropMember(ctx context.Context, id string, term uint64) (uint64, error) {
	var command command.ID
	if err := n.newCommandID(&command); err != nil {
		return 0, err
	}
	if n.raft.CurrentTerm() != term {
		return 0, fmt.Errorf("%w: leadership was lost while node %s was removed", ErrUnknown, id)
	}
	value, index, err := n.attemptLocal(ctx, proposal{cmd: &member.Remove{ID: id}, id: command, connected: true}, time.Now().Add(n.config.ProposeTimeout))
	if err != nil {
		// The configuration was changed, so that it is not as if nothing had been.
		return 0, fmt.Errorf("%w: delete the removed node from the members: %v", ErrUnknown, err)
	}
	if err := value.(member.Outcome).Err(); err != nil && member.ByID(n.View(), id) != nil {
		return 0, err
	}
	return index, nil
}

// awaitRefused returns when this node refuses a member that was removed at an index.
func (n *Node) awaitRefused(ctx context.Context, id string, index uint64) error {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	if _, err := n.ViewAt(ctx, index); err != nil {
		return fmt.Errorf("%w: the node is removed, and this node has not applied that yet: %w", ErrUnknown, err)
	}
	_ = n.waitFor(ctx, func() bool {
		_, listed := n.folder.PeerList.Member(id)
		return !listed
	})
	n.net.network.DropNonMembers()
	return nil
}

// awaitRefusedEverywhere returns when no member that can be reached listens to a
// removed one any more.
func (n *Node) awaitRefusedEverywhere(ctx context.Context, id string, index uint64) error {
	if err := n.awaitRefused(ctx, id, index); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	var asking sync.WaitGroup
	for _, m := range member.All(n.View()) {
		if m.ID == string(n.id) {
			continue
		}
		asking.Go(func() {
			_ = n.waitFor(ctx, func() bool {
				s, err := n.statuses.ask(ctx, m.ID)
				return err != nil || s.Applied >= index && !s.hasPeer(id)
			})
		})
	}
	asking.Wait()
	return nil
}
