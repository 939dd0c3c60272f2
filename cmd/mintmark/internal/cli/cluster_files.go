package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/cluster/store"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/issuer/restore"
)

func (m *management) backupInspect() *cobra.Command {
	return command("inspect FILE", "Show what a backup contains, and check that the file is complete; needs no key and no node", func(cmd *cobra.Command, args []string) error {
		f, err := openInput(cmd, args[0])
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		h, err := backup.Inspect(f)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		return m.show(cmd, h, func(p *printer) {
			p.line("%s of the cluster %s, complete (not verified: needs the cluster key): %d bytes", h.Kind, h.Cluster, h.Size)
			by := "by node " + h.Node
			if h.Node == "" {
				by = "from the folder of a node that did not run"
			}
			p.line("taken %s %s, version %s", formatTimeSeconds(h.Taken), by, h.Version)
			if h.From > 0 {
				p.line("from command %d", h.From)
			}
			p.line("up to command %d, %s", h.Seq, formatTimeSeconds(h.StateTime))
			if h.Tail != nil {
				p.line("no record shows that commands %d to %d were decided", h.Tail.From, h.Seq)
			}
			if h.Incomplete != "" {
				p.line("warning: %s", h.Incomplete)
			}
			p.line("sealed under cluster key %s", h.ClusterKey)
			if n := len(h.Timelines); n > 0 {
				p.line("timeline %s, which began with command %d", h.Timelines[n-1].ID, h.Timelines[n-1].From)
			}
			for _, table := range slices.Sorted(maps.Keys(h.Counts)) {
				p.line("  %s: %d", table, h.Counts[table])
			}
		})
	})
}

func (m *management) backupJournal() *cobra.Command {
	keyFile := os.Getenv(config.Variable(config.KeyClusterKeyFile))
	c := command("journal FILE", "Write this node's journal to a new file", func(cmd *cobra.Command, args []string) error {
		saved := savedBackup{File: args[0]}
		err := backup.Create(saved.File, func(w io.Writer) error {
			counted := &countingWriter{Writer: w}
			err := m.writeJournal(cmd, keyFile, counted)
			saved.Bytes = counted.n
			return err
		})
		if err != nil {
			return err
		}
		return m.show(cmd, saved, func(p *printer) { p.line("%s: %d bytes", saved.File, saved.Bytes) })
	})
	c.Long = `Write this node's journal to a new file that only its owner can read. The journal
has what was revoked, suspended, disabled or changed, so that a restore of an
older backup does not undo it. Where no node runs, it is read from the data
directory, and completed from the raft log there: the directory of a node that
can't start any more will do.`
	addKeyFileFlag(c, &keyFile)
	return c
}

// writeJournal has the node write its journal, or reads it where none runs.
func (m *management) writeJournal(cmd *cobra.Command, keyFile string, w io.Writer) error {
	c, err := m.open(cmd)
	if err != nil {
		return err
	}
	defer c.Close()
	err = admin.SaveJournal(cmdContext(cmd), c, w)
	var gone *admin.UnreachableError
	if !errors.As(err, &gone) || c.Remote() {
		return err
	}
	lacks, dead := m.writeOfflineJournal(keyFile, w)
	if lacks != "" {
		cmd.PrintErrln("warning: " + lacks)
	}
	return offlineError(err, dead)
}

// offlineError returns the error of reading a data directory whose node did not
// answer. If a process uses the directory, the node runs, and the error is that it
// did not answer.
func offlineError(unreachable, err error) error {
	if errors.Is(err, store.ErrLocked) {
		return unreachable
	}
	return err
}

// offlineExporter returns an exporter with the cluster key for a data directory that no
// node uses, and the folder of the cluster's data in it.
func (m *management) offlineExporter(keyFile string) (e restore.Exporter, dir string, err error) {
	e = restore.Exporter{Version: m.version, Now: server.WallClock, Rand: rand.Reader}
	dir = filepath.Join(m.dataDir, "raft")
	if _, err := os.Stat(dir); err != nil {
		return e, "", fmt.Errorf("no node runs, and there is no data: %w", err)
	}
	e.Keys, err = config.FindKey(keyFile, m.dataDir, os.Getenv).OpenSealed()
	return e, dir, err
}

// writeOfflineState writes a backup of the state in a data directory that no node uses.
func (m *management) writeOfflineState(keyFile string, w io.Writer) error {
	e, dir, err := m.offlineExporter(keyFile)
	if err != nil {
		return err
	}
	b, err := recovery.Salvage(cluster.Config{Dir: dir, Machine: replica.Machine(), Logger: slog.New(slog.DiscardHandler)}.Offline())
	if err != nil {
		return err
	}
	return e.State(w, b)
}

// writeOfflineJournal writes the journal in a data directory that no node uses. lacks
// reports why the journal may end too early, "" if it does not.
func (m *management) writeOfflineJournal(keyFile string, w io.Writer) (lacks string, err error) {
	e, dir, err := m.offlineExporter(keyFile)
	if err != nil {
		return "", err
	}
	unlock, err := integrity.Lock(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	j, err := restore.ReadFolder(m.dataDir, e.Now())
	if err != nil {
		return "", err
	}
	return j.Header.Incomplete, e.Folder(w, j)
}
