package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Propose decides a command and returns its outcome and the index of the log at
// which a view shows its effect. Where a view shows that the command would
// change nothing, that is the answer and nothing enters the log.
//
// An error is ErrUnavailable (nothing was proposed), ErrUnknown (the command may
// have happened), or says what is wrong with the command.
func (n *Node) Propose(ctx context.Context, cmd Command) (value any, index uint64, err error) {
	var id CommandID
	if _, err := io.ReadFull(n.config.Rand, id[:]); err != nil {
		return nil, 0, fmt.Errorf("make a command id: %w", err)
	}
	if leading, _ := n.Leading(); !leading {
		return nil, 0, fmt.Errorf("%w: this node does not lead", ErrUnavailable)
	}
	d, index, err := n.preview(ctx, cmd, id)
	if err != nil || len(d.Changes) == 0 {
		return d.Outcome, index, err
	}
	return n.commit(ctx, cmd, id)
}

// preview decides on a view: on this node's, and for a refusal that would hurt
// again on one that is fresh.
func (n *Node) preview(ctx context.Context, cmd Command, id CommandID) (Decision, uint64, error) {
	index := n.Applied() // before the view, which is at least as new
	d, err := n.core.preview(cmd, Meta{ID: id}, n.now())
	if err != nil || len(d.Changes) > 0 || !d.Recheck {
		return d, index, err
	}
	if err := n.barrier(ctx); err != nil {
		return Decision{}, 0, err
	}
	index = n.Applied()
	d, err = n.core.preview(cmd, Meta{ID: id}, n.now())
	return d, index, err
}

// now is the stamp for a command, in milliseconds since the Unix epoch.
func (n *Node) now() int64 { return max(n.config.Now().UnixMilli(), 0) }

// commit puts a command into the log and waits for its outcome. While its fate
// is unknown the same command, marked, is put into the log again: what was
// applied is recognised by its id. Such a re-proposal has no preview, because
// the log alone knows what became of the first one.
func (n *Node) commit(ctx context.Context, cmd Command, id CommandID) (any, uint64, error) {
	deadline := time.Now().Add(n.config.ProposeTimeout)
	for again := false; ; again = true {
		r := newRequest()
		var err error
		if r.sealed, err = n.core.schema.seal(cmd, id, again, &r.buf); err != nil {
			r.free()
			return nil, 0, err
		}
		if err = n.enqueue(ctx, r, deadline); err == nil {
			value, index := r.value, r.index
			r.free()
			return value, index, nil
		}
		if !again && !errors.Is(err, ErrUnknown) {
			return nil, 0, err
		}
		if ended := n.pause(ctx, deadline); ended != nil {
			// Not wrapped: the cause may be ErrUnavailable, which is true of the
			// last attempt only.
			return nil, 0, fmt.Errorf("%w: %w (%v)", ErrUnknown, ended, err)
		}
	}
}

// pause waits until a command of unknown fate may be proposed again: a moment,
// and until this node leads.
func (n *Node) pause(ctx context.Context, deadline time.Time) error {
	if time.Until(deadline) <= 0 {
		return errDeadline
	}
	end := time.NewTimer(time.Until(deadline))
	defer end.Stop()
	moment := time.NewTimer(retryPause)
	defer moment.Stop()
	for waited := false; ; {
		leading, changed := n.Leading()
		if leading && waited {
			return nil
		}
		select {
		case <-moment.C:
			waited = true
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return errDeadline
		case <-n.closing:
			return errClosed
		}
	}
}
