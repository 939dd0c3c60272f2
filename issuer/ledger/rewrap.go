package ledger

import (
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A SealedKey is the private part of a key, sealed under a new cluster key.
type SealedKey struct {
	ID     string `cbor:"1,keyasint"`
	Sealed []byte `cbor:"2,keyasint"`
}

// Rewrap changes the cluster key: it replaces the sealed part of every key at once. The
// keys themselves don't change.
type Rewrap struct {
	To   string      `cbor:"1,keyasint"` // public id of the new cluster key
	Keys []SealedKey `cbor:"2,keyasint"` // exactly the keys of the keyring
	// Voters are the voters that the leader knows. Each must have To, or it could open no
	// key at its next start.
	Voters []string `cbor:"3,keyasint"`
}

// Kind implements command.Command.
func (*Rewrap) Kind() command.Kind { return KindRewrap }

// Decide refuses to lock out a node, or to leave a key sealed under the old cluster key.
func (c *Rewrap) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	if c.To == "" {
		return badField("to", "is empty")
	}
	if v.allSealedUnder(c.To) {
		return accept(Outcome{ID: c.To}) // applied already
	}
	sealed, cause := c.check(v)
	switch {
	case cause != NoCause:
		return deny(cause)
	case len(c.Voters) == 0:
		return deny(ClusterKeyNotStored)
	}
	for _, id := range c.Voters {
		if n := v.Node(id); n == nil || !n.hasClusterKey(c.To) {
			return deny(ClusterKeyNotStored)
		}
	}
	var changes []command.Change
	for k := range v.Keys() {
		next := *k
		next.Sealed, next.SealedUnder, next.Last = sealed[k.ID], c.To, m.ID
		changes = append(changes, put(TableKeys, &next))
	}
	return accept(Outcome{ID: c.To}, append(changes,
		event(m, Event{Kind: EventRewrapped, Actor: Operator, Detail: c.To}))...)
}

// check refuses a list that does not name each key of the keyring once.
func (c *Rewrap) check(v View) (sealed map[string][]byte, cause Cause) {
	sealed = make(map[string][]byte, len(c.Keys))
	for _, k := range c.Keys {
		if v.Key(k.ID) == nil || len(k.Sealed) == 0 || sealed[k.ID] != nil {
			return nil, KeyringDiffers
		}
		sealed[k.ID] = k.Sealed
	}
	for k := range v.Keys() {
		if sealed[k.ID] == nil {
			return nil, KeyringDiffers
		}
	}
	return sealed, NoCause
}

// SealedUnder returns the public id of the cluster key that the keyring is sealed under,
// which tells a node which one it needs, or "" if no row has it.
func (v View) SealedUnder() string {
	for k := range v.Keys() {
		if k.SealedUnder != "" {
			return k.SealedUnder
		}
	}
	return ""
}

// allSealedUnder reports whether the whole keyring is sealed under a cluster key. After a
// restore from a journal with gaps, a part of it may not be.
func (v View) allSealedUnder(clusterKey string) bool {
	n := 0
	for k := range v.Keys() {
		if n++; k.SealedUnder != clusterKey {
			return false
		}
	}
	return n > 0
}

func (n *Node) hasClusterKey(clusterKey string) bool {
	_, ok := slices.BinarySearch(n.ClusterKeys, clusterKey)
	return ok
}
