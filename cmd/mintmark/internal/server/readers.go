package server

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/endpoint"
)

const readersList = "list of resource servers"

// readersPollInterval is how often a running node checks whether the file has changed.
const readersPollInterval = 2 * time.Second

// Readers are the resource servers that may read the feed of revocations: the path of
// their file, and its last readable content.
type Readers struct {
	path        string
	credentials string // folder of a service manager's credentials, or empty
	current     atomic.Pointer[endpoint.Readers]

	checking  sync.Mutex  // guards the two fields below
	lastInfo  os.FileInfo // of the file that was read last; nil after an error
	lastError string      // the error that was logged last
}

// OpenReaders reads the file at path. It returns nil if path is "".
func OpenReaders(path string, getenv func(string) string) (*Readers, error) {
	if path == "" {
		return nil, nil
	}
	r := &Readers{path: path, credentials: getenv("CREDENTIALS_DIRECTORY")}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r, nil
}

// read reads the file. After an error the previous content stays.
func (r *Readers) read() error {
	f, err := os.Open(r.path)
	if err != nil {
		return fmt.Errorf("open %s: %w", readersList, err)
	}
	defer func() { _ = f.Close() }()
	// Stat before reading: a later write changes the file's info, so it is not missed.
	if r.lastInfo, err = f.Stat(); err != nil {
		return fmt.Errorf("inspect %s: %w", readersList, err)
	}
	if err := config.RequirePrivate(f, readersList, r.credentials); err != nil {
		return err
	}
	readers, err := endpoint.ParseReaders(f)
	if err != nil {
		return fmt.Errorf("read %s: %w", r.path, err)
	}
	r.current.Store(readers)
	return nil
}

// reload reads the file again if it has changed, and logs each error once.
func (r *Readers) reload(log *slog.Logger) {
	r.checking.Lock()
	defer r.checking.Unlock()
	info, err := os.Stat(r.path)
	switch {
	case err != nil:
		err = fmt.Errorf("inspect %s: %w", readersList, err)
	case r.lastInfo != nil && os.SameFile(info, r.lastInfo) && info.Size() == r.lastInfo.Size() &&
		info.ModTime().Equal(r.lastInfo.ModTime()) && info.Mode() == r.lastInfo.Mode():
		return
	default:
		err = r.read()
	}
	if err == nil {
		r.lastError = ""
		log.Info("list of resource servers reloaded", "file", r.path)
		return
	}
	r.lastInfo = nil // retry even without a change
	if text := err.Error(); text != r.lastError {
		r.lastError = text
		log.Error("list of resource servers not reloaded", "error", err)
	}
}

// watch reloads the file when it changes, until ctx ends.
func (r *Readers) watch(ctx context.Context, log *slog.Logger) {
	for again := time.NewTicker(readersPollInterval); ; {
		select {
		case <-again.C:
			r.reload(log)
		case <-ctx.Done():
			again.Stop()
			return
		}
	}
}

// watchReaders watches the file of readers, so that a lost secret can be replaced without
// a restart of all nodes.
func (s *Server) watchReaders(ctx context.Context) {
	if s.config.Readers == nil {
		return
	}
	ctx, s.stopReaders = context.WithCancel(context.WithoutCancel(ctx))
	s.readerTasks.Go(func() { s.config.Readers.watch(ctx, s.config.Log) })
}
