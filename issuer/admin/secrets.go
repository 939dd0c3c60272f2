package admin

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// NewSecret requests a second secret beside the existing one.
type NewSecret struct {
	Client string `json:"client"`
	Secret Plain  `json:"secret,omitempty"` // generated if absent
	Name   string `json:"name,omitempty"`
	// OldEndsIn is the time after which the existing secret is revoked, from 1h to 90d; 0 for
	// never.
	OldEndsIn time.Duration `json:"old_ends_in,omitempty"`
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
	s.Name = q.Name
	cmd := &ledger.AddSecret{Actor: c.actor, Client: client.ID, Secret: s, EndOld: q.OldEndsIn}
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
	cmd := &ledger.RevokeSecret{Actor: c.actor, Client: client.ID, Secret: q.ID}
	if _, err := c.propose(ctx, subject, cmd); err != nil {
		return Done{}, addDetails(err, client, c.Ledger.Now())
	}
	return Done{q.ID}, nil
}

// A SecretEdit changes the fields that are present.
type SecretEdit struct {
	Client string  `json:"client"`
	ID     string  `json:"id"`
	Name   *string `json:"name,omitempty"`
	// EndsIn is the time after which the secret is revoked, from 1h to 90d; 0 cancels its end.
	EndsIn *time.Duration `json:"ends_in,omitempty"`
}

func (c *call) setSecret(ctx context.Context, q SecretEdit) (Secret, error) {
	client, err := c.freshClient(ctx, q.Client)
	if err != nil {
		return Secret{}, err
	}
	subject := clientSubject(q.Client) + ": secret " + q.ID
	cmd := &ledger.SetSecret{Actor: c.actor, Client: client.ID, Secret: q.ID, Name: q.Name, EndsIn: q.EndsIn}
	if _, err := c.propose(ctx, subject, cmd); err != nil {
		return Secret{}, addDetails(err, client, c.Ledger.Now())
	}
	now, err := c.showClient(ctx, ClientRef{ID: client.ID})
	if err != nil {
		return Secret{}, err
	}
	for _, s := range now.Secrets {
		if s.ID == q.ID {
			return s, nil
		}
	}
	return Secret{}, notFound(subject)
}
