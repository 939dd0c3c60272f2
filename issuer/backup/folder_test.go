package backup_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/keys"
)

// A nodeFolder is a Folder with a clock and the key of its files.
type nodeFolder struct {
	t testing.TB
	backup.Folder
	key   keys.ClusterKey
	taken time.Time
	seq   uint64

	timelines []backup.Timeline
}

func newNodeFolder(t testing.TB, dir, node string) *nodeFolder {
	return &nodeFolder{t: t, Folder: backup.Folder{Dir: dir, Node: node}, key: fixedKey(t), taken: header().Taken}
}

func (f *nodeFolder) write(w io.Writer) error {
	f.seq++
	h := header()
	h.Node, h.Taken, h.Seq, h.Timelines = f.Node, f.taken, f.seq, f.timelines
	return backup.Write(w, h, sealer(f.key, rand.Reader), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "state %d", f.seq)
		return err
	})
}

func (f *nodeFolder) verify(r io.Reader) (backup.Header, error) {
	h, _, err := read(f.key, r)
	return h, err
}

func (f *nodeFolder) create() string {
	f.t.Helper()
	name, err := f.Create(f.write, f.verify)
	require.NoError(f.t, err)
	return name
}

func (f *nodeFolder) good(name string) bool {
	data, err := os.ReadFile(filepath.Join(f.Dir, name))
	if err != nil {
		return false
	}
	_, err = f.verify(bytes.NewReader(data))
	return err == nil
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "backups")
	f := newNodeFolder(t, dir, "n1")
	_, err := f.Create(f.write, f.verify)
	require.ErrorIs(t, err, os.ErrNotExist, "a folder that was lost is not made silently")
	require.NoError(t, f.Make())
	require.NoError(t, f.Make())
	first := f.create()
	require.Equal(t, "mintmark-n1-000001-20261103T040506Z.backup", first)
	f.taken = f.taken.Add(-time.Hour) // the number in the name determines the order, not the clock
	second := f.create()
	require.Equal(t, "mintmark-n1-000002-20261103T030506Z.backup", second)
	removed, err := f.Prune(1, second)
	require.NoError(t, err)
	require.Equal(t, []string{first}, removed)
	require.Equal(t, []string{second}, names(t, dir))
	removed, err = f.Prune(0, second)
	require.NoError(t, err)
	require.Empty(t, removed)
	_, err = f.Prune(1, first)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.True(t, f.good(second))
	require.Error(t, backup.Folder{Dir: filepath.Join(dir, "no", "parent"), Node: "n1"}.Make())
}

// TestFolderIsShared: files of other nodes and of operators are never removed, even if
// their names look like this node's.
func TestFolderIsShared(t *testing.T) {
	dir := t.TempDir()
	n1, n2, dotted := newNodeFolder(t, dir, "n1"), newNodeFolder(t, dir, "n1-000001"), newNodeFolder(t, dir, "n1.x")
	foreign := []string{n2.create(), n2.create(), dotted.create()}
	for name, text := range map[string]string{
		"mintmark-n1-000000-20200101T000000Z.backup":              "an operator's note",
		"mintmark-n1-000001.backup":                               "x",
		"mintmark-n1-9223372036854775807-20200101T000000Z.backup": "a number that nothing can follow",
		"mintmark-n1-000001-20200101T000000Z.backup~":             "x",
		".mintmark-n1.123.tmp":                                    "of a hand-made backup named mintmark-n1",
		".mintmark-n2.scheduled.1.tmp":                            "of another node",
		"state.backup":                                            "x",
		".mintmark-n1.scheduled.an operator's own.tmp":            "x",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		foreign = append(foreign, name)
	}
	data, err := os.ReadFile(filepath.Join(dir, foreign[0])) // a backup of another node, renamed
	require.NoError(t, err)
	renamed := "mintmark-n1-000002-20261103T040506Z.backup"
	require.NoError(t, os.WriteFile(filepath.Join(dir, renamed), data, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "mintmark-n1-000003-20261103T040506Z.backup"), 0o700))
	partial := ".mintmark-n1.scheduled.456.tmp"
	require.NoError(t, os.WriteFile(filepath.Join(dir, partial), []byte("half"), 0o600))
	foreign = append(foreign, renamed, "mintmark-n1-000003-20261103T040506Z.backup")

	removed, err := n1.RemovePartial()
	require.NoError(t, err)
	require.Equal(t, []string{partial}, removed)
	var last string
	for range 5 {
		last = n1.create()
		_, err = n1.Prune(1, last)
		require.NoError(t, err)
	}
	left := names(t, dir)
	for _, name := range append(foreign, last) {
		require.Contains(t, left, name)
	}
	require.Len(t, left, len(foreign)+1)
}

