package admin

import (
	"context"
	"fmt"
	"time"
)

// A RewrapRequest requests another cluster key.
type RewrapRequest struct {
	Force bool `json:"force,omitempty"` // even while voters can't be reached
}

// A RewrapResult names the cluster key under which everything is sealed now.
type RewrapResult struct {
	ID      string `json:"id"`      // public id of the key
	Resumed bool   `json:"resumed"` // an earlier change was finished, and no other begun
	// Behind are the names of the nodes that have not adopted the key yet. They do so by
	// themselves while they run or when they are started.
	Behind []string `json:"behind"`
}

func (c *call) rewrapKeys(ctx context.Context, q RewrapRequest) (RewrapResult, error) {
	r, err := c.Rewrap(ctx, q.Force)
	if err != nil {
		return RewrapResult{}, fmt.Errorf("change the cluster key: %w", err)
	}
	c.done("cluster key "+r.ID, r.ID)
	return r, nil
}

// An AuthorityRotation requests another authority for the nodes' certificates.
type AuthorityRotation struct{}

// An AuthorityChange reports the progress of a change of the authority.
type AuthorityChange struct {
	Done        bool        `json:"done"` // the new authority is the only one
	Authorities []Authority `json:"authorities"`
}

// An Authority signs the certificates of nodes.
type Authority struct {
	ID         string    `json:"id"`    // SHA-256 of its certificate, hexadecimal
	State      string    `json:"state"` // announced, signing or retiring
	Made       time.Time `json:"made"`
	WaitingFor []string  `json:"waiting_for"` // names of nodes that delay its next step
}

func (c *call) rotateAuthority(ctx context.Context, _ AuthorityRotation) (AuthorityChange, error) {
	cluster, err := c.cluster()
	if err != nil {
		return AuthorityChange{}, err
	}
	if err := c.record(ctx, "authority"); err != nil {
		return AuthorityChange{}, err
	}
	a, err := cluster.RotateAuthority(ctx)
	if err != nil {
		return AuthorityChange{}, fmt.Errorf("change the authority: %w", err)
	}
	c.done("authority "+a.newest(), a.newest())
	return a, nil
}

func (a *AuthorityChange) newest() (id string) {
	var made time.Time
	for _, one := range a.Authorities {
		if one.Made.After(made) {
			id, made = one.ID, one.Made
		}
	}
	return id
}
