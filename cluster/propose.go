package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/election"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// Propose decides a command and returns its outcome and the index of the log at
// which a view shows its effect. Any node may be asked: the command goes to the
// leader. Where a view of the leader shows that the command would change
// nothing, that is the answer and nothing enters the log.
//
// An error is ErrUnavailable (nothing was proposed), ErrUnknown (the command may
// have happened), or describes what is wrong with the command.
func (n *Node) Propose(ctx context.Context, cmd command.Command) (value any, index uint64, err error) {
	if err := n.allowed(cmd.Kind()); err != nil {
		return nil, 0, err
	}
	var id command.ID
	if err := n.newCommandID(&id); err != nil {
		return nil, 0, err
	}
	begun := time.Now()
	deadline, patience := begun.Add(n.config.ProposeTimeout), begun.Add(n.config.LeaderTimeout)
	for again := false; ; {
		w := n.leader.Route()
		value, index, err := n.attempt(ctx, w, cmd, id, again, deadline)
		switch {
		case err == nil:
			return value, index, nil
		case errors.Is(err, ErrUnknown):
			// From here on the same command, marked, is put into the log until the
			// log shows what became of it: a command that was applied is recognised by its id.
			again = true
		case again && errors.Is(err, ErrUnavailable): // of this attempt only
		case errors.Is(err, errNotLeading):
			// The next attempt reports that this node was removed, if it was meanwhile.
			if ended := n.awaitRoute(ctx, w, patience); ended != nil && !errors.Is(ended, member.ErrRemoved) {
				return nil, 0, err
			}
			continue
		case again:
			return nil, 0, fmt.Errorf("%w: %v", ErrUnknown, err) // the first attempt may have happened
		default:
			return nil, 0, err
		}
		if ended := n.awaitRoute(ctx, w, deadline); ended != nil {
			// err is not wrapped: it may be ErrUnavailable, which is true of the
			// last attempt only.
			return nil, 0, fmt.Errorf("%w: %w (%v)", ErrUnknown, ended, err)
		}
	}
}

func (n *Node) newCommandID(id *command.ID) error {
	if _, err := io.ReadFull(n.config.Rand, id[:]); err != nil {
		return fmt.Errorf("make a command id: %w", err)
	}
	return nil
}

// attempt has the leader decide a command once. Without again an error other
// than ErrUnknown means that nothing was proposed.
func (n *Node) attempt(ctx context.Context, w election.Route, cmd command.Command, id command.ID, again bool, deadline time.Time) (any, uint64, error) {
	switch {
	case n.isClosing():
		return nil, 0, fmt.Errorf("%w: %w", ErrUnavailable, command.ErrClosed)
	case n.Removed() != nil:
		return nil, 0, fmt.Errorf("%w: %w", ErrUnavailable, member.ErrRemoved)
	case n.Duplicate() != nil:
		return nil, 0, fmt.Errorf("%w: %w", ErrUnavailable, member.ErrDuplicateNode)
	case w.Leading:
		return n.attemptLocal(ctx, proposal{cmd: cmd, id: id, again: again, connected: true}, deadline)
	case w.OtherLeads(n.ID()):
		return n.attemptRemote(ctx, w.Leader, w.LeaderChanged, cmd, id, again, deadline)
	}
	return nil, 0, fmt.Errorf("%w: %w", ErrUnavailable, errNotLeading)
}

// errConfirmConnected means that a decision would report reuse, and that it is not known
// whether the client is still connected. Nothing was proposed.
var errConfirmConnected = errors.New("connection of the client not confirmed")

// proposal is one attempt to have a command decided.
type proposal struct {
	cmd       command.Command
	id        command.ID
	again     bool             // an earlier attempt may have been decided
	connected bool             // the client was still connected a moment ago
	encoded   *machine.Encoded // cmd as another node sent it, nil for a command of this node
}

// attemptLocal decides a command on this node, which leads. A re-proposal has no
// preview, because only the log records what became of the first one.
func (n *Node) attemptLocal(ctx context.Context, p proposal, deadline time.Time) (any, uint64, error) {
	if leading, _ := n.Leading(); !leading {
		return nil, 0, fmt.Errorf("%w: %w", ErrUnavailable, errNotLeading)
	}
	if !p.again {
		// As for a leader, since nothing was proposed yet.
		d, index, err := n.preview(ctx, p.cmd, p.id, deadline.Add(n.config.LeaderTimeout-n.config.ProposeTimeout))
		if err != nil || len(d.Changes) == 0 {
			return d.Outcome, index, err
		}
		if d.ReuseDetected && !p.connected {
			return nil, 0, errConfirmConnected
		}
		if err := checkStillConnected(ctx, d.ReuseDetected); err != nil {
			return nil, 0, err
		}
	}
	r := newRequest()
	if p.encoded != nil {
		r.command = *p.encoded
	} else {
		var err error
		if r.command, err = n.core.Encode(p.cmd, p.id, p.again, &r.buf); err != nil {
			r.free()
			return nil, 0, err
		}
	}
	if err := n.pipeline.enqueue(ctx, r, deadline); err != nil {
		return nil, 0, err
	}
	value, index := r.value, r.index
	r.free()
	return value, index, nil
}

// reuseConfirmDelay is for how long a node that is about to report reuse checks whether
// the client has hung up. A process that was stopped for a while, or starved,
// finds requests in its sockets before it finds that their clients hung up.
const reuseConfirmDelay = 50 * time.Millisecond

// checkStillConnected returns ErrUnavailable if the client does not wait for the answer
// any more.
func checkStillConnected(ctx context.Context, reuse bool) error {
	if reuse {
		select {
		case <-ctx.Done():
		case <-time.After(reuseConfirmDelay):
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}

// preview decides on this node's view, and again on a fresh view for a refusal that must
// not be due to an old one. It waits for that view until the deadline.
func (n *Node) preview(ctx context.Context, cmd command.Command, id command.ID, deadline time.Time) (command.Decision, uint64, error) {
	index := n.Applied() // before the view, which is at least as new
	at, err := n.watchdog.stamp()
	if err != nil {
		return command.Decision{}, 0, err
	}
	d, err := n.core.Preview(cmd, command.Meta{ID: id}, at)
	if err != nil || !d.ConfirmFresh {
		return d, index, err
	}
	b := &n.barriers.unauthenticated
	if d.Authenticated {
		b = &n.barriers.all
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := n.waitBarrier(ctx, b); err != nil {
		return command.Decision{}, 0, err
	}
	index = n.Applied()
	d, err = n.core.Preview(cmd, command.Meta{ID: id}, at)
	return d, index, err
}

// retryInterval keeps a retry from spinning while raft changes its mind.
const retryInterval = 10 * time.Millisecond

// awaitRoute waits until a command may be proposed again: until another way than w is
// known, and in any case a moment. The error is why waiting ended.
func (n *Node) awaitRoute(ctx context.Context, w election.Route, deadline time.Time) error {
	end := time.NewTimer(time.Until(deadline))
	defer end.Stop()
	moment := time.NewTimer(retryInterval)
	defer moment.Stop()
	for waited := false; !waited || !w.Leading && !w.OtherLeads(n.ID()); {
		select {
		case <-moment.C:
			waited = true
		case <-w.Changed:
			w = n.leader.Route()
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return errDeadline
		case <-n.checks.removed.Done():
			return member.ErrRemoved
		case <-n.closing:
			return command.ErrClosed
		}
	}
	return nil
}
