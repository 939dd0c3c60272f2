package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// ErrNoSecret says that no member has a secret of that name.
var ErrNoSecret = errors.New("no member has it")

// NotTaken is one member that was offered a secret and does not have it.
type NotTaken struct {
	ID, Name    string
	Voter       bool
	Unreachable bool // and may have taken it
	Reason      string
}

// NotTakenError says who did not take a secret.
type NotTakenError struct{ By []NotTaken }

func (e *NotTakenError) Error() string {
	var all []string
	for _, n := range e.By {
		all = append(all, fmt.Sprintf("node %s: %s", n.Name, n.Reason))
	}
	return strings.Join(all, "; ")
}

// Give hands a secret to Config.Receive of every other member, and returns when
// each has taken it; else the error is a *NotTakenError. Nothing of it enters the
// log. An empty secret only asks whether they would take one.
func (n *Node) Give(ctx context.Context, secret []byte) error {
	others, err := n.others(ctx)
	if err != nil {
		return err
	}
	voters := n.Voters()
	var mu sync.Mutex // of e
	var e NotTakenError
	var giving sync.WaitGroup
	for _, m := range others {
		giving.Go(func() {
			answer, err := n.ask(ctx, m.ID, nil, opGive, secret, n.config.ProposeTimeout)
			if err == nil && answer.status == replyOK {
				return
			}
			failed := NotTaken{ID: m.ID, Name: m.Name, Voter: slices.Contains(voters, m.ID)}
			if failed.Unreachable = err != nil; err == nil {
				err = answer.err()
			}
			failed.Reason = err.Error()
			mu.Lock()
			defer mu.Unlock()
			e.By = append(e.By, failed)
		})
	}
	giving.Wait()
	if len(e.By) == 0 {
		return nil
	}
	slices.SortFunc(e.By, func(a, b NotTaken) int { return strings.Compare(a.Name, b.Name) })
	return &e
}

// Obtain asks the other members for a secret by its name, see Config.Secret. The
// error is ErrNoSecret where all have answered and none has it, and else
// ErrUnavailable.
func (n *Node) Obtain(ctx context.Context, name string) ([]byte, error) {
	silent := 0
	for _, m := range n.heardOf() {
		answer, err := n.ask(ctx, m.ID, nil, opObtain, []byte(name), statusTimeout)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("obtain secret %s: %w", name, ctx.Err())
		case err == nil && answer.status == replyOK:
			return answer.body, nil
		case err != nil || answer.status != replyFailed:
			silent++
		}
	}
	if silent > 0 {
		return nil, fmt.Errorf("obtain secret %s: %w: %d members do not answer", name, ErrUnavailable, silent)
	}
	return nil, fmt.Errorf("obtain secret %s: %w", name, ErrNoSecret)
}

// others are the other members, none where the node has no network. The state
// has the last word, and what was acknowledged before is in it: who was removed
// is not told the secret that is changed because of it, and nobody who has just
// joined is passed over.
func (n *Node) others(ctx context.Context) (others []*Member, err error) {
	if n.config.Network == nil {
		return nil, nil
	}
	view, err := n.ViewFresh(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range members(view) {
		if m.ID != string(n.id) {
			others = append(others, m)
		}
	}
	listed, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	_ = n.waitFor(listed, func() bool { // who is not can't be dialled, and is found not to have answered
		return !slices.ContainsFunc(others, func(m *Member) bool {
			_, ok := n.roster.member(m.ID)
			return !ok
		})
	})
	return others, nil
}

// heardOf are the other members as far as this node has heard, which may have to
// ask them before there is a leader.
func (n *Node) heardOf() []Member {
	if n.config.Network == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(n.roster.get().Members), func(m Member) bool {
		return m.ID == string(n.id) || !n.isMember(m.ID)
	})
}

// serveSecret answers opGive and opObtain. That the peer is a member is all that
// it needs: every member has the right to what the others have.
func (n *Node) serveSecret(op byte, body []byte) reply {
	switch {
	case op == opGive && n.config.Receive != nil:
		if err := n.config.Receive(body); err != nil {
			return reply{replyFailed, []byte(err.Error())}
		}
		return reply{status: replyOK}
	case op == opObtain && n.config.Secret != nil:
		secret, err := n.config.Secret(string(body))
		if err != nil {
			return reply{replyFailed, []byte(err.Error())}
		}
		return reply{replyOK, secret}
	}
	return reply{replyFailed, []byte("this node has no secrets to share")}
}
