package journal

import (
	"io"
	"os"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// Files and folders are readable by their owner only, whatever the parent folder permits.
const (
	modeDir  = 0o700
	modeFile = 0o600
)

// file is what the journal needs of a file.
type file interface {
	io.WriterAt
	Sync() error
	Truncate(size int64) error
	Close() error
}

// disk is what the journal needs of a file system. Tests replace it.
type disk interface {
	Create(path string) (file, error) // the file must not exist
	Open(path string) (file, error)   // creates the file if it doesn't exist
	Remove(path string) error
	SyncDir(path string) error
}

type realDisk struct{}

func (realDisk) Create(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, modeFile)
	if err != nil {
		return nil, err // a nil *os.File would make a non-nil interface
	}
	return f, nil
}

func (realDisk) Open(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, modeFile)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (realDisk) Remove(path string) error { return os.Remove(path) }

func (realDisk) SyncDir(path string) error { return durable.SyncDir(path) }
