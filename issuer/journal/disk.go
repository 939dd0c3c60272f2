package journal

import (
	"io"
	"os"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// What is in the folder is for nobody else to read, whatever the folder above
// allows.
const (
	modeDir  = 0o700
	modeFile = 0o600
)

// file is what the journal writes to.
type file interface {
	io.WriterAt
	Sync() error
	Truncate(size int64) error
	Close() error
}

// disk is what can fail; tests make it.
type disk interface {
	Create(path string) (file, error) // a file that was not there
	Open(path string) (file, error)   // one that may have been
	Remove(path string) error
	SyncDir(path string) error
}

type realDisk struct{}

func (realDisk) Create(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, modeFile)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
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
