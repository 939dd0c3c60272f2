package main

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

// readersPollInterval is how often a node that runs looks whether the file has changed.
const readersPollInterval = 2 * time.Second

// A readersFile is the file of --feed-secrets, and what it had when it could be
// read last.
type readersFile struct {
	path        string
	credentials string // folder of a service manager's credentials, or empty
	current     atomic.Pointer[endpoint.Readers]

	checking  sync.Mutex  // guards the next two
	lastInfo  os.FileInfo // of the file that was looked at last
	lastError string      // what was logged of it
}

// openReadersFile reads the file of --feed-secrets; nil where there is none.
func openReadersFile(path string, getenv func(string) string) (*readersFile, error) {
	if path == "" {
		return nil, nil
	}
	r := &readersFile{path: path, credentials: getenv("CREDENTIALS_DIRECTORY")}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r, nil
}

// read takes in what the file has. What was known stays where that fails.
func (r *readersFile) read() error {
	f, err := os.Open(r.path)
	if err != nil {
		return fmt.Errorf("open the %s: %w", readersList, err)
	}
	defer func() { _ = f.Close() }()
	// What is written from now on makes it another one.
	if r.lastInfo, err = f.Stat(); err != nil {
		return fmt.Errorf("look at the %s: %w", readersList, err)
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

// reload reads the file again if it is another one than before, and logs once what
// is wrong with it.
func (r *readersFile) reload(log *slog.Logger) {
	r.checking.Lock()
	defer r.checking.Unlock()
	info, err := os.Stat(r.path)
	switch {
	case err != nil:
		err = fmt.Errorf("look at the %s: %w", readersList, err)
	case r.lastInfo != nil && os.SameFile(info, r.lastInfo) && info.Size() == r.lastInfo.Size() &&
		info.ModTime().Equal(r.lastInfo.ModTime()) && info.Mode() == r.lastInfo.Mode():
		return
	default:
		err = r.read()
	}
	if err == nil {
		r.lastError = ""
		log.Info("the list of resource servers was read again", "file", r.path)
		return
	}
	r.lastInfo = nil // try again, whether it changes or not
	if text := err.Error(); text != r.lastError {
		r.lastError = text
		log.Error("the list of resource servers can't be read, so the one from before stays", "error", err)
	}
}

// watch looks until ctx ends.
func (r *readersFile) watch(ctx context.Context, log *slog.Logger) {
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

// watchReaders has a list that changes taken in while the server runs: whoever
// loses a secret should not have to wait for a restart of all nodes.
func (s *server) watchReaders(ctx context.Context) {
	if s.config.Readers == nil {
		return
	}
	ctx, s.stopReaders = context.WithCancel(context.WithoutCancel(ctx))
	s.readerTasks.Go(func() { s.config.Readers.watch(ctx, s.config.Log) })
}
