package admin

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A KeyFilter chooses from the ring; it chooses all.
type KeyFilter struct{}

// A KeyList is the ring, by id.
type KeyList struct {
	Keys []Key `json:"keys"`
}

// A Key is one key of the ring, without its private part.
type Key struct {
	ID        string    `json:"id"`
	Purpose   string    `json:"purpose"`
	Algorithm string    `json:"algorithm,omitempty"`
	State     string    `json:"state"`
	Announced time.Time `json:"announced"`
	Activated time.Time `json:"activated,omitzero"`
	Retired   time.Time `json:"retired,omitzero"`
	NextStep  time.Time `json:"next_step,omitzero"` // not before then
}

func (c *call) listKeys(ctx context.Context, _ KeyFilter) (KeyList, error) {
	list := KeyList{Keys: []Key{}}
	v, err := c.view(ctx)
	if err != nil {
		return list, err
	}
	s := v.Settings()
	for k := range v.Keys() {
		out := Key{
			ID: k.ID, Purpose: string(k.Purpose), Algorithm: k.Algorithm, State: string(k.State),
			Announced: shown(k.Announced), Activated: shown(k.Activated), Retired: shown(k.Retired),
		}
		if k.State != ledger.KeyActive {
			out.NextStep = shown(k.Due(s))
		}
		list.Keys = append(list.Keys, out)
	}
	return list, nil
}

// A Rotation asks for a new key.
type Rotation struct {
	Purpose   string `json:"purpose"` // signing or credential
	Emergency bool   `json:"emergency,omitempty"`
}

// Rotated names the new key.
type Rotated struct {
	ID string `json:"id"`
}

func (c *call) rotateKeys(ctx context.Context, q Rotation) (Rotated, error) {
	p := ledger.Purpose(q.Purpose)
	if p != ledger.ForSigning && p != ledger.ForCredentials {
		return Rotated{}, badField("keys", "purpose", "must be signing or credential")
	}
	v, err := c.fresh(ctx)
	if err != nil {
		return Rotated{}, err
	}
	for k := range v.Keys() {
		if k.Purpose == p && k.State == ledger.KeyAnnounced && !q.Emergency {
			r := refusal("keys", &ledger.Refusal{Cause: ledger.WrongState})
			r.Note = "key " + k.ID + " is announced already and becomes active by itself"
			return Rotated{}, r
		}
	}
	id, err := c.Rotate(ctx, p, q.Emergency)
	return Rotated{id}, err
}
