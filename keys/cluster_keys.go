package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// ErrKeyNotStored reports a cluster key that this node doesn't have.
var ErrKeyNotStored = errors.New("not stored on this node")

// Reasons why a node can't store another cluster key than its own.
var (
	ErrLinkedFile   = errors.New("the key file is not a regular file, so it is not replaced")
	ErrReadOnlyFile = errors.New("the key file is read-only")
	ErrForeignFile  = errors.New("the file of the previous key was not written by this node")
)

// ClusterKeys has the cluster keys of a node: the current key and, during a change of the
// cluster key, the keys that may replace it; after the change also the previous key, for what
// is still sealed under it. A key is on disk before the node acknowledges it.
type ClusterKeys struct {
	redacted
	file  string // path of the current key
	fixed string // why the key can't be changed; "" if it can

	mu                sync.RWMutex // guards the fields below and the files
	current           ClusterKey
	pending           []ClusterKey
	previous          []ClusterKey // used to open only
	previousFromStart bool         // the file of the previous key existed at the start

	// onWrite is called before each change of a file, for tests.
	onWrite func(step string) error
}

// FixedClusterKey returns ClusterKeys with one key that can't be changed, for a reason.
func FixedClusterKey(k ClusterKey, reason string) *ClusterKeys {
	return &ClusterKeys{current: k, fixed: reason}
}

// Current returns the key to seal with, unless other data determines the key.
func (c *ClusterKeys) Current() ClusterKey {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.current
}

// Get returns the key with a public id.
func (c *ClusterKeys) Get(id string) (ClusterKey, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, k := range c.all() {
		if k.ID() == id {
			return k, nil
		}
	}
	return ClusterKey{}, fmt.Errorf("cluster key %s: %w", id, ErrKeyNotStored)
}

// all returns all keys. mu must be held.
func (c *ClusterKeys) all() []ClusterKey {
	return slices.Concat([]ClusterKey{c.current}, c.pending, c.previous)
}

// StoredIDs returns the public ids of the current key and of those that may replace it,
// sorted. These keys survive a crash.
func (c *ClusterKeys) StoredIDs() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	ids := []string{c.current.ID()}
	for _, k := range c.pending {
		ids = append(ids, k.ID())
	}
	slices.Sort(ids)
	return ids
}

// PendingIDs returns the public ids of the keys that may replace the current one, in the
// order in which they were added.
func (c *ClusterKeys) PendingIDs() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	ids := make([]string, len(c.pending))
	for i, k := range c.pending {
		ids[i] = k.ID()
	}
	return ids
}

// Open opens what was sealed under any of the keys, see ClusterKey.Open.
func (c *ClusterKeys) Open(context string, sealed []byte) (plain []byte, err error) {
	c.mu.RLock()
	all := c.all()
	c.mu.RUnlock()
	for _, k := range all {
		if plain, err = k.Open(context, sealed); err == nil {
			return plain, nil
		}
	}
	return nil, err
}

// AddOpenOnly adds keys, in the text form of a file, that are used to open only. They are
// not written to disk and not in StoredIDs.
func (c *ClusterKeys) AddOpenOnly(text []byte) error {
	parsed, err := parseClusterKeys(text)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range parsed {
		if !containsKey(c.all(), k) {
			c.previous = append(c.previous, k)
		}
	}
	return nil
}

// IDs returns the public ids of all keys, the current one first.
func (c *ClusterKeys) IDs() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var ids []string
	for _, k := range c.all() {
		ids = append(ids, k.ID())
	}
	return ids
}

// Seal seals under the current key, see ClusterKey.Seal.
func (c *ClusterKeys) Seal(rand io.Reader, context string, plain []byte) ([]byte, error) {
	return c.Current().Seal(rand, context, plain)
}

// Text returns what another node of the cluster needs to open everything that this one can:
// the secrets themselves, one on each line, the current one first.
func (c *ClusterKeys) Text() []byte {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var b []byte
	for _, k := range append([]ClusterKey{c.current}, c.pending...) {
		b = append(b, k.Text()...)
	}
	return b
}

// parseClusterKeys parses one or more lines of ClusterKey.Text.
func parseClusterKeys(text []byte) ([]ClusterKey, error) {
	var list []ClusterKey
	for line := range bytes.Lines(text) {
		k, err := ParseClusterKey(line)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("parse cluster keys: %w", ErrBadKey)
	}
	return list, nil
}

func containsKey(list []ClusterKey, k ClusterKey) bool { return slices.ContainsFunc(list, k.Equal) }
