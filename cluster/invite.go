package cluster

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-memdb"
)

// Invite makes a join token for a node that will have the given name. With
// replaces, a member's name, that member goes when the new one has become a
// voter. The error is a *RefusedError where a rule stands against it.
func (n *Node) Invite(ctx context.Context, name, replaces string, lifetime time.Duration) (token string, expires time.Time, err error) {
	a := n.peerList.authority()
	if a == nil {
		return "", time.Time{}, &RefusedError{"this node has no network for others to join: run it with mintmark serve"}
	}
	if replaces != "" {
		old := memberNamed(n.View(), replaces)
		if old == nil {
			return "", time.Time{}, &NoNodeError{replaces}
		}
		replaces = old.ID
	}
	var secret [tokenSecret]byte
	if _, err := io.ReadFull(rand.Reader, secret[:]); err != nil {
		return "", time.Time{}, fmt.Errorf("make a join token: %w", err)
	}
	if _, err := n.decide(ctx, &addInvite{
		ID: inviteID(secret[:]), Name: name, Lifetime: lifetime.Milliseconds(), Replaces: replaces,
	}); err != nil {
		return "", time.Time{}, n.explainUnavailable(ctx, err)
	}
	print, err := hex.DecodeString(a.ID)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("read the authority's fingerprint: %w", err)
	}
	raw := append([]byte{tokenVersion}, print...)
	raw = append(raw, secret[:]...)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(raw), n.config.Now().Add(lifetime), nil
}

func inviteID(secret []byte) string {
	sum := sha256.Sum256(append([]byte("mintmark join "), secret...))
	return hex.EncodeToString(sum[:])
}

// An Invitation is a join token that nobody has used yet.
type Invitation struct {
	Name     string // of the node it is for
	Replaces string // name of the member that goes then, "" for none
	Expires  time.Time
}

// Invitations returns the tokens that can be used, in order of name. While
// nothing fresh can be had they are those that this node knows of.
func (n *Node) Invitations(ctx context.Context) (open []Invitation, stale bool) {
	view, err := n.ViewFresh(ctx)
	if err != nil {
		view = n.View()
	}
	return n.invitations(view), err != nil
}

func (n *Node) invitations(view *memdb.Txn) (open []Invitation) {
	now := max(readStatus(view).At, n.config.Now().UnixMilli())
	for _, i := range list[invite](view, invitesTable) {
		if i.Node != "" || now >= i.Expires {
			continue
		}
		one := Invitation{Name: i.Name, Expires: time.UnixMilli(i.Expires)}
		if old := find[Member](view, membersTable, i.Replaces); old != nil {
			one.Replaces = old.Name
		}
		open = append(open, one)
	}
	slices.SortFunc(open, func(a, b Invitation) int { return strings.Compare(a.Name, b.Name) })
	return open
}

// A NoInvitationError says that no token for a node of a name can be used.
type NoInvitationError struct{ Name string }

func (e *NoInvitationError) Error() string {
	return "there is no invitation for a node " + e.Name + " that can be used"
}
func (e *NoInvitationError) Unwrap() error { return &RefusedError{e.Error()} }

// WithdrawInvitation makes the token for a node of the given name worthless. Its place is
// taken by one that has run out, and that nobody was given: every version of the
// program knows of that.
func (n *Node) WithdrawInvitation(ctx context.Context, name string) error {
	view, err := n.ViewFresh(ctx)
	if err != nil {
		return n.explainUnavailable(ctx, err)
	}
	open := n.invitations(view)
	if !slices.ContainsFunc(open, func(i Invitation) bool { return i.Name == name }) {
		if memberNamed(view, name) != nil {
			return &RefusedError{"node " + name + " has joined, so there is no invitation left to withdraw: mintmark cluster remove takes it out"}
		}
		return &NoInvitationError{name}
	}
	var nobodys [tokenSecret]byte
	if _, err := io.ReadFull(rand.Reader, nobodys[:]); err != nil {
		return fmt.Errorf("withdraw an invitation: %w", err)
	}
	_, err = n.decide(ctx, &addInvite{ID: inviteID(nobodys[:]), Name: name})
	return err
}
