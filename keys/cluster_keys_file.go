package keys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// Beside the file of the current key there may be a file of the keys that may replace it, one
// on each line, and a file of the previous key. Every change replaces a whole file, in an
// order in which every stored key is in some file at any time.
const (
	suffixPending  = ".new"
	suffixPrevious = ".old"
	suffixPart     = ".part" // an unfinished change
)

// maxPending is the maximum number of pending keys. There is more than one only if an
// unfinished change and the next one were begun on different nodes.
const maxPending = 32

// maxPrevious is the maximum number of previous keys, which a file has place for. There is more
// than one only if the cluster key was changed several times since this node started.
const maxPrevious = 64

// OpenClusterKeys reads the keys in and beside a file. The error is fs.ErrNotExist if the file
// is missing.
func OpenClusterKeys(file string) (*ClusterKeys, error) {
	c := &ClusterKeys{file: file}
	var err error
	if c.current, err = ReadClusterKey(file); err != nil {
		return nil, err
	}
	next, err := readClusterKeys(file + suffixPending)
	if err != nil {
		return nil, err
	}
	for _, k := range next {
		// A crash between the two writes of a change leaves a key in both files.
		if !k.Equal(c.current) && !containsKey(c.pending, k) {
			c.pending = append(c.pending, k)
		}
	}
	if c.previous, err = readClusterKeys(file + suffixPrevious); err != nil {
		return nil, err
	}
	c.previousFromStart = len(c.previous) > 0
	return c, nil
}

// readClusterKeys reads a file that may be missing.
func readClusterKeys(path string) ([]ClusterKey, error) {
	text, err := readKeyFile(path, 0o077)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := parseClusterKeys(text)
	if err != nil {
		return nil, fmt.Errorf("read cluster keys %s: %w: %w", path, ErrDamagedFile, err)
	}
	return list, nil
}

// ReadClusterKeys reads a file of one or more keys for AddOpenOnly: that of a node, or one
// that was kept from before a change.
func ReadClusterKeys(path string) (text []byte, err error) {
	if text, err = readKeyFile(path, 0o077); err != nil {
		return nil, err
	}
	if _, err := parseClusterKeys(text); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return text, nil
}

// ErrOtherCluster reports that a joining node has another cluster key than the cluster.
var ErrOtherCluster = errors.New("this node was given another cluster key than that of the cluster it joins")

// StoreClusterKeys stores the keys that a joining node received from a member, in a file and
// beside it. If the file exists, its key must be one of them; otherwise the error is
// ErrOtherCluster.
func StoreClusterKeys(file string, text []byte) error {
	received, err := parseClusterKeys(text)
	if err != nil {
		return err
	}
	has, err := ReadClusterKey(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = received[0].WriteFile(file)
	case err == nil && !containsKey(received, has):
		err = ErrOtherCluster
	}
	if err != nil || len(received) == 1 {
		return err
	}
	c, err := OpenClusterKeys(file)
	if err != nil {
		return err
	}
	return c.AddPending(text)
}

// Changeable returns nil if another key can be stored and can replace the current one, and
// otherwise the reason.
func (c *ClusterKeys) Changeable() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changeable()
}

func (c *ClusterKeys) changeable() error {
	switch {
	case c.fixed != "":
		return errors.New(c.fixed)
	case len(c.previous) >= maxPrevious:
		return fmt.Errorf("store cluster key: this node has replaced its key %d times since its start, the maximum", len(c.previous))
	}
	info, err := os.Lstat(c.file)
	switch {
	case err != nil:
		return fmt.Errorf("replace cluster key: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("replace cluster key %s: %w", c.file, ErrLinkedFile)
	case info.Mode().Perm()&0o200 == 0:
		return fmt.Errorf("replace cluster key %s: %w", c.file, ErrReadOnlyFile)
	}
	if err := c.checkPreviousFile(); err != nil {
		return fmt.Errorf("replace cluster key: %w", err)
	}
	// Only writing to the folder shows whether it is writable.
	part := c.file + suffixPart
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(part))
	}
	if err != nil {
		return fmt.Errorf("replace cluster key: %w", err)
	}
	return nil
}

