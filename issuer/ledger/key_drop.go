package ledger

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// DropKey removes a retiring key, or an announced key that was never used.
type DropKey struct {
	ID string `cbor:"1,keyasint"`
	// Emergency drops a leaked key although it is still needed: tokens signed with it
	// are refused, grants due under it can't be redeemed, secrets recorded under it must
	// be replaced.
	Emergency bool `cbor:"2,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*DropKey) Kind() command.Kind { return KindDropKey }

// Decide refuses while something valid still needs the key. The active key is never
// dropped; another must be activated first. A repeated command whose key is gone is accepted.
func (c *DropKey) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	k := v.Key(c.ID)
	switch {
	case k == nil && m.Again:
		return accept(Outcome{ID: c.ID})
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
		if k.Purpose == ForCredentials && v.SecretsUnder(k.Number, stateTime(m)) > 0 {
			return deny(KeyInUse)
		}
	}
	changes := append([]command.Change{remove(TableKeys, k)}, v.recordHighestNumber(k)...)
	return accept(Outcome{ID: k.ID}, append(changes, event(m, Event{Kind: kind, Actor: Operator, Detail: k.ID}))...)
}

// recordHighestNumber records the number of a removed credential key if it is the highest,
// as for an announced key that leaked. A node that missed the removal would otherwise
// mistake another key with the same number for this one.
func (v View) recordHighestNumber(k *Key) []command.Change {
	active := v.ActiveKey(ForCredentials)
	if k.Purpose != ForCredentials || active == nil || max(active.Number, active.HighestNumber) >= k.Number {
		return nil
	}
	next := *active
	next.HighestNumber = k.Number
	return []command.Change{put(TableKeys, &next)}
}
