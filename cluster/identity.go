package cluster

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hashicorp/raft"
)

// identity returns this node's id, which it makes when there is none. It lies
// in the stable store, so that it can't be lost without the votes cast under it.
func (n *Node) identity() (raft.ServerID, error) {
	kept, id, err := n.nodeIDs()
	if err == nil {
		err = n.checkStoredNodeID(kept)
	}
	switch {
	case err != nil:
		return "", err
	case len(kept) > 0 && (len(id) == 0 || bytes.Equal(kept, id)):
		return raft.ServerID(kept), nil
	case len(kept) > 0:
		if err := n.checkNeverRan(kept, id); err != nil {
			return "", err
		}
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

// checkStoredNodeID refuses a log of a node that has run and does not say which: under
// another id it would take itself for one that was removed.
func (n *Node) checkStoredNodeID(kept []byte) error {
	if isNodeID(string(kept)) {
		return nil
	}
	instanceID, err := n.storedInstanceID()
	if err == nil && (len(kept) > 0 || len(instanceID) > 0) {
		err = fmt.Errorf("%s does not hold the node's id any more: %w", filepath.Join(n.config.Dir, "log", walMetaFile), ErrDataLost)
	}
	return err
}

// checkNeverRan refuses two ids, but where the folder joined a cluster after a
// start that came to nothing, which left an id that nobody knows.
func (n *Node) checkNeverRan(kept, joined []byte) error {
	last, err := n.stores.logs.LastIndex()
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	instanceID, err := n.storedInstanceID()
	if err != nil || len(instanceID) == 0 && last == 0 {
		return err
	}
	path := filepath.Join(n.config.Dir, nodeIDFile)
	return fmt.Errorf("%s says that this is node %s, and its log that it is node %s. "+
		"If only that file was changed, write %s into it; if the files in %s are of two nodes: %w",
		path, joined, kept, kept, n.config.Dir, ErrDataLost)
}

// nodeIDs returns the id in the stable store, and the one that a node that
// joined has told the others. Either may be nil.
func (n *Node) nodeIDs() (kept, joined []byte, err error) {
	if kept, err = n.stores.stable.Get([]byte(keyNodeID)); err != nil {
		return nil, nil, fmt.Errorf("read node id: %w", err)
	}
	joined, err = readNodeID(n.config.Dir)
	return kept, joined, err
}

func newNodeID(rand io.Reader) ([]byte, error) {
	var random [8]byte
	if _, err := io.ReadFull(rand, random[:]); err != nil {
		return nil, fmt.Errorf("make node id: %w", err)
	}
	return []byte(hex.EncodeToString(random[:])), nil
}
