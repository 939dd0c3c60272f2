package admin

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/status"
)

// cluster returns the cluster, or why there is none.
func (c *call) cluster() (Cluster, error) {
	if c.Cluster == nil {
		return nil, errStandalone
	}
	return c.Cluster, nil
}

var errStandalone = ofError(Refused, ErrStandalone)

func (c *call) initCluster(context.Context, NewCluster) (CreatedCluster, error) {
	return CreatedCluster{}, c.alreadyInitialized()
}

// alreadyInitialized returns why this node can't create a cluster.
func (c *call) alreadyInitialized() error {
	if _, err := c.cluster(); err != nil {
		return err
	}
	return errAlreadyMember
}

var errAlreadyMember = ofError(Refused, ErrAlreadyMember)

// done records a change for the log.
func (c *call) done(subject, id string) Done {
	c.proposed, c.subject = true, subject
	return Done{id}
}

func (c *call) inviteNode(ctx context.Context, q Invitation) (Invited, error) {
	return c.invite(ctx, q.Name, "", q.Lifetime)
}

func (c *call) replaceNode(ctx context.Context, q Replacement) (Invited, error) {
	if q.Old == "" {
		return Invited{}, badField("cluster", "old", "is empty")
	}
	return c.invite(ctx, q.Name, q.Old, q.Lifetime)
}

// maxInvitation is the maximum lifetime of an unused join token.
const maxInvitation = 7 * 24 * time.Hour

func (c *call) invite(ctx context.Context, name, replaces string, lifetime time.Duration) (Invited, error) {
	cluster, err := c.cluster()
	if err != nil {
		return Invited{}, err
	}
	if lifetime < time.Second || lifetime > maxInvitation {
		return Invited{}, badField(nodeSubject(name), "lifetime", "must be from 1s to 168h")
	}
	open, _ := cluster.Invitations(ctx)
	ended := slices.ContainsFunc(open, func(i OpenInvitation) bool { return i.Name == name })
	token, expires, err := cluster.Invite(ctx, name, replaces, lifetime)
	if err != nil {
		return Invited{}, fmt.Errorf("invite: %w", err)
	}
	c.done(nodeSubject(name), name)
	return Invited{Token: token, Name: name, Expires: expires.UTC(), Ended: ended}, nil
}

func (c *call) listInvitations(ctx context.Context, _ InvitationQuery) (InvitationList, error) {
	cluster, err := c.cluster()
	if err != nil {
		return InvitationList{}, err
	}
	l := InvitationList{Invitations: []OpenInvitation{}}
	open, stale := cluster.Invitations(ctx)
	c.stale = stale
	for _, i := range open {
		i.Expires = i.Expires.UTC()
		l.Invitations = append(l.Invitations, i)
	}
	return l, nil
}

func (c *call) withdrawInvitation(ctx context.Context, q Withdrawal) (Done, error) {
	cluster, err := c.cluster()
	if err != nil {
		return Done{}, err
	}
	if q.Name == "" {
		return Done{}, badField("cluster", "name", "is empty")
	}
	if err := c.record(ctx, "invitation of "+q.Name); err != nil {
		return Done{}, err
	}
	if err := cluster.Withdraw(ctx, q.Name); err != nil {
		return Done{}, fmt.Errorf("withdraw an invitation: %w", err)
	}
	return c.done("invitation of "+q.Name, q.Name), nil
}

func (c *call) showCluster(ctx context.Context, _ StatusQuery) (ClusterStatus, error) {
	cluster, err := c.cluster()
	if err != nil {
		return ClusterStatus{}, err
	}
	s := cluster.Status(ctx)
	s.Nodes = append([]status.Node{}, s.Nodes...) // a copy to modify, and not null in JSON
	for i := range s.Nodes {
		for _, t := range []*time.Time{&s.Nodes[i].CertificateExpires, &s.Nodes[i].TLSExpires} {
			if !t.IsZero() {
				*t = t.UTC()
			}
		}
	}
	s.Keys, s.Tolerance = c.clusterKeys(), toleranceOf(s.Nodes)
	s.Problems = s.problems(c.Ledger.Now().Std())
	s.Healthy = len(s.Problems) == 0
	s.Attention = s.Backup.attention(c.Ledger.Now().Std())
	return s, nil
}

// clusterKeys returns the keys by this node's state, since a query of the cluster's
// health must not wait for a leader.
func (c *call) clusterKeys() []ClusterKey {
	list := []ClusterKey{}
	v := c.Ledger.View()
	for k := range v.Keys() {
		out := ClusterKey{ID: k.ID, Purpose: string(k.Purpose), State: string(k.State)}
		if at, ok := v.StepDue(k); ok {
			out.NextStep = stdTime(at)
		}
		list = append(list, out)
	}
	return list
}

func (c *call) checksumNode(ctx context.Context, _ ChecksumQuery) (ClusterChecksum, error) {
	cluster, err := c.cluster()
	if err != nil {
		return ClusterChecksum{}, err
	}
	name := cluster.Status(ctx).Name // the cluster's name of this node, not its configured one
	sum, applied := cluster.Checksum()
	return ClusterChecksum{Name: name, Applied: applied, Checksum: hex.EncodeToString(sum[:])}, nil
}

func (c *call) transferLeader(ctx context.Context, q Transfer) (Transferred, error) {
	cluster, err := c.cluster()
	if err != nil {
		return Transferred{}, err
	}
	if err := c.record(ctx, nodeSubject(q.To)); err != nil {
		return Transferred{}, err
	}
	t, err := cluster.TransferLeadership(ctx, q.To)
	if err != nil {
		return Transferred{}, fmt.Errorf("transfer leadership: %w", err)
	}
	c.done(nodeSubject(t.ID), t.ID)
	return t, nil
}

func (c *call) removeNode(ctx context.Context, q Removal) (Done, error) {
	cluster, err := c.cluster()
	if err != nil {
		return Done{}, err
	}
	if q.Name == "" {
		return Done{}, badField("cluster", "name", "is empty")
	}
	if err := c.record(ctx, nodeSubject(q.Name)); err != nil {
		return Done{}, err
	}
	if err := cluster.Remove(ctx, q.Name, q.Force); err != nil {
		return Done{}, fmt.Errorf("remove: %w", err)
	}
	return c.done(nodeSubject(q.Name), q.Name), nil
}

func (c *call) acceptClock(ctx context.Context, _ ClockAcceptance) (Done, error) {
	accept, name := c.AcceptClock, ""
	if c.Cluster != nil || accept == nil {
		cluster, err := c.cluster()
		if err != nil {
			return Done{}, err
		}
		accept, name = cluster.AcceptClock, cluster.Status(ctx).Name
	}
	if err := accept(); err != nil {
		return Done{}, fmt.Errorf("accept the clock: %w", err)
	}
	// Before, this node may have been the one that keeps the cluster from deciding.
	if err := c.record(ctx, nodeSubject(name)); err != nil {
		return Done{}, err
	}
	return c.done(nodeSubject(name), name), nil
}

func nodeSubject(name string) string {
	if name == "" {
		return "cluster"
	}
	return "node " + name
}
