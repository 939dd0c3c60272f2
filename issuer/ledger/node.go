package ledger

import (
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A Node records what rules need to know about a member of the cluster: which keys it has
// opened, which cluster keys it has, and which of its reports was counted last.
type Node struct {
	ID          string     `cbor:"1,keyasint"`
	Opened      []string   `cbor:"2,keyasint,omitempty"` // ids of keys, sorted
	Version     string     `cbor:"3,keyasint,omitempty"`
	Seen        Time       `cbor:"4,keyasint"`
	Last        command.ID `cbor:"5,keyasint"`
	ClusterKeys []string   `cbor:"6,keyasint,omitempty"` // public ids of cluster keys, sorted
	Reported    command.ID `cbor:"30,keyasint,omitzero"` // the last ReportUsage
}

// HasOpened reports whether the node has opened a key.
func (n *Node) HasOpened(key string) bool {
	_, ok := slices.BinarySearch(n.Opened, key)
	return ok
}

// AcknowledgeKeys records which keys a node has opened with its cluster key. No key
// becomes active before every voter has acknowledged it.
type AcknowledgeKeys struct {
	Node    string   `cbor:"1,keyasint"`
	Opened  []string `cbor:"2,keyasint"`
	Version string   `cbor:"3,keyasint,omitempty"`
	// ClusterKeys has the public ids of the node's cluster keys, more than one while the
	// cluster key is being changed.
	ClusterKeys []string `cbor:"4,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*AcknowledgeKeys) Kind() command.Kind { return KindAcknowledgeKeys }

// Decide changes nothing if the row already has the same values.
func (c *AcknowledgeKeys) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	if c.Node == "" {
		return badField("node", "is empty")
	}
	opened := slices.Compact(slices.Sorted(slices.Values(c.Opened)))
	holds := slices.Compact(slices.Sorted(slices.Values(c.ClusterKeys)))
	next := &Node{ID: c.Node, Opened: opened, ClusterKeys: holds, Version: c.Version, Seen: stateTime(m), Last: m.ID}
	if n := v.Node(c.Node); n != nil {
		if slices.Equal(n.Opened, opened) && slices.Equal(n.ClusterKeys, holds) && n.Version == c.Version {
			return accept(Outcome{ID: n.ID})
		}
		next.Reported = n.Reported
	}
	return accept(Outcome{ID: c.Node}, put(TableNodes, next))
}

// ForgetNode removes the row of a node that has left the cluster. A row that stays delays
// nothing, since rules check voters by name, but it would be listed.
type ForgetNode struct {
	Node string `cbor:"1,keyasint"`
}

// Kind implements command.Command.
func (*ForgetNode) Kind() command.Kind { return KindForgetNode }

// Decide accepts an unknown node.
func (c *ForgetNode) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	n := v.Node(c.Node)
	if n == nil {
		return accept(Outcome{ID: c.Node})
	}
	return accept(Outcome{ID: c.Node}, remove(TableNodes, n),
		event(m, Event{Kind: EventNodeForgotten, Actor: Operator, Detail: c.Node}))
}
