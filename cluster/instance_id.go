package cluster

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// A node whose log is lost must not go on with the rest of its folder: it has
// forgotten its votes and what it acknowledged, and could make a majority with
// another node that lacks an acknowledged command. Raft can't tell it from a
// node that has never run.
//
// So each life of a node has an instance id, made at random, which lies with the votes,
// and is noted in a file beside the log before raft first runs. Where the file
// says another one than the log, the log is not that of this node's life.

const instanceIDFile = "node.instance"

const instanceIDSize = 16 // bytes

// instanceID returns what tells this life of the node from another one under the
// same id. It lies in the stable store, so that it is lost with the votes.
func (n *Node) instanceID() ([]byte, error) {
	id, err := n.storedInstanceID()
	if err != nil || len(id) > 0 {
		return id, err
	}
	id = make([]byte, instanceIDSize)
	if _, err := io.ReadFull(n.config.Rand, id); err != nil {
		return nil, fmt.Errorf("generate instance id: %w", err)
	}
	if err := n.stores.stable.Set([]byte(keyInstanceID), id); err != nil {
		return nil, fmt.Errorf("write instance id: %w", err)
	}
	return id, nil
}

// The names under which this package keeps things in the stable store.
const (
	keyInstanceID = "InstanceID"
	keyNodeID     = "NodeID"
)

func (n *Node) storedInstanceID() ([]byte, error) {
	id, err := n.stores.stable.Get([]byte(keyInstanceID))
	if err != nil {
		return nil, fmt.Errorf("read instance id: %w", err)
	}
	return id, nil
}

// readInstanceIDFile is what the file of a folder says, nil if there is none: no node
// has run there, or its first start was interrupted.
func readInstanceIDFile(dir string) ([]byte, error) {
	path := filepath.Join(dir, instanceIDFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read instance id: %w", err)
	}
	id, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(id) != instanceIDSize {
		return nil, fmt.Errorf("%s is damaged, it does not hold an instance id: move it away and start the node again, which makes it anew if its log is whole", path)
	}
	return id, nil
}

// checkKeyExists finds a lost key. The others know this node by it, and would
// take it with another key for one that was removed.
func (n *Node) checkKeyExists() error {
	id, err := readInstanceIDFile(n.config.Dir)
	if err != nil || id == nil || n.peerList.empty() {
		return err
	}
	path := filepath.Join(n.config.Dir, nodeKeyFile)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is gone, by which the others know this node: put it back, or take a new node in its place: %w", path, ErrDataLost)
	}
	return nil
}

// checkKeyMatches finds a key that is not the one that the others know.
func (n *Node) checkKeyMatches() error {
	m, listed := n.peerList.member(string(n.id))
	if !listed || n.peerList.get().InitialCluster { // what founds a cluster is checked as a whole
		return nil
	}
	hash, err := keyHash(n.credentials.key)
	if err != nil {
		return err
	}
	if !bytes.Equal(hash, m.Key) {
		return fmt.Errorf("%s is not the key by which the others know this node: put its own back, or take a new node in its place: %w",
			filepath.Join(n.config.Dir, nodeKeyFile), ErrDataLost)
	}
	return nil
}

// checkClusterKey finds a cluster key that is not the one that this node had: it
// could make itself no certificate, and take the others for unreachable.
func (n *Node) checkClusterKey() error {
	signers := n.peerList.signers()
	if len(signers) == 0 || slices.ContainsFunc(signers, n.canOpenAuthority) {
		return nil
	}
	return ErrWrongClusterKey
}

// writeInstanceIDFile writes the file. From then on this folder needs its log.
func (n *Node) writeInstanceIDFile() error {
	id, err := n.instanceID()
	if err != nil {
		return err
	}
	filed, err := readInstanceIDFile(n.config.Dir)
	if err != nil || bytes.Equal(filed, id) {
		return err
	}
	if err := durable.Replace(filepath.Join(n.config.Dir, instanceIDFile), []byte(hex.EncodeToString(id)+"\n")); err != nil {
		return fmt.Errorf("write instance id: %w", err)
	}
	return nil
}

