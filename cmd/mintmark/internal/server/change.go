package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/rekey"
)

// Changes of the cluster key and of the authority: the cluster distributes keys without
// knowing them, and the issuer decides when to use which.

// receiveKey is cluster.Config.ReceiveSecret.
func (s *Server) receiveKey(text []byte) error {
	if err := s.isStarted(); err != nil {
		return errors.New("node is still starting")
	}
	return s.Issuer.Rekey.Receive(text)
}

// clusterKeyText is cluster.Config.SecretByName.
func (s *Server) clusterKeyText(id string) ([]byte, error) {
	key, err := s.Keys.Get(id)
	if err != nil {
		return nil, err
	}
	return key.Text(), nil
}

// rewrap is admin.Config.Rewrap.
func (s *Server) rewrap(ctx context.Context, force bool) (admin.RewrapResult, error) {
	r, err := s.Issuer.Rekey.Rewrap(ctx, force)
	if err != nil {
		return admin.RewrapResult{}, operatorError(err)
	}
	return admin.RewrapResult{ID: r.ID, Resumed: r.Resumed, Behind: append([]string{}, r.Behind...)}, nil
}

// replace is admin.Config.Replace.
func (s *Server) replace(ctx context.Context, leaked string) (admin.Rotated, error) {
	r, err := s.Issuer.Rekey.Replace(ctx, leaked)
	var unknown rekey.NoKeyError
	if errors.As(err, &unknown) {
		return admin.Rotated{}, &admin.Problem{Class: admin.NotFound, Code: rekey.ErrNoKey.Code(), Text: unknown.Error()}
	}
	if err != nil {
		return admin.Rotated{}, err
	}
	a := admin.Rotated{
		ID: r.Active, Purpose: string(r.Purpose), Dropped: r.Leaked, Steps: r.Steps, WaitingFor: r.WaitingFor,
	}
	for _, h := range r.LockedOut {
		if h.Client != "" {
			a.LockedOut = append(a.LockedOut, h.Client)
		} else {
			a.LockedOutResources = append(a.LockedOutResources, h.Resource)
		}
	}
	for _, l := range r.DroppedSecrets {
		a.DroppedSecrets = append(a.DroppedSecrets, admin.DroppedSecret{Client: l.Client, Resource: l.Resource, ID: l.Secret})
	}
	return a, nil
}

// authorityTimeout is how long a change of the authority may take for an operator. It
// takes a second if every node is up.
const authorityTimeout = 15 * time.Second

// RotateAuthority implements admin.Cluster.
func (c clusterOps) RotateAuthority(ctx context.Context) (admin.AuthorityChange, error) {
	all, err := c.node.Authorities().Rotate(ctx, authorityTimeout)
	if err != nil {
		return admin.AuthorityChange{}, operatorError(err)
	}
	a := admin.AuthorityChange{Done: len(all) == 1, Authorities: []admin.Authority{}}
	for _, s := range all {
		a.Authorities = append(a.Authorities, admin.Authority{
			ID: s.ID, State: s.State, Made: s.Made.UTC(), WaitingFor: append([]string{}, s.Waits...),
		})
	}
	return a, nil
}

// changeOverdue is how long a change of the authority may wait for a node until it is
// reported as a problem.
const changeOverdue = time.Hour

// unfinished returns overdue changes as sentences.
func (c clusterOps) unfinished() []string {
	return append(overdue(c.node.Authorities().List(), c.now()), c.issuer.Rekey.Problems()...)
}

func overdue(all []cluster.AuthorityStatus, now time.Time) []string {
	if len(all) < 2 {
		return nil
	}
	var begun time.Time
	var parts []string
	for _, a := range all {
		if a.Made.After(begun) {
			begun = a.Made
		}
		part := a.ID[:min(len(a.ID), 12)] + " is " + a.State
		if len(a.Waits) > 0 {
			part += " and waits for " + strings.Join(a.Waits, ", ")
		}
		parts = append(parts, part)
	}
	if now.Sub(begun) < changeOverdue {
		return nil
	}
	return []string{fmt.Sprintf("the change of the authority that began on %s is not finished: %s",
		begun.UTC().Format(time.RFC3339), strings.Join(parts, "; "))}
}
