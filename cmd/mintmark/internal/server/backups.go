package server

import (
	"io"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/watchdog"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/restore"
	"github.com/mintmark-auth/mintmark/issuer/schedule"
)

// Backups are the settings of a node's scheduled backups.
type Backups struct {
	Dir   string        // folder
	Every time.Duration // 0: this node makes none
	Keep  int           // how many stay in the folder
}

// scheduledBackups returns the configuration of the task; the issuer completes it.
func (s *Server) scheduledBackups() schedule.Config {
	c := s.config.Backups
	return schedule.Config{
		Folder: backup.Folder{Dir: c.Dir, Node: s.nodeName()}, Every: c.Every, Keep: c.Keep,
		Save:   s.saveState,
		Verify: func(r io.Reader) (backup.Header, error) { return restore.VerifyState(r, s.Keys) },
		Space: func(dir string) (free, least uint64, err error) {
			free, least, _, err = watchdog.FreeSpace(dir)
			return free, least, err
		},
		OnDataDisk: func(dir string) bool { return watchdog.SameDisk(dir, s.config.DataDir) },
		Failed:     s.Metrics.BackupFailed,
	}
}

// backupStatus returns what the cluster knows of its scheduled backups; nil if it never
// had any.
func backupStatus(s *ledger.BackupSchedule, now time.Time) *admin.BackupStatus {
	if s.Every == 0 && s.Saved == nil {
		return nil
	}
	b := &admin.BackupStatus{
		Node: s.Name, Every: int64(s.Every / time.Second), Failed: []admin.FailedBackup{},
		Overdue: s.Overdue(ledger.Time(now.UnixMilli())),
	}
	if s.Every > 0 {
		b.Since, b.Next = s.Since.Std(), s.Due().Std()
	}
	if l := s.Saved; l != nil {
		b.Last = &admin.SavedBackup{Node: l.Node, File: l.File, At: l.At.Std(), Bytes: l.Bytes, Seq: l.Seq}
	}
	for _, f := range s.Failed {
		b.Failed = append(b.Failed, admin.FailedBackup{Node: f.Name, At: f.At.Std(), Reason: string(f.Reason)})
	}
	return b
}
