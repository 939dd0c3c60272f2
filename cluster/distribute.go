package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// ErrNoSecret says that no member has a secret of that name.
var ErrNoSecret = errors.New("no member has it")

// DistributeFailure is one member that was offered a secret and does not have it.
type DistributeFailure struct {
	ID, Name    string
	Voter       bool
	Unreachable bool // and may have taken it
	Reason      string
}

// DistributeError says who did not take a secret.
type DistributeError struct{ Failures []DistributeFailure }

func (e *DistributeError) Error() string {
	var all []string
	for _, n := range e.Failures {
		all = append(all, fmt.Sprintf("node %s: %s", n.Name, n.Reason))
	}
	return strings.Join(all, "; ")
}

// DistributeSecret hands a secret to Config.ReceiveSecret of every other member, and returns when
// each has taken it; else the error is a *DistributeError. Nothing of it enters the
// log. An empty secret only asks whether they would take one.
func (n *Node) DistributeSecret(ctx context.Context, secret []byte) error {
	others, err := n.otherMembers(ctx)
	if err != nil {
		return err
	}
	voters := n.Voters()
	var mu sync.Mutex // of e
	var e DistributeError
	var giving sync.WaitGroup
	for _, m := range others {
		giving.Go(func() {
			answer, err := n.peers.Ask(ctx, m.ID, nil, transport.OpDistributeSecret, secret, n.config.ProposeTimeout)
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

// FetchSecret asks the other members for a secret by its name, see Config.SecretByName. The
// error is ErrNoSecret where all have answered and none has it, and else
// ErrUnavailable.
func (n *Node) FetchSecret(ctx context.Context, name string) ([]byte, error) {
	silent := 0
	for _, m := range n.knownPeers() {
		answer, err := n.peers.Ask(ctx, m.ID, nil, transport.OpFetchSecret, []byte(name), statusTimeout)
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

// otherMembers are the other members, none where the node has no network. The state
// has the last word, and what was acknowledged before is in it: who was removed
// is not told the secret that is changed because of it, and nobody who has just
// joined is passed over.
func (n *Node) otherMembers(ctx context.Context) (others []*member.Member, err error) {
	if n.config.Network == nil {
		return nil, nil
	}
	view, err := n.ViewFresh(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range member.All(view) {
		if m.ID != string(n.id) {
			others = append(others, m)
		}
	}
	listed, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	_ = n.waitFor(listed, func() bool { // who is not can't be dialled, and is found not to have answered
		return !slices.ContainsFunc(others, func(m *member.Member) bool {
			_, ok := n.folder.PeerList.Member(m.ID)
			return !ok
		})
	})
	return others, nil
}

// knownPeers are the other members as far as this node has heard, which may have to
// ask them before there is a leader.
func (n *Node) knownPeers() []member.Member {
	if n.config.Network == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(n.folder.PeerList.Get().Members), func(m member.Member) bool {
		return m.ID == string(n.id) || !n.isMember(m.ID)
	})
}

// serveSecret answers OpDistributeSecret and OpFetchSecret. That the peer is a member is all that
// it needs: every member has the right to what the others have.
func (n *Node) serveSecret(op byte, body []byte) transport.Reply {
	switch {
	case op == transport.OpDistributeSecret && n.config.ReceiveSecret != nil:
		if err := n.config.ReceiveSecret(body); err != nil {
			return transport.Reply{Status: transport.ReplyFailed, Body: []byte(err.Error())}
		}
		return transport.Reply{Status: transport.ReplyOK}
	case op == transport.OpFetchSecret && n.config.SecretByName != nil:
		secret, err := n.config.SecretByName(string(body))
		if err != nil {
			return transport.Reply{Status: transport.ReplyFailed, Body: []byte(err.Error())}
		}
		return transport.Reply{Status: transport.ReplyOK, Body: secret}
	}
	return transport.Reply{Status: transport.ReplyFailed, Body: []byte("this node has no secrets to share")}
}
