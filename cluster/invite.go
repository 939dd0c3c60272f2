package cluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// Invite makes a join token for a node that will have the given name. With
// replaces, a member's name, that member is removed when the new one has become
// a voter. The error is a *RefusedError if a rule forbids it.
func (n *Node) Invite(ctx context.Context, name, replaces string, lifetime time.Duration) (token string, expires time.Time, err error) {
	a := n.folder.PeerList.Authority()
	if a == nil {
		return "", time.Time{}, member.Refuse(member.ErrNoNetwork)
	}
	if replaces != "" {
		old := member.Named(n.View(), replaces)
		if old == nil {
			return "", time.Time{}, &member.NoNodeError{Name: replaces}
		}
		replaces = old.ID
	}
	secret, err := member.NewTokenSecret(rand.Reader)
	if err != nil {
		return "", time.Time{}, err
	}
	if _, err := n.decide(ctx, &member.AddInvite{
		ID: member.InviteID(secret), Name: name, Lifetime: lifetime.Milliseconds(), Replaces: replaces,
	}); err != nil {
		return "", time.Time{}, n.explainUnavailable(ctx, err)
	}
	token, err = member.FormatToken(a.ID, secret)
	return token, n.config.Now().Add(lifetime), err
}

// An Invitation is a join token that was not used yet.
type Invitation struct {
	Name     string // of the node it is for
	Replaces string // name of the member that goes then, "" for none
	Expires  time.Time
}

// Invitations returns the tokens that can be used, in order of name. If
// there is no fresh view they are those that this node knows of, and stale is true.
func (n *Node) Invitations(ctx context.Context) (open []Invitation, stale bool) {
	view, err := n.ViewFresh(ctx)
	if err != nil {
		view = n.View()
	}
	return invitations(view, n.config.Now()), err != nil
}

func invitations(view *memdb.Txn, clock time.Time) (open []Invitation) {
	now := max(machine.ReadStatus(view).At, clock.UnixMilli())
	for _, i := range member.Invites(view) {
		if i.Node != "" || now >= i.Expires {
			continue
		}
		one := Invitation{Name: i.Name, Expires: time.UnixMilli(i.Expires)}
		if old := member.ByID(view, i.Replaces); old != nil {
			one.Replaces = old.Name
		}
		open = append(open, one)
	}
	slices.SortFunc(open, func(a, b Invitation) int { return strings.Compare(a.Name, b.Name) })
	return open
}

// A NoInvitationError is returned if no token for a node of that name can be used.
type NoInvitationError struct{ Name string }

func (e *NoInvitationError) Error() string {
	return "there is no invitation for a node " + e.Name + " that can be used"
}
func (e *NoInvitationError) Unwrap() error { return &member.RefusedError{Reason: e.Error()} }

// WithdrawInvitation makes the token for a node of the given name invalid. It is replaced
// by an expired invite whose token is not issued.
func (n *Node) WithdrawInvitation(ctx context.Context, name string) error {
	view, err := n.ViewFresh(ctx)
	if err != nil {
		return n.explainUnavailable(ctx, err)
	}
	open := invitations(view, n.config.Now())
	if !slices.ContainsFunc(open, func(i Invitation) bool { return i.Name == name }) {
		if member.Named(view, name) != nil {
			return member.Refuse(fmt.Errorf("node %s: %w", name, member.ErrInvitationUsed))
		}
		return &NoInvitationError{name}
	}
	unused, err := member.NewTokenSecret(rand.Reader)
	if err != nil {
		return fmt.Errorf("withdraw an invitation: %w", err)
	}
	_, err = n.decide(ctx, &member.AddInvite{ID: member.InviteID(unused), Name: name})
	return err
}
