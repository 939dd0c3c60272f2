package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/keys"
)

// newBackupCLI returns the command line of a node whose backup is what write writes.
func newBackupCLI(t *testing.T, write func(context.Context, io.Writer) error) *cliEnv {
	t.Helper()
	w := admintest.New(t)
	w.Cluster, w.Backup = admintest.NewCluster(), write
	return &cliEnv{w, runnerOf(t, w.Serve())}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	all, err := os.ReadDir(dir)
	require.NoError(t, err)
	list := []string{}
	for _, e := range all {
		list = append(list, e.Name())
	}
	return list
}

func TestBackupSave(t *testing.T) {
	text := strings.Repeat("state", 1<<18)
	c := newBackupCLI(t, func(_ context.Context, w io.Writer) error {
		_, err := io.Copy(w, strings.NewReader(text))
		return err
	})
	dir := t.TempDir()
	file := filepath.Join(dir, "backup")
	require.Equal(t, map[string]any{"file": file, "bytes": float64(len(text))}, c.Object("cluster", "backup", "save", file))
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, string(got) == text)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, os.WriteFile(file, []byte("older"), 0o600))
	c.Fails(ExitLocal, "already exists", "cluster", "backup", "save", file)
	got, err = os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "older", string(got), "an existing file must not be overwritten")
	require.Equal(t, []string{"backup"}, names(t, dir))
	c.Fails(ExitLocal, "no such file", "cluster", "backup", "save", filepath.Join(dir, "none", "backup"))
}

// TestBackupOnStandardOutput: standard output has only the backup. The exit code shows a
// failure.
func TestBackupOnStandardOutput(t *testing.T) {
	fail := false
	c := newBackupCLI(t, func(_ context.Context, w io.Writer) error {
		_, _ = io.WriteString(w, "state")
		if fail {
			return admintest.Rule("this node lags")
		}
		return nil
	})
	r := c.Run("", "cluster", "backup", "save", "-")
	require.Equal(t, ExitOK, r.Code, r.Err)
	require.Equal(t, "state", r.Out)
	require.Contains(t, r.Err, "-: 5 bytes\n")
	c.Fails(ExitLocal, "--output can't be given", "cluster", "backup", "save", "-", "-o", "json")
	fail = true
	require.Equal(t, ExitRefused, c.Run("", "cluster", "backup", "save", "-").Code)
}

// TestBackupOnStandardInput: inspect and restore read a backup from standard input.
func TestBackupOnStandardInput(t *testing.T) {
	c := newSetupCLI(t, admin.Setup{
		Name: "n1",
		Restore: func(_ context.Context, in io.Reader, _ admin.RestoreOptions) (admin.RestoreReport, error) {
			b, err := io.ReadAll(in)
			return admin.RestoreReport{Cluster: string(b)}, err
		},
	})
	r := c.Run("state", "cluster", "backup", "restore", "-")
	require.Equal(t, ExitOK, r.Code, r.Err)
	require.Contains(t, r.Out, "restored: cluster state as of")
	r = c.Run("no backup", "cluster", "backup", "inspect", "-")
	require.Equal(t, ExitLocal, r.Code)
	require.Contains(t, r.Err, "-: inspect backup: not a backup file in a known format")
}

func TestBackupThatIsCutLeavesNothing(t *testing.T) {
	begin := func(w io.Writer) { _, _ = io.WriteString(w, strings.Repeat("state", 1<<18)) }
	for name, test := range map[string]struct {
		write func(context.Context, io.Writer) error
		code  int
		text  string
	}{
		"refused": {func(_ context.Context, w io.Writer) error {
			begin(w)
			return admintest.Rule("this node lags")
		}, ExitRefused, "this node lags"},
		"failed": {func(_ context.Context, w io.Writer) error {
			begin(w)
			return errors.New("the disk is on fire")
		}, ExitUnhealthy, "the server failed (the node's log has the reason)"},
		"killed": {func(_ context.Context, w io.Writer) error {
			begin(w)
			panic(http.ErrAbortHandler)
		}, ExitUnhealthy, "stopped in the middle"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := newBackupCLI(t, test.write)
			c.Fails(test.code, test.text, "cluster", "backup", "save", filepath.Join(dir, "backup"))
			require.Empty(t, names(t, dir))
		})
	}
}

// TestRestoreSaysWhereKnowledgeEnds: the restore reports up to when revocations are
// known: until the backup was made, or until the journal ends if that is later.
func TestRestoreSaysWhereKnowledgeEnds(t *testing.T) {
	made := admintest.Started
	for _, row := range []struct {
		covered []admin.JournalSpan
		known   time.Time
		says    string
	}{
		{nil, made, "when the backup was made"},
		{[]admin.JournalSpan{{From: 1, To: 9, Ends: made.Add(-time.Minute)}}, made, "when the backup was made"},
		{[]admin.JournalSpan{{From: 1, To: 15, Ends: made.Add(time.Minute)}}, made.Add(time.Minute), "where the journal ends"},
	} {
		var out bytes.Buffer
		showRestored(newPrinter(&out, io.Discard), admin.RestoreReport{StateTime: made, Covered: row.covered, KnownUntil: row.known})
		require.Contains(t, out.String(), "nothing is known after "+formatTimeSeconds(row.known)+", "+row.says+": ")
	}
}

