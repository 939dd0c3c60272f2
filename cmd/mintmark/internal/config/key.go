package config

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/keys"
)

// A KeySource is where a node's cluster key comes from.
type KeySource struct {
	File string // path of the key file, mode 0600
	// Text is the key from the environment, nil for a key file. The node writes no key
	// file then.
	Text []byte
	// FixedReason is why the key can't be changed while the node runs; "" if it can
	// be changed.
	FixedReason string
	// Credential reports that a service manager made File.
	Credential bool
}

// FindKey returns the source of the cluster key: the given file, or the environment
// (EnvClusterKey), a systemd credential named cluster.key, or cluster.key in the data
// folder, in this order.
func FindKey(file, dataDir string, getenv func(string) string) KeySource {
	own := filepath.Join(dataDir, "cluster.key")
	credentials := getenv("CREDENTIALS_DIRECTORY")
	if file != "" {
		if credentials != "" && filepath.Dir(file) == filepath.Clean(credentials) {
			return credentialSource(file, own)
		}
		return KeySource{File: file}
	}
	if text := getenv(EnvClusterKey); text != "" {
		return KeySource{Text: []byte(text), FixedReason: fmt.Sprintf("%s: it comes from the environment (%s), not from %s", ErrFixedKey, EnvClusterKey, own)}
	}
	if credentials != "" {
		path := filepath.Join(credentials, "cluster.key")
		if _, err := os.Stat(path); err == nil {
			return credentialSource(path, own)
		}
	}
	return KeySource{File: own}
}

func credentialSource(path, own string) KeySource {
	return KeySource{File: path, Credential: true, FixedReason: fmt.Sprintf("%s: it is a systemd credential, not %s", ErrFixedKey, own)}
}

var (
	// ErrNoClusterKey reports that the cluster key of data that exists is missing.
	ErrNoClusterKey = errcode.New("no_cluster_key", "the data is sealed under the cluster key")
	// ErrFixedKey reports that the node can't store another cluster key.
	ErrFixedKey = errcode.New("fixed_cluster_key", "the node can't change its cluster key")
	// ErrNoKeyForRestore reports that a node has no cluster key to restore a backup under.
	ErrNoKeyForRestore = errcode.New("no_key_for_restore", "a backup can be opened only with the cluster key that it is sealed under")
)

// load reads the key. The error is fs.ErrNotExist if there is none yet.
func (s KeySource) load() (keys.ClusterKey, error) {
	if s.Text != nil {
		return keys.ParseClusterKey(s.Text)
	}
	if s.Credential {
		return keys.ReadClusterCredential(s.File)
	}
	return keys.ReadClusterKey(s.File)
}

// Open reads the key, and the keys beside it while it is being changed. The error is
// fs.ErrNotExist if there is none yet.
func (s KeySource) Open() (*keys.ClusterKeys, error) {
	if s.FixedReason == "" {
		return keys.OpenClusterKeys(s.File)
	}
	key, err := s.load()
	if err != nil {
		return nil, err
	}
	return keys.FixedClusterKey(key, s.FixedReason), nil
}

// OpenSealed opens the key of data that exists: a missing key is an error.
func (s KeySource) OpenSealed() (*keys.ClusterKeys, error) {
	held, err := s.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing: %w", s.File, ErrNoClusterKey)
	}
	return held, err
}

// OpenForRestore opens the cluster keys that the files of a restore may be sealed under:
// the node's own, and more that an operator named.
func (s KeySource) OpenForRestore(more []admin.Plain) (*keys.ClusterKeys, error) {
	held, err := s.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing: %w", s.File, ErrNoKeyForRestore)
	}
	for _, text := range more {
		if err == nil {
			err = held.AddOpenOnly([]byte(text.Reveal()))
		}
	}
	if err != nil { // a malformed file, which the error names
		return nil, fmt.Errorf("open the cluster keys at hand: %w", err)
	}
	return held, nil
}

// Create returns the key of a cluster that is about to be made: the operator's, or a
// new one, which it writes to File.
func (s KeySource) Create(log *slog.Logger) (*keys.ClusterKeys, error) {
	held, err := s.Open()
	if !errors.Is(err, fs.ErrNotExist) {
		return held, err
	}
	key, err := keys.NewClusterKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	if err := key.WriteFile(s.File); err != nil {
		return nil, err
	}
	log.Warn("cluster key created; every key of the cluster is sealed under it and lost with it", "file", s.File)
	return s.Open()
}

// Store stores the keys that another node distributed to this one: more than one while
// the cluster key is being changed. The error is keys.ErrOtherCluster if this node has
// another key.
func (s KeySource) Store(text []byte) error {
	if s.FixedReason == "" {
		return keys.StoreClusterKeys(s.File, text)
	}
	has, err := s.load()
	if err != nil {
		return err
	}
	if !bytes.Equal(has.Text(), text) {
		return keys.ErrOtherCluster
	}
	return nil
}
