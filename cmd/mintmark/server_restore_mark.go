package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// restoreHook is told each step of a restore, for tests that kill it there.
var restoreHook = func(_ string) {}

// restoreMark is a file that is there while a restore is under way. A state
// whose journal was not replayed must never serve: what was taken away since
// the backup would be back.
func (s *server) restoreMark() string { return filepath.Join(s.config.DataDir, "restoring") }

func (s *server) markRestore() error {
	if err := durable.Replace(s.restoreMark(), nil); err != nil {
		return fmt.Errorf("mark the restore: %w", err)
	}
	return nil
}

// unmarkRestore is called when all that the restore decided is on disk.
func (s *server) unmarkRestore() error {
	if err := os.Remove(s.restoreMark()); err != nil {
		return fmt.Errorf("end the restore: %w", err)
	}
	return durable.SyncDir(s.config.DataDir)
}

// refusePartialRestore refuses what a restore that was cut short left behind.
func (s *server) refusePartialRestore() error {
	_, err := os.Lstat(s.restoreMark())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for a restore that was cut short: %w", err)
	}
	dir := s.config.DataDir
	return fmt.Errorf("a restore was cut short here: delete %s, %s and then %s, and restore again",
		filepath.Join(dir, "raft"), filepath.Join(dir, "journal"), s.restoreMark())
}
