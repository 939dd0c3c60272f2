package store

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrExposed says that a file which holds a secret of this node's own can be read
// or written by more than its owner. The mode is not put right by the node: who
// has the key is this node to the others, so somebody has to say that nobody has
// read it.
var ErrExposed = errors.New("others than its owner can read or write it, who then may pass for this node: " +
	"if nobody can have read it, chmod 600 and start the node again; " +
	"else take a new node with an empty folder in its place (mintmark cluster replace)")

// maxPrivate bounds what is read of a secret, in bytes: some thirty keys.
const maxPrivate = 4096

// ReadPrivate reads a secret, which must be the owner's alone.
func ReadPrivate(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat() // of the file that is read
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s has mode %04o: %w", path, info.Mode().Perm(), ErrExposed)
	}
	return io.ReadAll(io.LimitReader(f, maxPrivate))
}
