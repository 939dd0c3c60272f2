package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// restoring is told each step of a restore, for tests that kill it there.
var restoring = func(_ string) {}

// restoreMark is a file that is there while a restore is under way. A state
// whose journal was not replayed must never serve: what was taken away since
// the backup would be back.
func (s *server) restoreMark() string { return filepath.Join(s.config.DataDir, "restoring") }

func (s *server) markRestore() error {
	f, err := os.OpenFile(s.restoreMark(), os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err == nil {
		err = syncDir(s.config.DataDir)
	}
	if err != nil {
		return fmt.Errorf("mark the restore: %w", err)
	}
	return nil
}

// unmarkRestore is called when all that the restore decided is on disk.
func (s *server) unmarkRestore() error {
	if err := os.Remove(s.restoreMark()); err != nil {
		return fmt.Errorf("end the restore: %w", err)
	}
	return syncDir(s.config.DataDir)
}

// noHalfRestore refuses what a restore that was cut short left behind.
func (s *server) noHalfRestore() error {
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

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
