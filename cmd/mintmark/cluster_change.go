package main

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

// What it takes to change the cluster key and the authority of a cluster that
// runs: the cluster carries keys from node to node without knowing them, and
// the issuer knows when to use which.

// receiveKey is cluster.Config.Receive.
func (s *server) receiveKey(text []byte) error {
	if err := s.isStarted(); err != nil {
		return errors.New("it is still starting")
	}
	return s.issuer.Rekey.Receive(text)
}

// clusterKeyText is cluster.Config.Secret.
func (s *server) clusterKeyText(id string) ([]byte, error) {
	key, err := s.keys.Get(id)
	if err != nil {
		return nil, err
	}
	return key.Text(), nil
}

// rewrap is admin.Config.Reseal.
func (s *server) rewrap(ctx context.Context, force bool) (admin.RewrapResult, error) {
	r, err := s.issuer.Rekey.Rewrap(ctx, force)
	if err != nil {
		return admin.RewrapResult{}, operatorError(err)
	}
	return admin.RewrapResult{ID: r.ID, Resumed: r.Resumed, Behind: append([]string{}, r.Behind...)}, nil
}

// replace is admin.Config.Replace.
func (s *server) replace(ctx context.Context, leaked string) (admin.Rotated, error) {
	r, err := s.issuer.Rekey.Replace(ctx, leaked)
	var unknown rekey.NoKeyError
	if errors.As(err, &unknown) {
		return admin.Rotated{}, &admin.Problem{Class: admin.NotFound, Text: unknown.Error()}
	}
	if err != nil {
		return admin.Rotated{}, err
	}
	a := admin.Rotated{
		ID: r.Active, Purpose: string(r.Purpose), Dropped: r.Leaked, Steps: r.Steps, WaitingFor: r.WaitingFor, LockedOut: r.LockedOut,
	}
	for _, l := range r.DroppedSecrets {
		a.DroppedSecrets = append(a.DroppedSecrets, admin.SecretRef{Client: l.Client, ID: l.Secret})
	}
	return a, nil
}

// authorityTimeout is how long an operator waits for a change of the authority,
// which takes a second where every node is up.
const authorityTimeout = 15 * time.Second

// RotateAuthority implements admin.Cluster.
func (c clusterOps) RotateAuthority(ctx context.Context) (admin.AuthorityChange, error) {
	all, err := c.node.RotateAuthority(ctx, authorityTimeout)
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

// changeOverdue is for how long a change of the authority may wait for a node
// before operators are told.
const changeOverdue = time.Hour

// unfinished is what was begun and waits for somebody, in words for people.
func (c clusterOps) unfinished() []string {
	return append(overdue(c.node.Authorities(), c.now()), c.issuer.Rekey.Problems()...)
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
	return []string{fmt.Sprintf("the change of the authority that began on %s is not finished: %s; start those nodes, or remove them",
		begun.UTC().Format(time.RFC3339), strings.Join(parts, "; "))}
}
