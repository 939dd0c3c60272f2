package ledger

import "slices"

// A Node is a member of the cluster, as far as rules need to know it: which
// keys it has opened.
type Node struct {
	ID      string    `cbor:"1,keyasint"`
	Opened  []string  `cbor:"2,keyasint,omitempty"` // ids of keys, sorted
	Version string    `cbor:"3,keyasint,omitempty"`
	Seen    Time      `cbor:"4,keyasint"`
	Last    CommandID `cbor:"5,keyasint"`
}

func (n *Node) opened(key string) bool {
	_, ok := slices.BinarySearch(n.Opened, key)
	return ok
}

// AcknowledgeKeys says which keys a node has opened with its cluster key. No
// key becomes active before every voter has said so.
type AcknowledgeKeys struct {
	Node    string   `cbor:"1,keyasint"`
	Opened  []string `cbor:"2,keyasint"`
	Version string   `cbor:"3,keyasint,omitempty"`
}

// Kind is KindAcknowledgeKeys.
func (*AcknowledgeKeys) Kind() Kind { return KindAcknowledgeKeys }

// Decide changes nothing where all of it is known.
func (c *AcknowledgeKeys) Decide(v View, m Meta) Decision {
	if c.Node == "" {
		return badField("node", "is empty")
	}
	opened := slices.Compact(slices.Sorted(slices.Values(c.Opened)))
	if n := v.Node(c.Node); n != nil && slices.Equal(n.Opened, opened) && n.Version == c.Version {
		return accept(Outcome{ID: n.ID})
	}
	return accept(Outcome{ID: c.Node}, put(TableNodes, &Node{
		ID: c.Node, Opened: opened, Version: c.Version, Seen: m.At, Last: m.ID,
	}))
}
