package chaos

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// A patch changes one file of the program for a build; the checkout stays unchanged.
type patch struct {
	file string // below the root of the checkout
	old  string // occurs in the file exactly once; "" adds or replaces the whole file
	new  string
}

// hooks manipulate a running node's disk and clock, and where it fetches documents from. The program has no such hooks of its
// own. A new cluster has the shortest allowed time for which verifiers cache the key set,
// since a new key waits for twice that time: if it were set later, new keys would wait
// for the longer time announced before.
func hooks(t testing.TB) []patch {
	t.Helper()
	return []patch{
		{file: "cluster/durable/chaos_fault.go", new: overlayText(t, "fault")},
		{file: "cluster/store/chaos_disk.go", new: overlayText(t, "disk")},
		{file: "cluster/store/snapshots.go", old: "\treturn f, nil\n", new: "\treturn tampered(f, dir, name)\n"},
		{file: "issuer/ledger/settings.go", old: "5 * time.Minute,\n\t\tRotateEvery", new: "time.Second,\n\t\tRotateEvery"},
		{
			file: "cluster/watchdog/disk_folder.go",
			old:  "func (d *DiskFolder) Probe() (err error) {\n",
			new:  "func (d *DiskFolder) Probe() (err error) {\n\tif err := durable.DiskFault(); err != nil {\n\t\treturn err\n\t}\n",
		},
		{
			file: "cluster/watchdog/disk_folder.go",
			old:  "\t\"path/filepath\"\n",
			new:  "\t\"path/filepath\"\n\n\t\"github.com/mintmark-auth/mintmark/cluster/durable\"\n",
		},
		{file: "cmd/mintmark/internal/server/clock.go", old: "return time.Now()", new: "return movedClock()"},
		{file: "cmd/mintmark/internal/server/chaos_clock.go", new: overlayText(t, "clock")},
		{file: "issuer/clientdoc/chaos_publisher.go", new: overlayText(t, "publisher")},
		{file: "issuer/clientdoc/fetch.go", old: "dial = guarded().DialContext", new: "dial = publisherDial(guarded().DialContext)"},
		{file: "issuer/clientdoc/fetch.go", old: "RootCAs: c.RootCAs,", new: "RootCAs: publisherRoots(c.RootCAs),"},
	}
}

func overlayText(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "overlay", name+".go.txt"))
	require.NoError(t, err)
	return string(text)
}

// built are the binaries of this run, by their patches.
var built = struct {
	sync.Mutex
	paths map[string]string
}{paths: map[string]string{}}

// build makes the program with the hooks and the given patches, once.
func build(t testing.TB, patches ...patch) string {
	t.Helper()
	patches = append(hooks(t), patches...)
	key := fmt.Sprint(patches)
	built.Lock()
	defer built.Unlock()
	if path, ok := built.paths[key]; ok {
		return path
	}
	dir, err := os.MkdirTemp(scratch, "build-")
	require.NoError(t, err)
	path := filepath.Join(dir, "mintmark")
	require.NoError(t, testkit.GoBuild(root, "-overlay", overlay(t, dir, patches), "-o", path, "./cmd/mintmark"))
	built.paths[key] = path
	return path
}

// overlay writes the patched files and the list for "go build". Several patches may
// change one file.
func overlay(t testing.TB, dir string, patches []patch) string {
	t.Helper()
	text := map[string]string{}
	for _, p := range patches {
		if p.old == "" {
			text[p.file] = p.new
			continue
		}
		if _, ok := text[p.file]; !ok {
			b, err := os.ReadFile(filepath.Join(root, p.file))
			require.NoError(t, err)
			text[p.file] = string(b)
		}
		require.Equal(t, 1, strings.Count(text[p.file], p.old), "%q in %s: the patch must follow the program", p.old, p.file)
		text[p.file] = strings.Replace(text[p.file], p.old, p.new, 1)
	}
	replace := map[string]string{}
	for file, content := range text {
		changed := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		require.NoError(t, os.WriteFile(changed, []byte(content), 0o600))
		replace[filepath.Join(root, file)] = changed
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	path := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(path, list, 0o600))
	return path
}
