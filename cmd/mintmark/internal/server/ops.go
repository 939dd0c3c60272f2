package server

import (
	"context"
	"errors"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/replica"
)

// clusterOps implements admin.Cluster: the cluster for operators' commands.
type clusterOps struct {
	node   *cluster.Node
	issuer *issuer.Issuer
	now    func() time.Time
}

var _ admin.Cluster = clusterOps{}

func (c clusterOps) Status(ctx context.Context) admin.ClusterStatus {
	s := statusOf(c.node.Overview(ctx))
	s.Unfinished = c.unfinished()
	s.Backup = backupStatus(c.issuer.View().BackupSchedule(), c.now())
	return s
}

func statusOf(o cluster.Overview) admin.ClusterStatus {
	s := admin.ClusterStatus{Name: o.Name, ID: o.ID, Leader: o.Leader, Term: o.Term, Level: o.Level, Isolated: o.Isolated, Removed: o.Removed, Duplicate: o.Duplicate, MostMembers: o.MostMembers, Nodes: o.Nodes}
	if !o.StateTime.IsZero() {
		s.StateTime, s.StateAhead = o.StateTime.UTC(), o.StateAhead.Milliseconds()
	}
	return s
}

func (c clusterOps) Invite(ctx context.Context, name, replaces string, lifetime time.Duration) (admin.Plain, time.Time, error) {
	token, expires, err := c.node.Invite(ctx, name, replaces, lifetime)
	return admin.Plain(token), expires, operatorError(err)
}

func (c clusterOps) Invitations(ctx context.Context) (open []admin.OpenInvitation, stale bool) {
	all, stale := c.node.Invitations(ctx)
	for _, i := range all {
		open = append(open, admin.OpenInvitation(i))
	}
	return open, stale
}

func (c clusterOps) Withdraw(ctx context.Context, name string) error {
	return operatorError(c.node.WithdrawInvitation(ctx, name))
}

func (c clusterOps) Remove(ctx context.Context, name string, force bool) error {
	return operatorError(c.node.Remove(ctx, name, force))
}

// leaderTimeout is how long this node waits to learn the new leader.
const leaderTimeout = 2 * time.Second

func (c clusterOps) TransferLeadership(ctx context.Context, to string) (admin.Transferred, error) {
	before := c.node.Leader()
	if err := c.node.TransferLeadership(ctx, to); err != nil {
		return admin.Transferred{}, operatorError(err)
	}
	if to != "" && to == before {
		return admin.Transferred{ID: to, Already: true}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, leaderTimeout)
	defer cancel()
	return admin.Transferred{ID: c.node.AwaitNewLeader(ctx, before)}, nil
}

func (c clusterOps) Checksum() (sum [32]byte, applied uint64) { return c.node.Checksum() }

func (c clusterOps) AcceptClock() error { return c.node.AcceptClock() }

// operatorError converts an error of the cluster to one that operators' commands know.
func operatorError(err error) error {
	var unknown *member.NoNodeError
	var uninvited *cluster.NoInvitationError
	var few *cluster.NoMajorityError
	var refused *member.RefusedError
	switch {
	case errors.As(err, &unknown):
		return &admin.Problem{Class: admin.NotFound, Text: unknown.Error()}
	case errors.As(err, &uninvited):
		return &admin.Problem{Class: admin.NotFound, Text: uninvited.Error()}
	case errors.As(err, &few):
		return &admin.Problem{Class: admin.Unavailable, Code: cluster.ErrNoMajority.Code(), Text: few.Error()}
	case errors.As(err, &refused):
		return refusal{refused}
	}
	return replica.Unavailable(err)
}

type refusal struct{ error }

func (r refusal) Refusal() string { return r.Error() }
func (r refusal) Unwrap() error   { return r.error }
