package ledger

import (
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// DropKey removes a retiring key, or an announced one that was never used.
type DropKey struct {
	ID string `cbor:"1,keyasint"`
	// Emergency drops a key that leaked, whatever still hangs on it: tokens
	// signed with it are refused, grants due under it end, secrets recorded
	// under it must be made again.
	Emergency bool `cbor:"2,keyasint,omitempty"`
}

// Kind is KindDropKey.
func (*DropKey) Kind() command.Kind { return KindDropKey }

// Decide refuses while something that is still valid needs the key. The
// active key is never dropped: another is activated first.
func (c *DropKey) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	k := v.Key(c.ID)
	switch {
	case k == nil:
		return deny(NotFound)
	case k.State == KeyActive:
		return deny(KeyInUse)
	}
	kind := EventKeyDropped
	if c.Emergency {
		kind = EventKeyEmergency
	} else if k.State == KeyRetiring {
		if due := k.Due(v.Settings()); stateTime(m) < due {
			d := deny(KeyInUse)
			outcome(d).Refusal.When = due
			return d
		}
		if k.Purpose == ForCredentials && v.SecretsUnder(k.Number) > 0 {
			return deny(KeyInUse)
		}
	}
	changes := append([]command.Change{remove(TableKeys, k)}, v.recordHighestNumber(k)...)
	return accept(Outcome{ID: k.ID}, append(changes, event(m, Event{Kind: kind, Actor: Operator, Detail: k.ID}))...)
}

// recordHighestNumber keeps the number of a credential key that goes while it is the
// highest one: as it was announced, and leaked. A node that has not heard of
// that would take another key of the same number for this one.
func (v View) recordHighestNumber(k *Key) []command.Change {
	active := v.ActiveKey(ForCredentials)
	if k.Purpose != ForCredentials || active == nil || max(active.Number, active.HighestNumber) >= k.Number {
		return nil
	}
	next := *active
	next.HighestNumber = k.Number
	return []command.Change{put(TableKeys, &next)}
}

// SecretsUnder is how many active secrets of clients are recorded under a
// credential key. It walks the table of clients.
func (v View) SecretsUnder(number uint32) (n int) {
	for c := range v.Clients() {
		n += c.secretsUnder(number)
	}
	return n
}

// LockedOutClients are the clients that can't authenticate any more, as each of their
// active secrets is recorded under a key that was dropped.
func (v View) LockedOutClients() (ids []string) {
	for c := range v.Clients() {
		if n := c.ActiveSecrets(); c.State == Deleted || n == 0 {
			continue
		}
		if !slices.ContainsFunc(c.Secrets, func(s Secret) bool { return s.Active() && v.keyKnown(s.Key) }) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func (c *Client) secretsUnder(number uint32) (n int) {
	if c.State == Deleted {
		return 0
	}
	for i := range c.Secrets {
		if c.Secrets[i].Key == number && c.Secrets[i].Active() {
			n++
		}
	}
	return n
}
