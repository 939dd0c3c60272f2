package store

import (
	"fmt"
	"io"
	"os"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
)

// ErrExposed reports that others than the owner can read or write a file with a secret of
// this node. The node does not correct the mode: anybody with the key can impersonate
// this node, so an operator must decide whether the key was read.
var ErrExposed = errcode.New("node_key_exposed", "others than its owner can read or write the file, and could impersonate this node")

// maxPrivate is the maximum size of a secret file, in bytes: some thirty keys.
const maxPrivate = 4096

// ReadPrivate reads a file with a secret. The error is ErrExposed if others than its
// owner have access.
func ReadPrivate(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat() // of the open file, not of the path
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s has mode %04o: %w", path, info.Mode().Perm(), ErrExposed)
	}
	return io.ReadAll(io.LimitReader(f, maxPrivate))
}
