package restore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/replica"
)

// ReadFolder reads the journal in the data folder of a stopped node. A running node writes
// its journal some time after the log, so records that a kill removes from the journal are
// still in the log, which is replayed to complete it. Header.Incomplete reports a log that
// can't be read.
//
// It works on a copy: opening the files writes to them, and the folder may be all that is
// left of the node, or on a disk that can't be written. Also, the journal of a node that
// is started again must not have commands that were never decided.
func ReadFolder(dataDir string, taken time.Time) (j Journal, err error) {
	if _, err := os.Stat(journalDir(dataDir)); err != nil {
		return j, fmt.Errorf("not the data folder of a node: %w", err)
	}
	to, err := os.MkdirTemp("", "mintmark-journal-")
	if err != nil {
		return j, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(to)) }()
	if err := copyFiles(journalDir(to), journalDir(dataDir)); err != nil {
		return j, err
	}
	opened, err := journal.Open(journal.Config{Dir: journalDir(to)})
	if err != nil {
		return j, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	j.Header = backup.Header{Kind: backup.KindJournal, Taken: taken}
	if err := addLabel(&j.Header, opened); err != nil {
		return j, err
	}
	written := opened.Last()
	b, unread := replayLog(dataDir, to, opened)
	if j.History, err = historyOf(opened); err != nil {
		return j, err
	}
	if unread != nil {
		j.History = j.History.Until(written)
		j.Header.Incomplete = fmt.Sprintf("what was revoked shortly before the node stopped may be missing in the journal in %s, because the log there can't be read: %s",
			dataDir, strings.ReplaceAll(unread.Error(), to, dataDir))
	} else if from := max(b.SharedSeq, written) + 1; from <= b.Seq {
		j.Header.Tail = &backup.Tail{From: from, Term: b.Term}
	}
	recovered, err := recovery.Pending(filepath.Join(dataDir, "raft"))
	if err == nil && recovered != nil {
		j.History = j.History.Until(recovered.Seq) // later records belong to another timeline
	}
	setSpans(&j.Header, j.History.Spans())
	return j, err
}

// replayLog applies a copy of the raft log in a data folder, with the journal as the apply
// observer. The copy is made in the folder to.
func replayLog(dataDir, to string, j *journal.Journal) (*machine.Backup, error) {
	raft, log := filepath.Join(to, "raft"), slog.New(slog.DiscardHandler)
	if err := copyFiles(raft, filepath.Join(dataDir, "raft")); err != nil {
		return nil, err
	}
	return recovery.Salvage(cluster.Config{
		Dir: raft, Machine: replica.Machine(), Logger: log, ApplyObserver: &Observer{Journal: j, Log: log},
	}.Offline())
}

// historyOf reads a whole journal.
func historyOf(j *journal.Journal) (*journal.History, error) {
	var all bytes.Buffer
	if err := j.Export(&all); err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	return journal.Read(&all)
}

// copyFiles copies a folder with its regular files. Only their owner can read the copies.
func copyFiles(to, from string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.Mkdir(filepath.Join(to, rel), 0o700)
		case e.Type().IsRegular():
			return copyFile(filepath.Join(to, rel), path)
		}
		return nil
	})
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