func TestBackupRestore(t *testing.T) {
	var options []admin.RestoreOptions
	c := newSetupCLI(t, admin.Setup{
		Name: "n1",
		Restore: func(_ context.Context, in io.Reader, o admin.RestoreOptions) (admin.RestoreReport, error) {
			options = append(options, o)
			if b, err := io.ReadAll(in); err != nil || string(b) != "state" {
				return admin.RestoreReport{}, admintest.Rule("the file is damaged")
			}
			if o.Journals == nil && !o.AcceptGap {
				return admin.RestoreReport{}, admintest.Rule("what happened since is missing")
			}
			return admin.RestoreReport{
				Cluster: "c-1", Taken: admintest.Started, Seq: 12, Journal: 14, Counts: map[string]uint64{"users": 2, "clients": 3},
				Changes: []string{"grant g1 is ended"}, Gap: "commands 13 to 13", KnownUntil: admintest.Started.Add(time.Hour),
				Covered: []admin.JournalSpan{{From: 1, To: 12, Ends: admintest.Started}, {From: 14, To: 14, Begins: admintest.Started, Ends: admintest.Started.Add(time.Hour)}},
				Skipped: []admin.SkippedChanges{{What: "grants ended", Count: 2}, {What: "keys dropped", Count: 1}},
				NotDone: []string{"key k1 dropped: it is still in use"}, Warnings: []string{"nobody knows"},
			}, nil
		},
	})
	dir := t.TempDir()
	file, damaged, journal := filepath.Join(dir, "backup"), filepath.Join(dir, "damaged"), filepath.Join(dir, "journal")
	require.NoError(t, os.WriteFile(file, []byte("state"), 0o600))
	require.NoError(t, os.WriteFile(damaged, []byte("stat"), 0o600))
	require.NoError(t, os.WriteFile(journal, []byte("lines"), 0o600))

	key := filepath.Join(dir, "key")
	old, err := keys.NewClusterKey(rand.Reader)
	require.NoError(t, err)
	require.NoError(t, old.WriteFile(key))

	c.Fails(ExitLocal, "no such file", "cluster", "backup", "restore", filepath.Join(dir, "none"))
	c.Fails(ExitLocal, "no such file", "cluster", "backup", "restore", file, "--cluster-key-file", filepath.Join(dir, "none"))
	c.Fails(ExitLocal, "not a valid key", "cluster", "backup", "restore", file, "--cluster-key-file", journal)
	c.Fails(ExitLocal, "no such file", "cluster", "backup", "restore", file, "--journal", filepath.Join(dir, "none"))
	require.Empty(t, options)
	c.Fails(ExitRefused, "what happened since is missing", "cluster", "backup", "restore", file)
	c.Fails(ExitRefused, "the file is damaged", "cluster", "backup", "restore", damaged, "--yes")

	r := c.Run("", "cluster", "backup", "restore", file, "--journal", journal, "--dry-run")
	require.Equal(t, ExitRefused, r.Code, "a dry run has the exit code that the restore would have")
	require.Equal(t, ExitOK, c.Run("", "cluster", "backup", "restore", file, "--journal", journal, "--dry-run", "--yes").Code)
	require.Equal(t, "dry run, would be restored: cluster c-1 as of "+formatTimeSeconds(admintest.Started)+", up to command 12\n"+
		"in the backup: clients: 3, users: 2\n"+
		"the journal covers commands 1 to 12, from the beginning to "+formatTimeSeconds(admintest.Started)+"\n"+
		"the journal covers commands 14 to 14, from "+formatTimeSeconds(admintest.Started)+" to "+formatTimeSeconds(admintest.Started.Add(time.Hour))+"\n"+
		"it would change:\n"+
		"  grant g1 is ended\n"+
		"skipped, because it does not exist or was done already: grants ended: 2, keys dropped: 1\n"+
		"nothing is known after "+formatTimeSeconds(admintest.Started.Add(time.Hour))+", where the journal ends: later revocations are undone\n", r.Out)
	require.Equal(t, "not done: key k1 dropped: it is still in use\n"+
		"warning: nobody knows\n"+
		"would be lost with --yes: commands 13 to 13\n"+
		"mintmark: this restore would be refused (--yes restores all the same)\n", r.Err)

	report := c.Object("cluster", "backup", "restore", file, "--yes", "--cluster-key-file", key)
	require.Equal(t, false, report["dry_run"])
	require.Equal(t, []any{"grant g1 is ended"}, report["changes"])
	require.Equal(t, []admin.RestoreOptions{
		{},
		{AcceptGap: true},
		{DryRun: true, Journals: [][]byte{[]byte("lines")}},
		{DryRun: true, AcceptGap: true, Journals: [][]byte{[]byte("lines")}},
		{AcceptGap: true, Keys: []admin.Plain{admin.Plain(old.Text())}},
	}, options)
	c.Fails(ExitRefused, "belongs to a cluster already", "cluster", "backup", "restore", file, "--yes")
}
