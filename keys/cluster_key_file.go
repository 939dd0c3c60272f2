package keys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// ErrExposed says that a key file can be read or written by more than its owner.
var ErrExposed = errors.New("key file is open to others than its owner (want mode 0600 or 0400)")

// ReadClusterKey reads a key file. A file that its group or the world has any
// right to is refused, because what it holds may already be known.
func ReadClusterKey(path string) (ClusterKey, error) { return readClusterKey(path, 0o077) }

// ReadClusterCredential reads a key file that a service manager made for this
// process, in a folder that only the process can enter. Such a file may be
// readable for its group: that is how systemd grants the service's account the
// right to it, by an access control list.
func ReadClusterCredential(path string) (ClusterKey, error) { return readClusterKey(path, 0o037) }

func readClusterKey(path string, exposed fs.FileMode) (ClusterKey, error) {
	text, err := readKeyFile(path, exposed)
	if err != nil {
		return ClusterKey{}, err
	}
	key, err := ParseClusterKey(text)
	if err != nil {
		return ClusterKey{}, fmt.Errorf("%s does not hold a cluster key, as if it was cut short or changed: put back the copy that you keep, or that of another node: %w", path, err)
	}
	return key, nil
}

// maxKeyFile bounds what is read, in bytes: some eighty keys.
const maxKeyFile = 4096

// readKeyFile refuses a file that has any of the rights in exposed.
func readKeyFile(path string, exposed fs.FileMode) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read cluster key: %w", err)
	}
	defer func() { _ = f.Close() }()
	// The mode is that of the open file, so it cannot be another's by the time
	// it is read.
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read cluster key: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read cluster key %s: not a regular file", path)
	}
	if info.Mode().Perm()&exposed != 0 {
		return nil, fmt.Errorf("read cluster key %s: %w", path, ErrExposed)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return nil, fmt.Errorf("read cluster key: %w", err)
	}
	return text, nil
}

// WriteFile writes the key to a new file of mode 0600 and returns when file and
// folder entry are on disk. It never overwrites: the file that is there may be
// the only copy of the key that a cluster is sealed under.
func (k ClusterKey) WriteFile(path string) error {
	if k.key == nil {
		return fmt.Errorf("write cluster key: %w", ErrNoKey)
	}
	if err := durable.Create(path, k.Text()); err != nil {
		return fmt.Errorf("write cluster key: %w", err)
	}
	return nil
}
