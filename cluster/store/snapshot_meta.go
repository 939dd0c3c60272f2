package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// Raft stores a checksum of a snapshot's state, but none of its metadata. With a damaged
// index a node would skip log entries, and with a damaged configuration it would count
// other voters. So the snapshot's folder also has a checksum of the metadata.
const metaSumFile = "meta.sum"

// raftMetaFile is raft's name of the metadata file.
const raftMetaFile = "meta.json"

var errDamagedMeta = errors.New(raftMetaFile + " is damaged")

// metaSum covers the metadata that is known before the state is written. The size, which
// is written later, is compared, and the state has its own checksum.
func metaSum(m raft.SnapshotMeta) ([]byte, error) {
	m.Size = 0
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode snapshot metadata: %w", err)
	}
	sum := sha256.Sum256(text)
	return []byte(hex.EncodeToString(sum[:]) + "\n"), nil
}

// writeMetaSum writes the checksum of the metadata that raft has written into the folder
// of a new snapshot.
func writeMetaSum(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, raftMetaFile))
	if err != nil {
		return err
	}
	var m raft.SnapshotMeta
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	sum, err := metaSum(m)
	if err != nil {
		return err
	}
	return durable.Replace(filepath.Join(dir, metaSumFile), sum)
}

// checkMeta verifies metadata that raft has read. dir is the folder of the snapshot.
func (p *Snapshots) checkMeta(m *raft.SnapshotMeta, dir string) error {
	state, err := os.Stat(filepath.Join(dir, "state.bin"))
	if err != nil {
		return err
	}
	if m.ID != filepath.Base(dir) || m.Size != state.Size() {
		return errDamagedMeta
	}
	noted, err := os.ReadFile(filepath.Join(dir, metaSumFile))
	if errors.Is(err, os.ErrNotExist) {
		return errDamagedMeta
	}
	if err != nil {
		return err
	}
	sum, err := metaSum(*m)
	if err == nil && !bytes.Equal(noted, sum) {
		err = errDamagedMeta
	}
	return err
}
