package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// markPath returns the path of a file in the data folder that exists during a restore. A
// state whose journals were not replayed must never be served, since everything that was
// revoked after the backup would be valid again.
func markPath(dataDir string) string { return filepath.Join(dataDir, "restoring") }

// Mark records on disk that a restore begins.
func Mark(dataDir string) error {
	if err := durable.Replace(markPath(dataDir), nil); err != nil {
		return fmt.Errorf("mark the restore: %w", err)
	}
	return nil
}

// Unmark records that the restore is complete and on disk.
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
