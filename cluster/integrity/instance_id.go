package integrity

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/mintmark-auth/mintmark/cluster/durable"
	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// A node whose log is lost must not run with the other files of its folder: it lacks its
// votes and the entries that it acknowledged, and could form a majority with another node
// that lacks an acknowledged command. Raft can't distinguish it from a node that has never
// run.
//
// So each node has a random instance id. It is stored with the votes, and written to a
// file beside the log before raft first runs. If the file and the log have different
// ids, they are not from the same instance of the node.

const InstanceIDFile = "node.instance"

const instanceIDSize = 16 // bytes

// InstanceID returns the id that distinguishes this instance of the node from another
// with the same node id. It is in the stable store, so that it is lost with the votes.
func (f *Folder) InstanceID() ([]byte, error) {
	id, err := f.storedInstanceID()
	if err != nil || len(id) > 0 {
		return id, err
	}
	id = make([]byte, instanceIDSize)
	if _, err := io.ReadFull(f.rand, id); err != nil {
		return nil, fmt.Errorf("generate instance id: %w", err)
	}
	if err := f.Store.Stable.Set([]byte(store.KeyInstanceID), id); err != nil {
		return nil, fmt.Errorf("write instance id: %w", err)
	}
	return id, nil
}

func (f *Folder) storedInstanceID() ([]byte, error) {
	id, err := f.Store.Stable.Get([]byte(store.KeyInstanceID))
	if err != nil {
		return nil, fmt.Errorf("read instance id: %w", err)
	}
	return id, nil
}

// ReadInstanceIDFile returns the instance id in the file of a folder, nil if there is none: no
// node has run there, or its first start was interrupted.
func ReadInstanceIDFile(dir string) ([]byte, error) {
	path := filepath.Join(dir, InstanceIDFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read instance id: %w", err)
	}
	id, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(id) != instanceIDSize {
		return nil, fmt.Errorf("read instance id from %s: %w", path, member.ErrRebuiltFile)
	}
	return id, nil
}

// CheckKeyExists finds a lost key. The others know this node by it, and would
// take it with another key for one that was removed.
func (f *Folder) CheckKeyExists() error {
	id, err := ReadInstanceIDFile(f.dir)
	if err != nil || id == nil || f.PeerList.Empty() {
		return err
	}
	path := filepath.Join(f.dir, member.NodeKeyFile)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is missing: %w: %w", path, member.ErrNodeKeyLost, store.ErrDataLost)
	}
	return nil
}

// CheckKeyMatches finds a key that is not the one that the others know.
func (f *Folder) CheckKeyMatches(id string, key *ecdsa.PrivateKey) error {
	m, listed := f.PeerList.Member(id)
	if !listed || f.PeerList.Get().InitialCluster { // the folder of a static bootstrap is checked as a whole
		return nil
	}
	hash, err := member.KeyHash(key)
	if err != nil {
		return err
	}
	if !bytes.Equal(hash, m.Key) {
		return fmt.Errorf("%s has another key: %w: %w", filepath.Join(f.dir, member.NodeKeyFile), member.ErrNodeKeyLost, store.ErrDataLost)
	}
	return nil
}

// ErrWrongClusterKey reports that the data of a node are sealed under another cluster key.
var ErrWrongClusterKey = errcode.New("wrong_cluster_key", "the cluster key of this node (cluster.key) is not the one that its data are sealed under")

// CheckClusterKey returns ErrWrongClusterKey if the cluster key opens no authority of the peer
// list: the node could issue itself no certificate, and would report the others as unreachable.
func (f *Folder) CheckClusterKey(opens func(*member.Authority) bool) error {
	signers := f.PeerList.Signers()
	if len(signers) == 0 || slices.ContainsFunc(signers, opens) {
		return nil
	}
	return ErrWrongClusterKey
}

// WriteInstanceIDFile writes the file. From then on this folder needs its log.
func (f *Folder) WriteInstanceIDFile() error {
	id, err := f.InstanceID()
	if err != nil {
		return err
	}
	filed, err := ReadInstanceIDFile(f.dir)
	if err != nil || bytes.Equal(filed, id) {
		return err
	}
	if err := durable.Replace(filepath.Join(f.dir, InstanceIDFile), []byte(hex.EncodeToString(id)+"\n")); err != nil {
		return fmt.Errorf("write instance id: %w", err)
	}
	return nil
}

