package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A KeyFilter selects all keys of the keyring.
type KeyFilter struct{}

// A KeyList is ordered by id.
type KeyList struct {
	Keys []Key `json:"keys"`
}

// A Key is one key of the keyring, without its private part.
type Key struct {
	ID        string    `json:"id"`
	Purpose   string    `json:"purpose"`
	Algorithm string    `json:"algorithm,omitempty"`
	State     string    `json:"state"`
	Announced time.Time `json:"announced"`
	Activated time.Time `json:"activated,omitzero"`
	Retired   time.Time `json:"retired,omitzero"`
	NextStep  time.Time `json:"next_step,omitzero"` // the step is not taken before this time
	// Secrets is the number of active secrets and valid operator tokens that are recorded under
	// a credential key. A retiring key is kept while there are any.
	Secrets int `json:"secrets,omitempty"`
}

func (c *call) listKeys(ctx context.Context, _ KeyFilter) (KeyList, error) {
	list := KeyList{Keys: []Key{}}
	v, err := c.view(ctx)
	if err != nil {
		return list, err
	}
	for k := range v.Keys() {
		out := Key{
			ID: k.ID, Purpose: string(k.Purpose), Algorithm: k.Algorithm, State: string(k.State),
			Announced: stdTime(k.Announced), Activated: stdTime(k.Activated), Retired: stdTime(k.Retired),
		}
		if k.Purpose == ledger.ForCredentials {
			out.Secrets = v.SecretsUnder(k.Number, c.Ledger.Now())
		}
		if at, ok := v.StepDue(k); ok {
			out.NextStep = stdTime(at)
		}
		list.Keys = append(list.Keys, out)
	}
	return list, nil
}

// A Rotation requests a new key of a purpose, or the replacement of a leaked key.
type Rotation struct {
	Purpose string `json:"purpose,omitempty"` // signing or credential
	// Leaked is the id of a key to drop at once, whatever depends on it. The key is named
	// explicitly, so that a repeated request finishes what the first one began. Purpose
	// is then empty.
	Leaked string `json:"leaked,omitempty"`
}

// Rotated describes what was done.
type Rotated struct {
	ID string `json:"id"` // of the new key; after an emergency, of the active one
	// The following fields are set after an emergency.
	Purpose    string   `json:"purpose,omitempty"`
	Dropped    string   `json:"dropped,omitempty"`
	Steps      []string `json:"steps,omitempty"`       // steps that were taken; none if all had been taken before
	WaitingFor []string `json:"waiting_for,omitempty"` // names of nodes that have not opened the active key
	LockedOut  []string `json:"locked_out,omitempty"`  // ids of clients that have no valid secret left
	// LockedOutResources are the identifier URIs of resource servers without a valid secret.
	LockedOutResources []string `json:"locked_out_resource_servers,omitempty"`
	// DroppedSecrets are the secrets that became invalid with a credential key, including
	// those of clients and resource servers with another valid secret.
	DroppedSecrets []DroppedSecret `json:"dropped_secrets,omitempty"`
}

// A DroppedSecret names a secret of a client or a resource server.
type DroppedSecret struct {
	Client   string `json:"client,omitempty"`
	Resource string `json:"resource_server,omitempty"`
	ID       string `json:"id"`
}

func (c *call) rotateKeys(ctx context.Context, q Rotation) (Rotated, error) {
	if q.Leaked != "" {
		if q.Purpose != "" {
			return Rotated{}, badField("keys", "purpose", "must be empty for a leaked key")
		}
		if err := c.record(ctx, "key "+q.Leaked); err != nil {
			return Rotated{}, err
		}
		r, err := c.Replace(ctx, q.Leaked)
		if err != nil {
			return Rotated{}, fmt.Errorf("replace key %s: %w", q.Leaked, err)
		}
		c.done("key "+q.Leaked, q.Leaked)
		return r, nil
	}
	p := ledger.Purpose(q.Purpose)
	if p != ledger.ForSigning && p != ledger.ForCredentials {
		return Rotated{}, badField("keys", "purpose", "must be signing or credential")
	}
	if err := c.record(ctx, "purpose "+q.Purpose); err != nil {
		return Rotated{}, err
	}
	id, err := c.Rotate(ctx, p)
	if err != nil {
		return Rotated{}, fmt.Errorf("rotate keys: %w", err)
	}
	c.done("key "+id, id)
	return Rotated{ID: id}, nil
}
