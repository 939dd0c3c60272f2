package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// markPath names a file in the data folder that exists while a restore is under way.
// A state whose journals were not replayed must never be served: what was revoked
// after the backup would be valid again.
func markPath(dataDir string) string { return filepath.Join(dataDir, "restoring") }

// Mark records on disk that a restore begins.
func Mark(dataDir string) error {
	if err := durable.Replace(markPath(dataDir), nil); err != nil {
		return fmt.Errorf("mark the restore: %w", err)
	}
	return nil
}

// Unmark records that everything the restore decided is on disk.
func Unmark(dataDir string) error {
	if err := os.Remove(markPath(dataDir)); err != nil {
		return fmt.Errorf("end the restore: %w", err)
	}
	return durable.SyncDir(dataDir)
}

// RefuseInterrupted returns an error if a restore into the folder was interrupted.
func RefuseInterrupted(dataDir string) error {
	_, err := os.Lstat(markPath(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for an interrupted restore: %w", err)
	}
	return fmt.Errorf("a restore was cut short here: delete %s, %s and then %s, and restore again",
		filepath.Join(dataDir, "raft"), journalDir(dataDir), markPath(dataDir))
}
