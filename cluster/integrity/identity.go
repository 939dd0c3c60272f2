package integrity

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// Identity returns this node's id, and generates it if there is none. It is in the stable
// store, so that it is lost only together with the votes cast under it.
func (f *Folder) Identity() (raft.ServerID, error) {
	kept, id, err := f.NodeIDs()
	if err == nil {
		err = f.checkStoredNodeID(kept)
	}
	switch {
	case err != nil:
		return "", err
	case len(kept) > 0 && (len(id) == 0 || bytes.Equal(kept, id)):
		return raft.ServerID(kept), nil
	case len(kept) > 0:
		if err := f.checkNeverRan(kept, id); err != nil {
			return "", err
		}
	case len(id) == 0:
		if id, err = member.NewNodeID(f.rand); err != nil {
			return "", err
		}
	}
	if err := f.Store.Stable.Set([]byte(store.KeyNodeID), id); err != nil {
		return "", fmt.Errorf("write node id: %w", err)
	}
	return raft.ServerID(id), nil
}

// checkStoredNodeID refuses a log of a node that has run but that contains no node id: with
// a new id, the node would find that it is no member and conclude that it was removed.
func (f *Folder) checkStoredNodeID(kept []byte) error {
	if member.IsNodeID(string(kept)) {
		return nil
	}
	instanceID, err := f.storedInstanceID()
	if err == nil && (len(kept) > 0 || len(instanceID) > 0) {
		err = fmt.Errorf("%s no longer contains the node's id: %w", filepath.Join(f.dir, "log", store.WalMetaFile), store.ErrDataLost)
	}
	return err
}

// checkNeverRan returns an error if a folder has two ids, unless the node never ran under the
// kept one: a start that failed before the folder joined a cluster leaves an unused id.
func (f *Folder) checkNeverRan(kept, joined []byte) error {
	last, err := f.Store.Logs.LastIndex()
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	instanceID, err := f.storedInstanceID()
	if err != nil || len(instanceID) == 0 && last == 0 {
		return err
	}
	path := filepath.Join(f.dir, member.NodeIDFile)
	return fmt.Errorf("%s has node id %s, and the log beside it has %s: %w: %w", path, joined, kept, ErrMixedFolder, store.ErrDataLost)
}

// NodeIDs returns the id in the stable store, and the id with which the node joined the
// cluster. Either may be nil.
func (f *Folder) NodeIDs() (kept, joined []byte, err error) {
	if kept, err = f.Store.Stable.Get([]byte(store.KeyNodeID)); err != nil {
		return nil, nil, fmt.Errorf("read node id: %w", err)
	}
	joined, err = member.ReadNodeID(f.dir)
	return kept, joined, err
}
