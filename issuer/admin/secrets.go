package admin

import (
	"context"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// NewSecret requests a second secret beside the existing one.
type NewSecret struct {
	Client string `json:"client"`
	Secret Plain  `json:"secret,omitempty"` // generated if absent
}

// An AddedSecret has the secret only if it was generated.
type AddedSecret struct {
	ID     string `json:"id"`
	Secret Plain  `json:"secret,omitempty"`
}

func (c *call) addSecret(ctx context.Context, q NewSecret) (AddedSecret, error) {
	subject := clientSubject(q.Client)
	client, err := c.freshClient(ctx, q.Client)
	if err != nil {
		return AddedSecret{}, err
	}
	s, made, err := c.secret(subject, q.Secret)
	if err != nil {
		return AddedSecret{}, err
	}
	cmd := &ledger.AddSecret{Actor: c.actor, Client: q.Client, Secret: s}
	if _, err := c.propose(ctx, subject, cmd); err != nil {
		return AddedSecret{}, addDetails(err, client, c.Ledger.Now())
	}
	return AddedSecret{ID: s.ID, Secret: made}, nil
}

// A SecretRef names a secret of a client.
type SecretRef struct {
	Client string `json:"client"`
	ID     string `json:"id"`
}

func (c *call) revokeSecret(ctx context.Context, q SecretRef) (Done, error) {
	client, err := c.freshClient(ctx, q.Client)
	if err != nil {
		return Done{}, err
	}
	subject := clientSubject(q.Client) + ": secret " + q.ID
	cmd := &ledger.RevokeSecret{Actor: c.actor, Client: q.Client, Secret: q.ID}
	if _, err := c.propose(ctx, subject, cmd); err != nil {
		return Done{}, addDetails(err, client, c.Ledger.Now())
	}
	return Done{q.ID}, nil
}
