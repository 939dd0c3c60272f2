package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/progress"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/keys"
)

func (m *management) backupCommand() *cobra.Command {
	return group("backup", "Keep what the cluster knows, and bring it back", m.backupSave(), m.backupInspect(), m.backupJournal(), m.backupRestore())
}

// savedBackup is a backup that is on disk.
type savedBackup struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

func (m *management) backupSave() *cobra.Command {
	keyFile := os.Getenv(config.Variable(config.KeyClusterKeyFile))
	c := command("save FILE", "Write a backup to a new file, or to standard output", func(cmd *cobra.Command, args []string) error {
		saved := savedBackup{File: args[0]}
		if saved.File == stdio {
			if err := m.checkStdout(cmd); err != nil {
				return err
			}
		}
		c, err := m.open(cmd)
		if err != nil {
			return err
		}
		defer c.Close()
		offline := false
		write := func(w io.Writer) error {
			shown := progress.Start(progress.Options{Out: cmd.ErrOrStderr(), What: "saving the backup"})
			defer shown.Stop()
			counted := &countingWriter{Writer: shown.Writer(w)}
			err := admin.SaveBackup(cmdContext(cmd), c, counted)
			var gone *admin.UnreachableError
			if offline = errors.As(err, &gone) && !c.Remote() && counted.n == 0; offline {
				err = offlineError(err, m.writeOfflineState(keyFile, counted))
			}
			saved.Bytes = counted.n
			return err
		}
		if saved.File == stdio {
			if err := write(cmd.OutOrStdout()); err != nil {
				return err
			}
			p := newPrinter(cmd.ErrOrStderr(), cmd.ErrOrStderr())
			showSaved(p, saved, offline)
			return p.writeErr()
		}
		if err := backup.Create(saved.File, write); err != nil {
			return err
		}
		return m.show(cmd, saved, func(p *printer) { showSaved(p, saved, offline) })
	})
	c.Long = `Write a backup to a new file that only its owner can read. A file that is there
already is never overwritten, and one that is not complete is not left behind.
With - as FILE it is written to standard output: it is complete only if the exit
code is 0.
If no node runs, the state is read from the data directory, even from that of a
node that was removed or given up.`
	addKeyFileFlag(c, &keyFile)
	return c
}

// showSaved describes a backup. offline: it was read from the folder of a stopped node.
func showSaved(p *printer, saved savedBackup, offline bool) {
	p.line("%s: %d bytes", saved.File, saved.Bytes)
	if offline {
		p.remark("no node runs here, so the backup has what this folder's log has, and nothing that only other nodes had")
	}
	p.remark("it is sealed under the cluster's key (cluster.key), which is not in it: keep that, too, in another place")
}

// stdio as the name of a file is standard input or output.
const stdio = "-"

// checkStdout refuses a backup on a terminal, or between the lines of a report.
func (m *management) checkStdout(cmd *cobra.Command) error {
	if f, ok := cmd.OutOrStdout().(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		return errors.New("standard output is a terminal, and a backup is not text")
	}
	if m.output != outputText {
		return errors.New("--output can't be given with a backup on standard output")
	}
	return nil
}

// openInput opens a file, or standard input.
func openInput(cmd *cobra.Command, name string) (io.ReadCloser, error) {
	if name == stdio {
		return io.NopCloser(cmd.InOrStdin()), nil
	}
	return os.Open(name)
}

// sizeOf returns the size of a file, 0 if it has none.
func sizeOf(r io.Reader) int64 {
	f, ok := r.(*os.File)
	if !ok {
		return 0
	}
	i, err := f.Stat()
	if err != nil || !i.Mode().IsRegular() {
		return 0
	}
	return i.Size()
}

// addKeyFileFlag adds the flag that names the cluster key, for a command that reads a
// data directory if no node runs there.
func addKeyFileFlag(c *cobra.Command, keyFile *string) {
	c.Flags().StringVar(keyFile, config.KeyClusterKeyFile, *keyFile,
		"if no node runs: `FILE` with the cluster's key, if it is not cluster.key in the data directory ("+config.Variable(config.KeyClusterKeyFile)+")")
}

type countingWriter struct {
	io.Writer
	n int64
}

func (w *countingWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.n += int64(n)
	return n, err
}

