package keys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// ErrExposed reports a key file that others than its owner can read or write.
var ErrExposed = errors.New("key file is open to others than its owner (want mode 0600 or 0400)")

// ErrDamagedFile reports a file of cluster keys whose content is not keys.
var ErrDamagedFile = errors.New("the key file was truncated or changed")

// ReadClusterKey reads a key file. It refuses a file with any permission for group or
// others, since its contents may already be known.
func ReadClusterKey(path string) (ClusterKey, error) { return readClusterKey(path, 0o077) }

// ReadClusterCredential reads a key file that a service manager made for this process, in a
// folder that only the process can enter. Its group may read the file: systemd grants the
// service's account access by an access control list, which shows as a group permission.
func ReadClusterCredential(path string) (ClusterKey, error) { return readClusterKey(path, 0o037) }

func readClusterKey(path string, exposed fs.FileMode) (ClusterKey, error) {
	text, err := readKeyFile(path, exposed)
	if err != nil {
		return ClusterKey{}, err
	}
	key, err := ParseClusterKey(text)
	if err != nil {
		return ClusterKey{}, fmt.Errorf("read cluster key %s: %w: %w", path, ErrDamagedFile, err)
	}
	return key, nil
}

// maxKeyFile is the maximum number of bytes of a file: some ninety keys.
const maxKeyFile = 4096

// readKeyFile refuses a file with any of the permissions in exposed.
func readKeyFile(path string, exposed fs.FileMode) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read cluster key: %w", err)
	}
	defer func() { _ = f.Close() }()
	// Stat of the open file prevents the file from being replaced between check and read.
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
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return nil, fmt.Errorf("read cluster key: %w", err)
	}
	if len(text) > maxKeyFile {
		return nil, fmt.Errorf("read cluster key %s: %w: it has more than %d bytes", path, ErrDamagedFile, maxKeyFile)
	}
	return text, nil
}

// WriteFile writes the key to a new file of mode 0600, and returns once the file and its
// folder entry are on disk. It never overwrites: an existing file may be the only copy of
// the key that a cluster is sealed under.
func (k ClusterKey) WriteFile(path string) error {
	if k.key == nil {
		return fmt.Errorf("write cluster key: %w", ErrNoKey)
	}
	if err := durable.Create(path, k.Text()); err != nil {
		return fmt.Errorf("write cluster key: %w", err)
	}
	return nil
}
