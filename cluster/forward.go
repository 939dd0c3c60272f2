package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/election"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// errNotLeading is the reason when the node that was asked does not lead.
var errNotLeading = election.ErrNotLeading

// serveCall answers a call of a peer.
func (n *Node) serveCall(ctx context.Context, peer string, op byte, body []byte) transport.Reply {
	switch {
	case op == transport.OpBootstrap:
		return n.bootstrap.serve()
	case n.bootstrap.waiting():
		return transport.Reply{Status: transport.ReplyUnavailable, Body: []byte("this node waits for the other initial nodes")}
	}
	switch op {
	case transport.OpPropose, transport.OpProposeConnected:
		return n.serveProposal(ctx, body, op == transport.OpProposeConnected)
	case transport.OpBarrier, transport.OpUnauthenticatedBarrier:
		if leading, _ := n.Leading(); !leading {
			return transport.Reply{Status: transport.ReplyNotLeading}
		}
		b := &n.barriers.all
		if op == transport.OpUnauthenticatedBarrier {
			b = &n.barriers.unauthenticated
		}
		if err := n.waitBarrier(ctx, b); err != nil {
			return transport.Reply{Status: transport.ReplyUnavailable, Body: []byte(err.Error())}
		}
		return transport.Reply{Status: transport.ReplyOK, Body: binary.BigEndian.AppendUint64(nil, n.Applied())}
	case transport.OpStatus:
		return n.statuses.serve(peer, body)
	case transport.OpTransfer:
		if leading, _ := n.Leading(); !leading {
			return transport.Reply{Status: transport.ReplyNotLeading}
		}
		if err := n.transferChecked(ctx, string(body)); err != nil {
			return errorReply(err)
		}
		return transport.Reply{Status: transport.ReplyOK}
	case transport.OpCampaign:
		if w := n.leader.Route(); !w.Leading && (w.Leader == peer || w.Leader == "") {
			n.log.Warn("leader requested an election, campaigning", "leader", peer)
			n.leader.Campaign()
		}
		return transport.Reply{Status: transport.ReplyOK}
	case transport.OpLeaderLoss:
		return n.leader.ServeLossReport(ctx, body)
	case transport.OpDistributeSecret, transport.OpFetchSecret:
		return n.secrets.serve(op, body)
	case transport.OpRemove:
		return n.serveRemoval(ctx, body)
	}
	return transport.Reply{Status: transport.ReplyFailed, Body: []byte("unknown request: this node may run an older version")}
}

// serveProposal decides a command for a follower. It is one attempt: whether to
// propose a command of unknown fate again is for the node that has the request.
func (n *Node) serveProposal(ctx context.Context, body []byte, connected bool) transport.Reply {
	s, err := machine.DecodeCommand(body)
	if err != nil {
		return transport.Reply{Status: transport.ReplyFailed, Body: []byte(err.Error())}
	}
	cmd, err := n.core.Decode(&s)
	if err != nil {
		return transport.Reply{Status: transport.ReplyFailed, Body: fmt.Appendf(nil, "leader: command kind %d: %v", s.Kind, err)}
	}
	deadline, _ := ctx.Deadline() // of the node that has the request, see transport.Peers.Serve
	value, index, err := n.attemptLocal(ctx, proposal{cmd: cmd, id: s.ID, again: s.Again(), connected: connected, encoded: &s}, deadline)
	switch {
	case errors.Is(err, errNotLeading), errors.Is(err, command.ErrClosed) && errors.Is(err, ErrUnavailable):
		return transport.Reply{Status: transport.ReplyNotLeading}
	case errors.Is(err, errConfirmConnected):
		return transport.Reply{Status: transport.ReplyConfirm}
	case errors.Is(err, ErrUnknown):
		return transport.Reply{Status: transport.ReplyUnknown, Body: []byte(err.Error())}
	case errors.Is(err, ErrUnavailable):
		return transport.Reply{Status: transport.ReplyUnavailable, Body: []byte(err.Error())}
	case err != nil:
		return transport.Reply{Status: transport.ReplyFailed, Body: []byte(err.Error())}
	}
	b, err := machine.Marshal(value)
	if err != nil {
		return transport.Reply{Status: transport.ReplyUnknown, Body: fmt.Appendf(nil, "encode an outcome: %v", err)}
	}
	return transport.Reply{Status: transport.ReplyOK, Body: append(binary.BigEndian.AppendUint64(nil, index), b...)}
}

