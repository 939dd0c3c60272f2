package cluster

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/hashicorp/raft"
)

// identity returns this node's id, which it makes when there is none. It lies
// in the stable store, so that it can't be lost without the votes cast under it.
func (n *Node) identity() (raft.ServerID, error) {
	kept, id, err := n.knownAs()
	switch {
	case err != nil:
		return "", err
	case len(kept) > 0 && (len(id) == 0 || bytes.Equal(kept, id)):
		return raft.ServerID(kept), nil
	case len(id) == 0:
		if id, err = newNodeID(n.config.Rand); err != nil {
			return "", err
		}
	}
	if err := n.stores.stable.Set([]byte(keyNodeID), id); err != nil {
		return "", fmt.Errorf("write node id: %w", err)
	}
	return raft.ServerID(id), nil
}

// knownAs returns the id in the stable store, and the one that a node that
// joined has told the others. Either may be nil.
func (n *Node) knownAs() (kept, joined []byte, err error) {
	if kept, err = n.stores.stable.Get([]byte(keyNodeID)); err != nil {
		return nil, nil, fmt.Errorf("read node id: %w", err)
	}
	joined, err = joinedAs(n.config.Dir)
	return kept, joined, err
}

func newNodeID(rand io.Reader) ([]byte, error) {
	var random [8]byte
	if _, err := io.ReadFull(rand, random[:]); err != nil {
		return nil, fmt.Errorf("make node id: %w", err)
	}
	return []byte(hex.EncodeToString(random[:])), nil
}
