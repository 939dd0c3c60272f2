package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// ErrNoSecret is returned if no member has a secret of that name.
var ErrNoSecret = errors.New("no member has this secret")

// DistributeFailure is one member that was offered a secret and does not have it.
type DistributeFailure struct {
	ID, Name    string
	Voter       bool
	Unreachable bool // and may have taken it
	Reason      string
}

// DistributeError lists the members that did not take a secret.
type DistributeError struct{ Failures []DistributeFailure }

func (e *DistributeError) Error() string {
	var all []string
	for _, n := range e.Failures {
		all = append(all, fmt.Sprintf("node %s: %s", n.Name, n.Reason))
	}
	return strings.Join(all, "; ")
}

// SecretExchange passes secrets between members, outside the log. Its fields are set
// before it is used.
type SecretExchange struct {
	self      string
	state     replicatedState
	networked bool
	peers     *transport.Peers
	list      *member.PeerList
	voters    func() []string
	isMember  func(id string) bool
	timeout   time.Duration                     // of a call
	receive   func(secret []byte) error         // Config.ReceiveSecret
	byName    func(name string) ([]byte, error) // Config.SecretByName
}

// Distribute gives a secret to Config.ReceiveSecret of every other member, and returns
// when each has taken it; otherwise the error is a *DistributeError. The secret does not
// enter the log. An empty secret only asks whether they would take one.
func (s *SecretExchange) Distribute(ctx context.Context, secret []byte) error {
	others, err := s.otherMembers(ctx)
	if err != nil {
		return err
	}
	voters := s.voters()
	var mu sync.Mutex // of e
	var e DistributeError
	var giving sync.WaitGroup
	for _, m := range others {
		giving.Go(func() {
			answer, err := s.peers.Ask(ctx, m.ID, nil, transport.OpDistributeSecret, secret, s.timeout)
			if err == nil && answer.Status == transport.ReplyOK {
				return
			}
			failed := DistributeFailure{ID: m.ID, Name: m.Name, Voter: slices.Contains(voters, m.ID)}
			if failed.Unreachable = err != nil; err == nil {
				err = replyError(answer)
			}
			failed.Reason = err.Error()
			mu.Lock()
			defer mu.Unlock()
			e.Failures = append(e.Failures, failed)
		})
	}
	giving.Wait()
	if len(e.Failures) == 0 {
		return nil
	}
	slices.SortFunc(e.Failures, func(a, b DistributeFailure) int { return strings.Compare(a.Name, b.Name) })
	return &e
}

// Fetch asks the other members for a secret by its name, see Config.SecretByName. The
// error is ErrNoSecret if all have answered and none has it, and otherwise
// ErrUnavailable.
func (s *SecretExchange) Fetch(ctx context.Context, name string) ([]byte, error) {
	silent := 0
	for _, m := range s.knownPeers() {
		answer, err := s.peers.Ask(ctx, m.ID, nil, transport.OpFetchSecret, []byte(name), statusTimeout)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("fetch secret %s: %w", name, ctx.Err())
		case err == nil && answer.Status == transport.ReplyOK:
			return answer.Body, nil
		case err != nil || answer.Status != transport.ReplyFailed:
			silent++
		}
	}
	if silent > 0 {
		return nil, fmt.Errorf("fetch secret %s: %w: %d members do not answer", name, ErrUnavailable, silent)
	}
	return nil, fmt.Errorf("fetch secret %s: %w", name, ErrNoSecret)
}

// otherMembers are the other members, none without a network. They are read from a fresh
// state: a node that was removed does not get the secret that is changed because of
// that, and a node that has just joined is not left out.
func (s *SecretExchange) otherMembers(ctx context.Context) (others []*member.Member, err error) {
	if !s.networked {
		return nil, nil
	}
	view, err := s.state.ViewFresh(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range member.All(view) {
		if m.ID != s.self {
			others = append(others, m)
		}
	}
	listed, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	_ = s.state.waitFor(listed, func() bool { // an unlisted member can't be dialled, and counts as unreachable
		return !slices.ContainsFunc(others, func(m *member.Member) bool {
			_, ok := s.list.Member(m.ID)
			return !ok
		})
	})
	return others, nil
}

// knownPeers are the other members that this node knows of. It may have to ask them
// before there is a leader.
func (s *SecretExchange) knownPeers() []member.Member {
	if !s.networked {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.list.Get().Members), func(m member.Member) bool {
		return m.ID == s.self || !s.isMember(m.ID)
	})
}

// serve answers OpDistributeSecret and OpFetchSecret. Every member has the
// right to the secrets of the others.
func (s *SecretExchange) serve(op byte, body []byte) transport.Reply {
	switch {
	case op == transport.OpDistributeSecret && s.receive != nil:
		if err := s.receive(body); err != nil {
			return transport.Reply{Status: transport.ReplyFailed, Body: []byte(err.Error())}
		}
		return transport.Reply{Status: transport.ReplyOK}
	case op == transport.OpFetchSecret && s.byName != nil:
		secret, err := s.byName(string(body))
		if err != nil {
			return transport.Reply{Status: transport.ReplyFailed, Body: []byte(err.Error())}
		}
		return transport.Reply{Status: transport.ReplyOK, Body: secret}
	}
	return transport.Reply{Status: transport.ReplyFailed, Body: []byte("this node has no secrets to share")}
}
