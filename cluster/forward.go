package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// errNotLeading is the reason when whoever was asked does not lead.
var errNotLeading = errors.New("no leader is known")

// serveCall does what a peer asks for.
func (n *Node) serveCall(ctx context.Context, peer string, op byte, body []byte) reply {
	switch {
	case op == opBootstrap:
		return n.serveBootstrap()
	case n.bootstrapWait.waiting():
		return reply{replyUnavailable, []byte("this node waits for the other initial nodes")}
	}
	switch op {
	case opPropose, opProposeConnected:
		return n.serveProposal(ctx, body, op == opProposeConnected)
	case opBarrier, opUnauthenticatedBarrier:
		if leading, _ := n.Leading(); !leading {
			return reply{status: replyNotLeading}
		}
		b := &n.barriers
		if op == opUnauthenticatedBarrier {
			b = &n.unauthenticatedBarriers
		}
		if err := n.waitBarrier(ctx, b); err != nil {
			return reply{replyUnavailable, []byte(err.Error())}
		}
		return reply{replyOK, binary.BigEndian.AppendUint64(nil, n.Applied())}
	case opStatus:
		return n.serveStatus(peer, body)
	case opTransfer:
		if leading, _ := n.Leading(); !leading {
			return reply{status: replyNotLeading}
		}
		if err := n.transferChecked(ctx, string(body)); err != nil {
			return errorReply(err)
		}
		return reply{status: replyOK}
	case opCampaign:
		if w := n.leader.route(); !w.leading && (w.leader == peer || w.leader == "") {
			n.log.Warn("cluster: the leader can't lead any more, this node stands for election", "leader", peer)
			n.campaign()
		}
		return reply{status: replyOK}
	case opLeaderLoss:
		return n.serveLossReport(ctx, body)
	case opDistributeSecret, opFetchSecret:
		return n.serveSecret(op, body)
	case opRemove:
		return n.serveRemoval(ctx, body)
	}
	return reply{replyFailed, []byte("unknown request: this node may run an older version")}
}

// serveProposal decides a command for a follower. It is one attempt: whether to
// propose a command of unknown fate again is for the node that has the request.
func (n *Node) serveProposal(ctx context.Context, body []byte, connected bool) reply {
	s, err := decodeCommand(body)
	if err != nil {
		return reply{replyFailed, []byte(err.Error())}
	}
	empty := n.core.schema.commands[s.kind]
	if empty == nil {
		return reply{replyFailed, fmt.Appendf(nil, "command kind %d is unknown to the leader's version of the program", s.kind)}
	}
	cmd := empty()
	if err := decoding.Unmarshal(s.body, cmd); err != nil {
		return reply{replyFailed, fmt.Appendf(nil, "decode command kind %d: %v", s.kind, err)}
	}
	deadline, _ := ctx.Deadline() // of the node that has the request, see servePeer
	value, index, err := n.attemptLocal(ctx, cmd, s.id, s.again(), connected, deadline)
	switch {
	case errors.Is(err, errNotLeading), errors.Is(err, errClosed) && errors.Is(err, ErrUnavailable):
		return reply{status: replyNotLeading}
	case errors.Is(err, errConfirmConnected):
		return reply{status: replyConfirm}
	case errors.Is(err, ErrUnknown):
		return reply{replyUnknown, []byte(err.Error())}
	case errors.Is(err, ErrUnavailable):
		return reply{replyUnavailable, []byte(err.Error())}
	case err != nil:
		return reply{replyFailed, []byte(err.Error())}
	}
	b, err := encoding.Marshal(value)
	if err != nil {
		return reply{replyUnknown, fmt.Appendf(nil, "encode an outcome: %v", err)}
	}
	return reply{replyOK, append(binary.BigEndian.AppendUint64(nil, index), b...)}
}

// attemptRemote has the leader make one attempt. moved is closed when another
// node is the leader, as far as this one has heard: then the answer will not
// come.
func (n *Node) attemptRemote(ctx context.Context, leader string, moved <-chan struct{}, cmd command.Command, id command.ID, again bool, deadline time.Time) (any, uint64, error) {
	r := newRequest()
	defer r.free()
	s, err := n.core.schema.encodeCommand(cmd, id, again, &r.buf)
	if err != nil {
		return nil, 0, err
	}
	body := appendCommand(make([]byte, 0, commandOverhead+len(s.body)), &s)
	c, err := n.connectLeader(ctx, leader, again, deadline)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w: %w", ErrUnavailable, errNotLeading, err)
	}
	answer, err := n.askOver(ctx, c, leader, moved, opPropose, body, time.Until(deadline))
	if err == nil && answer.status == replyConfirm {
		if err := checkStillConnected(ctx, true); err != nil {
			return nil, 0, err
		}
		answer, err = n.askOver(ctx, c, leader, moved, opProposeConnected, body, time.Until(deadline))
	}
	if errors.Is(err, errNotSent) {
		return nil, 0, fmt.Errorf("%w: %w: %w", ErrUnavailable, errNotLeading, err)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: the leader's answer: %w", ErrUnknown, err)
	}
	if answer.status != replyOK {
		return nil, 0, answer.err()
	}
	if len(answer.body) < 8 {
		return nil, 0, fmt.Errorf("%w: a short answer of the leader", ErrUnknown)
	}
	value, err := n.core.schema.decodeOutcome(s.kind, answer.body[8:])
	if err != nil {
		return nil, 0, fmt.Errorf("%w: decode the leader's answer: %w", ErrUnknown, err)
	}
	return value, binary.BigEndian.Uint64(answer.body), nil
}

// connectLeader returns the connection to the leader. A command that was never
// proposed waits for it no longer than for a leader to be known, so that a client
// soon hears that nothing was proposed. A connection in a network that swallows
// everything takes dialTimeout to fail.
func (n *Node) connectLeader(ctx context.Context, leader string, again bool, deadline time.Time) (*peerClient, error) {
	if !again {
		deadline = deadline.Add(n.config.LeaderTimeout - n.config.ProposeTimeout)
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	return n.peer(ctx, leader)
}

// decodeOutcome reads an outcome that travelled.
func (s *schema) decodeOutcome(k command.Kind, b []byte) (any, error) {
	if k >= ownKinds {
		var m membership
		err := decoding.Unmarshal(b, &m)
		return m, err
	}
	if s.outcome == nil {
		return nil, errors.New("this machine has no outcomes that travel")
	}
	return s.outcome(k, b)
}

// errorReply is how an error of what an operator asked for travels.
func errorReply(err error) reply {
	var few *NoMajorityError
	switch {
	case errors.Is(err, errNotLeading):
		return reply{status: replyNotLeading}
	case errors.As(err, &few):
		return reply{replyNoMajority, []byte(few.Reason)}
	case errors.Is(err, ErrUnknown):
		return reply{replyUnknown, []byte(err.Error())}
	case errors.Is(err, ErrUnavailable):
		return reply{replyUnavailable, []byte(err.Error())}
	}
	return reply{replyFailed, []byte(err.Error())}
}

// err is the error that a refusal to answer stands for.
func (r reply) err() error {
	switch r.status {
	case replyNotLeading:
		return fmt.Errorf("%w: %w", ErrUnavailable, errNotLeading)
	case replyUnavailable:
		return fmt.Errorf("%w: %s", ErrUnavailable, r.body)
	case replyNoMajority:
		return &NoMajorityError{string(r.body)}
	case replyUnknown:
		return fmt.Errorf("%w: %s", ErrUnknown, r.body)
	}
	return errors.New(string(r.body))
}