// CheckInstanceID returns ErrDataLost where the log or the snapshots of a node that
// has run are missing.
func (f *Folder) CheckInstanceID(fresh bool, known Position) error {
	filed, err := ReadInstanceIDFile(f.dir)
	if err != nil {
		return err
	}
	id, err := f.storedInstanceID()
	if err != nil {
		return err
	}
	switch {
	case filed != nil && len(id) == 0:
		return fmt.Errorf("%s shows that a node has run here, and its log is gone: %w", filepath.Join(f.dir, InstanceIDFile), store.ErrDataLost)
	case filed != nil && !bytes.Equal(filed, id):
		return fmt.Errorf("%s has instance id %x, and the log beside it has %x: %w: %w",
			filepath.Join(f.dir, InstanceIDFile), filed, id, ErrMixedFolder, store.ErrDataLost)
	case filed == nil:
		if err := f.checkMissingInstanceID(fresh); err != nil {
			return err
		}
	}
	return f.checkLog(known)
}

// ErrMixedFolder reports that files of a data folder are from different nodes or times.
var ErrMixedFolder = errcode.New("mixed_folder", "the files of the data folder are not from one node at one time")

// checkMissingInstanceID detects the lost log of a node whose folder has no instance id file:
// there are snapshots and no id, or the list of peers has data that the node
// published when it ran, or knows the node by an id that only the log had.
func (f *Folder) checkMissingInstanceID(fresh bool) error {
	kept, joined, err := f.NodeIDs()
	list := f.PeerList.Get()
	switch {
	case err != nil:
		return err
	case !fresh && len(kept) == 0:
		return fmt.Errorf("there are snapshots of a node that has run, and its log is gone: %w", store.ErrDataLost)
	case !fresh || len(list.Members) == 0 || list.InitialCluster:
		return nil
	case len(joined) == 0:
		joined = kept
	}
	if me, ok := f.PeerList.Member(string(joined)); !ok || me.Issuer != "" {
		return fmt.Errorf("%s is that of a node that has run, and its log is gone: %w", f.PeerList.Path, store.ErrDataLost)
	}
	return nil
}

// checkLog finds a log of which something is gone: what a snapshot had that is
// missing, or the end.
func (f *Folder) checkLog(known Position) error {
	first, err := f.Store.Logs.FirstIndex()
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	covered, err := f.newestIntactSnapshot()
	if err != nil {
		return err
	}
	if first > covered+1 {
		return fmt.Errorf("the log in %s begins with entry %d, and no whole snapshot beside it has what was before it: %w", f.dir, first, store.ErrDataLost)
	}
	if first == 0 && covered == 0 {
		if err := f.checkNoDamagedSnapshots(); err != nil {
			return err
		}
	}
	return f.checkCommitMarker(known, covered)
}

// newestIntactSnapshot is the index of the newest snapshot that is as it was written,
// which Open reads all of it for; 0 where there is no snapshot. Raft goes back to
// an older one where the newest is damaged, and can't start without any.
func (f *Folder) newestIntactSnapshot() (uint64, error) {
	taken, err := f.Snapshots.List() // the newest first
	if err != nil {
		return 0, fmt.Errorf("list snapshots: %w", err)
	}
	for _, s := range taken {
		_, r, err := f.Snapshots.Open(s.ID)
		if err != nil {
			f.log.Warn("snapshot damaged on disk", "snapshot", s.ID, "error", err)
			continue
		}
		if err := r.Close(); err != nil {
			return 0, fmt.Errorf("read snapshot %s: %w", s.ID, err)
		}
		return s.Index, nil
	}
	if len(taken) > 0 {
		return 0, fmt.Errorf("every snapshot in %s is damaged: %w", f.dir, store.ErrDataLost)
	}
	return 0, nil
}

// checkNoDamagedSnapshots returns an error if a folder without a log has a snapshot that raft
// does not list because its metadata is damaged: the node would start as an empty one.
func (f *Folder) checkNoDamagedSnapshots() error {
	left, err := filepath.Glob(filepath.Join(f.dir, "snapshots", "*", "state.bin"))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("every snapshot in %s is damaged: %w", f.dir, store.ErrDataLost)
	}
	return err
}