// checkPreviousFile refuses to overwrite a file of the previous key that this node did not
// write: it may be the only copy of its contents. mu must be held.
func (c *ClusterKeys) checkPreviousFile() error {
	path := c.file + suffixPrevious
	list, err := readClusterKeys(path)
	if slices.ContainsFunc(list, func(k ClusterKey) bool { return !k.Equal(c.current) && !containsKey(c.previous, k) }) {
		return fmt.Errorf("%s: %w", path, ErrForeignFile)
	}
	return err
}

// AddPending stores keys beside the current one, in the text form of Text or ClusterKey.Text.
// They are on disk when it returns nil.
func (c *ClusterKeys) AddPending(text []byte) error {
	added, err := parseClusterKeys(text)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	next := slices.Clone(c.pending)
	for _, k := range added {
		if !k.Equal(c.current) && !containsKey(next, k) {
			next = append(next, k)
		}
	}
	switch {
	case len(next) == len(c.pending):
		return nil
	case len(next) > maxPending:
		return fmt.Errorf("store cluster key: %d unfinished key changes", len(c.pending))
	}
	if err := c.changeable(); err != nil {
		return err
	}
	if err := c.replace(suffixPending, next); err != nil {
		return fmt.Errorf("store cluster key: %w", err)
	}
	c.pending = next
	return nil
}

// Activate makes a pending key the current one. The previous key can still open; its file
// stays until Drop after the next start.
func (c *ClusterKeys) Activate(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current.ID() == id {
		return nil
	}
	i := slices.IndexFunc(c.pending, func(k ClusterKey) bool { return k.ID() == id })
	if i < 0 {
		return fmt.Errorf("use cluster key %s: %w", id, ErrKeyNotStored)
	}
	chosen := c.pending[i]
	if err := c.checkPreviousFile(); err != nil {
		return fmt.Errorf("use cluster key %s: %w", id, err)
	}
	before := []ClusterKey{c.current}
	for _, k := range c.previous {
		if !k.Equal(chosen) && !k.Equal(c.current) {
			before = append(before, k)
		}
	}
	if err := c.replace(suffixPrevious, before); err != nil {
		return fmt.Errorf("use cluster key %s: %w", id, err)
	}
	if err := c.replace("", []ClusterKey{chosen}); err != nil {
		return fmt.Errorf("use cluster key %s: %w", id, err)
	}
	c.current, c.previous, c.previousFromStart = chosen, before, false
	c.pending = slices.Delete(slices.Clone(c.pending), i, i+1)
	if err := c.replace(suffixPending, c.pending); err != nil {
		return fmt.Errorf("use cluster key %s: %w", id, err) // a leftover file loses nothing
	}
	return nil
}

// Drop drops keys under which nothing is sealed: the pending keys with these ids and, if the
// node was started since the change, the previous key. The node must have withdrawn its
// acknowledgement of them.
func (c *ClusterKeys) Drop(ids []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fixed != "" {
		return nil // there are no other keys
	}
	next := slices.DeleteFunc(slices.Clone(c.pending), func(k ClusterKey) bool { return slices.Contains(ids, k.ID()) })
	if err := c.replace(suffixPending, next); err != nil {
		return fmt.Errorf("drop cluster key: %w", err)
	}
	c.pending = next
	if !c.previousFromStart {
		return nil
	}
	if err := c.replace(suffixPrevious, nil); err != nil {
		return fmt.Errorf("drop cluster key: %w", err)
	}
	c.previous, c.previousFromStart = nil, false
	return nil
}

// replace replaces the contents of a file with these keys, and removes the file if there are
// none. mu must be held.
func (c *ClusterKeys) replace(suffix string, list []ClusterKey) error {
	path := c.file + suffix
	if len(list) == 0 {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	if c.onWrite != nil {
		if err := c.onWrite(suffix); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return errors.Join(os.Remove(path), durable.SyncDir(filepath.Dir(path)))
	}
	var text []byte
	for _, k := range list {
		text = append(text, k.Text()...)
	}
	part := c.file + suffixPart
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := durable.Create(part, text); err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return durable.SyncDir(filepath.Dir(path))
}