// checkInstanceID returns ErrDataLost where the log or the snapshots of a node that
// has run are missing.
func (n *Node) checkInstanceID(fresh bool, snapshots raft.SnapshotStore, known logPosition) error {
	filed, err := readInstanceIDFile(n.config.Dir)
	if err != nil {
		return err
	}
	id, err := n.storedInstanceID()
	if err != nil {
		return err
	}
	switch {
	case filed != nil && len(id) == 0:
		return fmt.Errorf("%s says that a node has run here, and its log is gone: %w", filepath.Join(n.config.Dir, instanceIDFile), ErrDataLost)
	case filed != nil && !bytes.Equal(filed, id):
		return fmt.Errorf("%s is not of the same life of a node as the log beside it. "+
			"If only that file was changed, write %x into it; if the files in %s are of two nodes, or of two times: %w",
			filepath.Join(n.config.Dir, instanceIDFile), id, n.config.Dir, ErrDataLost)
	case filed == nil:
		if err := n.checkMissingInstanceID(fresh); err != nil {
			return err
		}
	}
	return n.checkLog(snapshots, known)
}

// checkMissingInstanceID detects the lost log of a node whose folder has no instance id file:
// there are snapshots and no id, or the list of peers has data that the node
// published when it ran, or knows the node by an id that only the log had.
func (n *Node) checkMissingInstanceID(fresh bool) error {
	kept, joined, err := n.nodeIDs()
	list := n.peerList.get()
	switch {
	case err != nil:
		return err
	case !fresh && len(kept) == 0:
		return fmt.Errorf("there are snapshots of a node that has run, and its log is gone: %w", ErrDataLost)
	case !fresh || len(list.Members) == 0 || list.InitialCluster:
		return nil
	case len(joined) == 0:
		joined = kept
	}
	if me, ok := n.peerList.member(string(joined)); !ok || me.Issuer != "" {
		return fmt.Errorf("%s is that of a node that has run, and its log is gone: %w", n.peerList.path, ErrDataLost)
	}
	return nil
}

// checkLog finds a log of which something is gone: what a snapshot had that is
// missing, or the end.
func (n *Node) checkLog(snapshots raft.SnapshotStore, known logPosition) error {
	first, err := n.stores.logs.FirstIndex()
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	covered, err := n.newestIntactSnapshot(snapshots)
	if err != nil {
		return err
	}
	if first > covered+1 {
		return fmt.Errorf("the log in %s begins with entry %d, and no whole snapshot beside it has what was before it: %w", n.config.Dir, first, ErrDataLost)
	}
	if first == 0 && covered == 0 {
		if err := n.checkNoDamagedSnapshots(); err != nil {
			return err
		}
	}
	return n.checkCommitMarker(known, covered)
}

// newestIntactSnapshot is the index of the newest snapshot that is as it was written,
// which Open reads all of it for; 0 where there is no snapshot. Raft goes back to
// an older one where the newest is damaged, and can't start without any.
func (n *Node) newestIntactSnapshot(snapshots raft.SnapshotStore) (uint64, error) {
	taken, err := snapshots.List() // the newest first
	if err != nil {
		return 0, fmt.Errorf("list snapshots: %w", err)
	}
	for _, s := range taken {
		_, r, err := snapshots.Open(s.ID)
		if err != nil {
			n.log.Warn("cluster: a snapshot is damaged on disk", "snapshot", s.ID, "error", err)
			continue
		}
		if err := r.Close(); err != nil {
			return 0, fmt.Errorf("read snapshot %s: %w", s.ID, err)
		}
		return s.Index, nil
	}
	if len(taken) > 0 {
		return 0, fmt.Errorf("every snapshot in %s is damaged: %w", n.config.Dir, ErrDataLost)
	}
	return 0, nil
}

// checkNoDamagedSnapshots finds one that is left out of the list because of what it says
// of itself, where there is nothing else: a node would begin anew beside it.
func (n *Node) checkNoDamagedSnapshots() error {
	left, err := filepath.Glob(filepath.Join(n.config.Dir, "snapshots", "*", "state.bin"))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("every snapshot in %s is damaged: %w", n.config.Dir, ErrDataLost)
	}
	return err
}
