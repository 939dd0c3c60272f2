package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/join"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// serveJoin admits a node that presents a valid token.
func (n *Node) serveJoin(c *tls.Conn, key []byte) {
	_ = c.SetDeadline(time.Now().Add(join.Timeout))
	var q join.Request
	if err := join.Read(c, &q); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), join.Timeout)
	defer cancel()
	if q.CheckMembership {
		_ = join.Write(c, n.membershipAnswer(ctx, key, q.CheckLeader))
		return
	}
	a := n.admit(ctx, q, key)
	if a.Refused != "" {
		n.net.network.WarnNotAdmitted(c.RemoteAddr(), a.Refused)
	} else {
		n.log.Info("node admitted", "name", a.Name, "address", q.Address)
	}
	_ = join.Write(c, a)
}

// admit decides whether a node may join. A caller with an unknown token is
// unauthenticated, so its Barrier is paced. Members get their answer, above all the
// secret, only from a node with a fresh state: a member may have been removed
// without this node knowing it yet.
func (n *Node) admit(ctx context.Context, q join.Request, key []byte) join.Answer {
	if _, _, err := net.SplitHostPort(q.Address); err != nil {
		return join.Refuse(member.ErrBadAddress)
	}
	if n.config.JoinSecret == nil {
		return join.Answer{Refused: "this node admits no other nodes"}
	}
	again := func(err error) join.Answer { return join.Answer{Again: true, Refused: err.Error()} }
	id := member.InviteID(q.Secret)
	if member.InviteByID(n.View(), id) == nil {
		if err := n.waitBarrier(ctx, &n.barriers.unauthenticated); err != nil {
			return again(err)
		}
		if member.InviteByID(n.View(), id) == nil {
			return join.Refuse(member.ErrUnknownInvite)
		}
	}
	if i := member.InviteByID(n.View(), id); i != nil {
		if err := join.CheckName(q.Name, i.Name); err != nil { // before the token is used up
			return join.Refuse(err)
		}
	}
	value, _, err := n.Propose(ctx, &member.Enroll{Invite: id, Member: member.Member{
		ID: q.ID, Address: q.Address, Key: key, Version: q.Version, Level: q.Level,
	}})
	if err != nil {
		return again(err)
	}
	if err := value.(member.Outcome).Err(); err != nil {
		return join.Refuse(err)
	}
	view, err := n.ViewFresh(ctx)
	if err != nil {
		return again(err)
	}
	if m := member.ByID(view, q.ID); m == nil || !slices.Equal(m.Key, key) {
		return join.Refuse(member.ErrUnknownInvite) // removed since
	}
	secret, err := n.config.JoinSecret()
	if err != nil {
		return again(fmt.Errorf("get the secret for a new node: %w", err))
	}
	return newJoinAnswer(view, q.ID, secret)
}

func newJoinAnswer(view *memdb.Txn, id string, secret []byte) join.Answer {
	a := join.Answer{Seq: machine.ReadStatus(view).Seq, Secret: secret}
	for _, m := range member.All(view) {
		a.Members = append(a.Members, *m)
		if m.ID == id {
			a.Name = m.Name
		}
	}
	for _, au := range member.Authorities(view) {
		a.Authorities = append(a.Authorities, *au)
	}
	return a
}

// membershipAnswer answers whether a key is a member's, and with led whether there is a
// leader. Only a node with a fresh state answers that the key is not a member's.
func (n *Node) membershipAnswer(ctx context.Context, key []byte, led bool) join.Answer {
	isMember := func() bool {
		return slices.ContainsFunc(member.All(n.View()), func(m *member.Member) bool { return slices.Equal(m.Key, key) })
	}
	if isMember() && !led {
		return join.Answer{}
	}
	if err := n.waitBarrier(ctx, &n.barriers.unauthenticated); err != nil {
		return join.Answer{Again: true, Refused: err.Error()}
	}
	if len(member.All(n.View())) == 0 {
		return join.Answer{Again: true, Refused: "this cluster has no members yet"}
	}
	return join.Answer{NotMember: !isMember(), HasLeader: true}
}