// TestFolderKeepsOtherTimelines: backups from before a restore are kept, and backups
// after it are counted separately.
func TestFolderKeepsOtherTimelines(t *testing.T) {
	dir := t.TempDir()
	f := newNodeFolder(t, dir, "n1")
	var before []string
	f.timelines = []backup.Timeline{{ID: "first", From: 1}}
	for range 3 {
		before = append(before, f.create())
	}
	f.timelines = append(f.timelines, backup.Timeline{ID: "second", From: 3})
	var after []string
	for range 4 {
		after = append(after, f.create())
		_, err := f.Prune(2, after[len(after)-1])
		require.NoError(t, err)
	}
	require.ElementsMatch(t, append(before, after[2:]...), names(t, dir))
}

// TestFolderKeepsTheLastGoodBackup plays random sequences of backups that succeed, fail
// and crash at each point, with files that are damaged later. The last verified backup
// exists at every moment.
func TestFolderKeepsTheLastGoodBackup(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		require.NoError(r, err)
		f := newNodeFolder(t, dir, "n1")
		require.NoError(r, os.WriteFile(filepath.Join(dir, "mintmark-n2-000001-20261103T040506Z.backup"), nil, 0o600))
		var good []string // in order
		full := errors.New("no space left on device")
		type image map[string][]byte
		take := func() image {
			files := image{}
			for _, name := range names(t, dir) {
				files[name], err = os.ReadFile(filepath.Join(dir, name))
				require.NoError(r, err)
			}
			return files
		}
		crash := func(at image) { // the folder is as it was when the power failed
			for _, name := range names(t, dir) {
				require.NoError(r, os.Remove(filepath.Join(dir, name)))
			}
			for name, data := range at {
				require.NoError(r, os.WriteFile(filepath.Join(dir, name), data, 0o600))
			}
		}
		half := func(w io.Writer) error {
			var b bytes.Buffer
			_ = f.write(&b)
			_, _ = w.Write(b.Bytes()[:b.Len()/2])
			return full
		}
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			f.taken = f.taken.Add(time.Duration(rapid.IntRange(-3, 5).Draw(r, "hours")) * time.Hour)
			keep := rapid.IntRange(1, 4).Draw(r, "keep")
			switch step := rapid.SampledFrom([]string{
				"success", "success", "success", "full", "not verified", "crash writing", "crash verified", "crash named", "crash pruning", "start",
			}).Draw(r, "step"); step {
			case "success":
				last := f.create()
				good = append(good, last)
				removed, err := f.Prune(keep, last)
				require.NoError(r, err)
				for _, name := range removed {
					require.Contains(r, good, name)
				}
				list, err := f.List()
				require.NoError(r, err)
				require.LessOrEqual(r, len(list), keep)
			case "full":
				_, err := f.Create(half, f.verify)
				require.ErrorIs(r, err, full)
			case "not verified":
				_, err := f.Create(f.write, func(io.Reader) (backup.Header, error) { return backup.Header{}, backup.ErrDamaged })
				require.ErrorIs(r, err, backup.ErrDamaged)
			case "crash writing":
				var at image
				_, _ = f.Create(func(w io.Writer) error { err := half(w); at = take(); return err }, f.verify)
				crash(at)
			case "crash verified":
				var at image
				_, err := f.Create(f.write, func(r io.Reader) (backup.Header, error) {
					h, err := f.verify(r)
					at = take()
					return h, err
				})
				require.NoError(r, err)
				crash(at)
			case "crash named": // between the link and the removal of the temporary name
				name := f.create()
				good = append(good, name)
				data, err := os.ReadFile(filepath.Join(dir, name))
				require.NoError(r, err)
				require.NoError(r, os.WriteFile(filepath.Join(dir, ".mintmark-n1.scheduled.77.tmp"), data, 0o600))
			case "crash pruning": // only the name of an older backup was removed
				name := f.create()
				good = append(good, name)
				if list, err := f.List(); err == nil && len(list) > 1 {
					require.NoError(r, os.Remove(filepath.Join(dir, list[0].Name)))
				}
			case "start":
				_, err := f.RemovePartial()
				require.NoError(r, err)
				for _, name := range names(t, dir) {
					require.NotContains(r, name, ".tmp")
				}
			}
			if len(good) > 0 {
				last := good[len(good)-1]
				require.True(r, f.good(last), "the last good backup is gone")
			}
			list, err := f.List()
			require.NoError(r, err)
			for _, s := range list {
				require.True(r, f.good(s.Name), "a file that was not verified has the name of a backup")
				require.True(r, slices.Contains(good, s.Name))
			}
			require.FileExists(r, filepath.Join(dir, "mintmark-n2-000001-20261103T040506Z.backup"))
		}
	})
}