// attemptRemote has the leader make one attempt. moved is closed when this node
// learns of another leader: no answer is expected then.
func (n *Node) attemptRemote(ctx context.Context, leader string, moved <-chan struct{}, cmd command.Command, id command.ID, again bool, deadline time.Time) (any, uint64, error) {
	r := newRequest()
	defer r.free()
	s, err := n.core.Encode(cmd, id, again, &r.buf)
	if err != nil {
		return nil, 0, err
	}
	body := machine.AppendCommand(make([]byte, 0, commandOverhead+len(s.Body)), &s)
	c, err := n.connectLeader(ctx, leader, again, deadline)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w: %w", ErrUnavailable, errNotLeading, err)
	}
	answer, err := c.Ask(ctx, moved, transport.OpPropose, body, time.Until(deadline))
	if err == nil && answer.Status == transport.ReplyConfirm {
		if err := checkStillConnected(ctx, true); err != nil {
			return nil, 0, err
		}
		answer, err = c.Ask(ctx, moved, transport.OpProposeConnected, body, time.Until(deadline))
	}
	if errors.Is(err, transport.ErrNotSent) {
		return nil, 0, fmt.Errorf("%w: %w: %w", ErrUnavailable, errNotLeading, err)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: the leader's answer: %w", ErrUnknown, err)
	}
	if answer.Status != transport.ReplyOK {
		return nil, 0, replyError(answer)
	}
	if len(answer.Body) < 8 {
		return nil, 0, fmt.Errorf("%w: a short answer of the leader", ErrUnknown)
	}
	value, err := n.core.DecodeOutcome(s.Kind, answer.Body[8:])
	if err != nil {
		return nil, 0, fmt.Errorf("%w: decode the leader's answer: %w", ErrUnknown, err)
	}
	return value, binary.BigEndian.Uint64(answer.Body), nil
}

// connectLeader returns the connection to the leader. A command that was never
// proposed waits for it at most for LeaderTimeout, so that its client soon gets the
// error that nothing was proposed. In a network that drops all packets a connection
// fails after transport.DialTimeout.
func (n *Node) connectLeader(ctx context.Context, leader string, again bool, deadline time.Time) (*transport.Conn, error) {
	if !again {
		deadline = deadline.Add(n.config.LeaderTimeout - n.config.ProposeTimeout)
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	return n.net.peers.Connect(ctx, leader)
}

// viaLeader has the leader carry out an operator's request. While do returns errNotLeading
// it is repeated, for patience at most.
func (n *Node) viaLeader(ctx context.Context, patience time.Duration, do func(election.Route) error) error {
	deadline := time.Now().Add(patience)
	for {
		w := n.leader.Route()
		err := do(w)
		if !errors.Is(err, errNotLeading) {
			return err
		}
		if n.awaitRoute(ctx, w, deadline) != nil {
			return n.explainUnavailable(ctx, err)
		}
	}
}

// askLeader forwards an operator's request to another node that leads, and returns the
// answer.
func (n *Node) askLeader(ctx context.Context, w election.Route, op byte, body []byte) ([]byte, error) {
	if !w.OtherLeads(n.ID()) {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, errNotLeading)
	}
	answer, err := n.net.peers.Ask(ctx, w.Leader, nil, op, body, n.config.ProposeTimeout)
	switch {
	case errors.Is(err, transport.ErrNotSent):
		return nil, fmt.Errorf("%w: %w: %w", ErrUnavailable, errNotLeading, err)
	case err != nil:
		return nil, fmt.Errorf("%w: the leader's answer: %w", ErrUnknown, err)
	case answer.Status == transport.ReplyFailed: // the node may not know the request
		return nil, &member.RefusedError{Reason: string(answer.Body)}
	case answer.Status != transport.ReplyOK:
		return nil, replyError(answer)
	}
	return answer.Body, nil
}

// errorReply encodes the error of an operator's request for the node that forwarded it.
func errorReply(err error) transport.Reply {
	var few *NoMajorityError
	var refused *member.RefusedError
	switch {
	case errors.Is(err, errNotLeading):
		return transport.Reply{Status: transport.ReplyNotLeading}
	case errors.As(err, &few):
		return transport.Reply{Status: transport.ReplyNoMajority, Body: []byte(few.Reason)}
	case errors.Is(err, ErrUnknown):
		return transport.Reply{Status: transport.ReplyUnknown, Body: []byte(err.Error())}
	case errors.Is(err, ErrUnavailable):
		return transport.Reply{Status: transport.ReplyUnavailable, Body: []byte(err.Error())}
	case errors.As(err, &refused):
		return transport.Reply{Status: transport.ReplyRefused, Body: []byte(refused.Code + "\x00" + err.Error())}
	}
	return transport.Reply{Status: transport.ReplyFailed, Body: []byte(err.Error())}
}

// replyError is the error that a refusal to answer stands for.
func replyError(r transport.Reply) error {
	switch r.Status {
	case transport.ReplyNotLeading:
		return fmt.Errorf("%w: %w", ErrUnavailable, errNotLeading)
	case transport.ReplyUnavailable:
		return fmt.Errorf("%w: %s", ErrUnavailable, r.Body)
	case transport.ReplyNoMajority:
		return &NoMajorityError{string(r.Body)}
	case transport.ReplyUnknown:
		return fmt.Errorf("%w: %s", ErrUnknown, r.Body)
	case transport.ReplyRefused:
		code, reason, _ := strings.Cut(string(r.Body), "\x00")
		return &member.RefusedError{Reason: reason, Code: code}
	}
	return errors.New(string(r.Body))
}
