package admin

import (
	"context"
	"fmt"
	"time"
)

// A Resealing asks for another cluster key.
type RewrapRequest struct {
	Force bool `json:"force,omitempty"` // even while voters can't be reached
}

// RewrapResult names the cluster key that everything is sealed under now.
type RewrapResult struct {
	ID      string `json:"id"`      // public: it says nothing about the key
	Resumed bool   `json:"resumed"` // a change that was begun before was finished, and no other begun
	// Behind are the names of the nodes whose file does not hold it yet. Those that
	// run, or are started, renew theirs by themselves.
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

// An AuthorityRotation asks for another authority for the nodes' certificates.
type AuthorityRotation struct{}

// An AuthorityChange is how far a change of the authority has come.
type AuthorityChange struct {
	Done        bool        `json:"done"` // the new one is the only one
	Authorities []Authority `json:"authorities"`
}

// An Authority vouches for the certificates that nodes show each other.
type Authority struct {
	ID         string    `json:"id"`    // SHA-256 of its certificate, hexadecimal
	State      string    `json:"state"` // announced, signing or retiring
	Made       time.Time `json:"made"`
	WaitingFor []string  `json:"waiting_for"` // names of nodes that keep it from its next step
}

func (c *call) rotateAuthority(ctx context.Context, _ AuthorityRotation) (AuthorityChange, error) {
	cluster, err := c.cluster()
	if err != nil {
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
