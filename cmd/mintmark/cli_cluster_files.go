package main

import (
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
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
)

func (m *management) backupInspect() *cobra.Command {
	return command("inspect FILE", "Say what a backup is, and whether it is whole; needs no key and no node", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		f, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		h, err := backup.Inspect(f)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		return m.show(cmd, h, func(p *printer) {
			p.line("%s of the cluster %s, whole: %d bytes", h.Kind, h.Cluster, h.Size)
			p.line("taken %s by node %s, version %s", exact(h.Taken), h.Node, h.Version)
			if h.From > 0 {
				p.line("from command %d", h.From)
			}
			p.line("up to command %d, %s", h.Seq, exact(h.StateTime))
			p.line("sealed under cluster key %s", h.ClusterKey)
			if n := len(h.Lives); n > 0 {
				p.line("of life %s of the cluster, which began with command %d", h.Lives[n-1].ID, h.Lives[n-1].From)
			}
			for _, table := range slices.Sorted(maps.Keys(h.Counts)) {
				p.line("  %s: %d", table, h.Counts[table])
			}
		})
	})
}

func (m *management) backupJournal() *cobra.Command {
	keyFile := os.Getenv(envName(keyClusterKeyFile))
	c := command("journal FILE", "Write this node's journal to a new file", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
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
directory: that of a node that can't start any more will do.`
	c.Flags().StringVar(&keyFile, keyClusterKeyFile, keyFile,
		"where no node runs: `FILE` with the cluster's key, if it is not cluster.key in the data directory ("+envName(keyClusterKeyFile)+")")
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
	if !errors.As(err, &gone) {
		return err
	}
	return m.journalOfTheDead(keyFile, w)
}

// journalOfTheDead reads the journal in a data directory that no node uses.
func (m *management) journalOfTheDead(keyFile string, w io.Writer) (err error) {
	s := &server{config: serverConfig{
		DataDir: m.dataDir, Log: slog.New(slog.DiscardHandler), Now: wallClock,
		Key: keySourceOf(keyFile, m.dataDir, os.Getenv),
	}}
	dir := filepath.Join(m.dataDir, "raft")
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("no node runs, and there is no data: %w", err)
	}
	unlock, err := cluster.Lock(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if s.keys, err = s.config.Key.open(); err != nil {
		return missingKey(err, s.config.Key)
	}
	if err := s.openJournal(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.journal.Journal.Close()) }()
	h, err := s.deadHeader()
	if err != nil {
		return err
	}
	r, err := cluster.Recovered(dir)
	if err != nil || r == nil {
		if err == nil {
			err = s.writeJournal(w, h)
		}
		return err
	}
	return s.writeJournalUntil(w, h, r.Seq)
}

func (m *management) clusterRecover() *cobra.Command {
	var sure bool
	c := command("recover", "Make the only node that is left a cluster of one", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		cmd.SilenceUsage = true
		conf := cluster.Config{
			Dir: filepath.Join(m.dataDir, "raft"), Machine: issuer.Machine(),
			Logger: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		}
		if err := foresee(cmd, conf); err != nil {
			return err
		}
		if !sure {
			return errors.New("this gives up the other nodes for good: see --help, and say --yes")
		}
		if err := m.recoverFolder(conf); err != nil {
			return err
		}
		cmd.Println("recovered: start the node, and have others join it with new tokens")
		return nil
	})
	c.Long = `Make the only node that is left a cluster of one, with all that its log has. It is
for when a majority of the nodes is lost for good, and works on the data
directory while no node uses it.

It first says which nodes it gives up, and up to which entry of the log this one
has everything; without --yes it does no more than that. It refuses where one of
them runs and has a leader, and where this node itself was removed or given up.

What was acknowledged by the lost nodes alone is lost with them. Another life of
the cluster begins at the next start, so that a restore never takes their
journals for those of what happens from then on. A node that was given up must
never be started again with its old data: delete that, and have it join with a
new token.`
	c.Flags().BoolVar(&sure, "yes", false, "the other nodes are lost for good")
	return c
}