func (m *management) backupRestore() *cobra.Command {
	var o admin.RestoreOptions
	var journals, keyFiles []string
	c := command("restore FILE", "Make the waiting node the first of a cluster with the state of a backup", func(cmd *cobra.Command, args []string) error {
		c, err := m.open(cmd)
		if err != nil {
			return err
		}
		defer c.Close()
		o.Journals, o.Keys = nil, nil
		for _, path := range keyFiles {
			text, err := keys.ReadClusterKeys(path)
			if err != nil {
				return err
			}
			o.Keys = append(o.Keys, admin.Plain(text))
		}
		for _, path := range journals {
			j, err := readJournal(path)
			if err != nil {
				return err
			}
			o.Journals = append(o.Journals, j)
		}
		f, err := openInput(cmd, args[0])
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		shown := progress.Start(progress.Options{Out: cmd.ErrOrStderr(), What: "restoring the backup", Total: sizeOf(f)})
		report, err := admin.RestoreBackup(cmdContext(cmd), c, shown.Reader(f), o)
		shown.Stop()
		if err != nil {
			return err
		}
		if err := m.show(cmd, report, func(p *printer) { showRestored(p, report) }); err != nil {
			return err
		}
		if report.DryRun && report.Gap != "" && !o.AcceptGap {
			// Whoever rehearses a restore in a script learns what it would come to.
			return &admin.Problem{Class: admin.Refused, Code: server.ErrGap.Code(), Text: "this restore would be refused"}
		}
		return nil
	})
	c.Long = `Make the waiting node the first of a cluster with the state of a backup. With -
as FILE the backup is read from standard input. What has happened since then comes
from a journal (mintmark cluster backup journal).

The files may be sealed under different cluster keys: the node's own, one that
lies beside it (cluster.key.old), or one that is named. What is restored is sealed
under the node's own.

A journal goes with a backup only where both are of the same timeline of the cluster.
Each restore begins a new timeline.`
	c.Flags().StringArrayVar(&journals, "journal", nil, "`FILE` with a node's journal of what happened since (repeatable: nodes complete each other)")
	c.Flags().StringArrayVar(&keyFiles, config.KeyClusterKeyFile, nil,
		"`FILE` with a cluster key that the backup or a journal is sealed under, where that is not the waiting node's own (repeatable)")
	confirmFlag(c, &o.AcceptGap, "restore although the journals leave something out: what was revoked then is not")
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "only say what would happen, with the exit code that the restore would have")
	return c
}

func readJournal(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, admin.MaxJournal+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case len(b) > admin.MaxJournal:
		return nil, fmt.Errorf("%s is larger than 1 GiB", path)
	}
	return b, nil
}

// knownUntilText names the source that ends at KnownUntil: a journal that ends before the
// backup adds nothing to it.
func knownUntilText(r admin.RestoreReport) string {
	if n := len(r.Covered); n > 0 && r.KnownUntil.After(r.StateTime) {
		return "where the journal ends"
	}
	return "when the backup was made"
}

func showRestored(p *printer, r admin.RestoreReport) {
	done, changed := "restored", "it changed"
	if r.DryRun {
		done, changed = "dry run, would be restored", "it would change"
	}
	p.line("%s: cluster %s as of %s, up to command %d", done, r.Cluster, formatTimeSeconds(r.Taken), r.Seq)
	var rows []string
	for _, table := range slices.Sorted(maps.Keys(r.Counts)) {
		rows = append(rows, fmt.Sprintf("%s: %d", table, r.Counts[table]))
	}
	if len(rows) > 0 {
		p.line("in the backup: %s", strings.Join(rows, ", "))
	}
	showReplay(p, r, changed)
	p.line("nothing is known after %s, %s: later revocations are undone", formatTimeSeconds(r.KnownUntil), knownUntilText(r))
	switch {
	case r.Gap == "":
	case r.DryRun:
		p.remark("would be lost with --%s: %s", yesFlag, r.Gap)
	default:
		p.remark("lost: %s", r.Gap)
	}
}

// showReplay prints which commands the journals cover, and what replaying them
// changes. changed introduces the changes.
func showReplay(p *printer, r admin.RestoreReport, changed string) {
	for _, span := range r.Covered {
		begins := "the beginning"
		if !span.Begins.IsZero() {
			begins = formatTimeSeconds(span.Begins)
		}
		p.line("the journal covers commands %d to %d, from %s to %s", span.From, span.To, begins, formatTimeSeconds(span.Ends))
	}
	switch {
	case len(r.Changes) > 0:
		p.line("%s:", changed)
	case len(r.Covered) > 0:
		p.line("%s nothing", changed)
	}
	for _, line := range r.Changes {
		p.line("  %s", line)
	}
	var skipped []string
	for _, s := range r.Skipped {
		skipped = append(skipped, fmt.Sprintf("%s: %d", s.What, s.Count))
	}
	if len(skipped) > 0 {
		p.line("skipped, because it does not exist or was done already: %s", strings.Join(skipped, ", "))
	}
	for _, line := range r.NotDone {
		p.remark("not done: %s", line)
	}
	p.hints(p.remarks, r.NotDone...)
	for _, line := range r.Warnings {
		p.remark("warning: %s", line)
	}
}
