package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// ErrKeyNotStored says that a cluster key was asked for that is not here.
var ErrKeyNotStored = errors.New("this cluster key is not held here")

// A FixedError says why a node can keep no other cluster key than the one it
// has, and what to do about it.
type FixedError struct{ Reason string }

func (e *FixedError) Error() string { return e.Reason }

// ClusterKeys are the cluster keys of a node. There is one, the current one,
// but while the cluster key is being changed: then those that may follow it
// are held beside it, and after that the one before it is, for what is still
// sealed under it. Each is on disk before anybody is told that it is held.
type ClusterKeys struct {
	redacted
	file  string // of the current key
	fixed string // why no other may follow; "" where one may

	mu                sync.RWMutex // of all below, and of the files
	current           ClusterKey
	pending           []ClusterKey
	previous          []ClusterKey // open what they sealed, and are not held any more
	previousFromStart bool         // the file of the key before was there at the start

	// onWrite is called before each change of a file, for tests.
	onWrite func(step string) error
}

// FixedClusterKey is a set of one key that stays as it is, because of reason.
func FixedClusterKey(k ClusterKey, reason string) *ClusterKeys {
	return &ClusterKeys{current: k, fixed: reason}
}

// Current is the key to seal with, where nothing says under which key the rest
// is sealed.
func (c *ClusterKeys) Current() ClusterKey {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.current
}

// Get is the key with a public id.
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

// all is called with mu held.
func (c *ClusterKeys) all() []ClusterKey {
	return slices.Concat([]ClusterKey{c.current}, c.pending, c.previous)
}

// StoredIDs are the public ids of the current key and of those that may follow it,
// sorted. They are there again after a crash.
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

// PendingIDs are the public ids of the keys that may follow the current one, in the
// order in which they came.
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

// AddOpenOnly adds keys that open what they sealed, from the text of a file, as long
// as c is used: they are not held, and nothing is written.
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

// IDs are the public ids of all keys that are at hand, the current one first.
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

// Text is what another node of the cluster is given to open everything that
// this one can: the secrets themselves, a line each, the current one first.
func (c *ClusterKeys) Text() []byte {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var b []byte
	for _, k := range append([]ClusterKey{c.current}, c.pending...) {
		b = append(b, k.Text()...)
	}
	return b
}

// parseClusterKeys reads one or more lines of ClusterKey.Text.
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
