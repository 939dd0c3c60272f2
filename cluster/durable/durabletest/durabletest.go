// Package durabletest shows tests what is synced to disk. It does not lose power.
package durabletest

import (
	"os"
	"testing"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// Folder stands for a folder in what Syncs records.
const Folder = "folder"

// Syncs records what is synced from here on to the end of the test: Folder, or the
// content of a file. Nothing else may sync meanwhile.
func Syncs(t testing.TB) *[]string {
	var all []string
	see := func(f *os.File) {
		info, err := f.Stat()
		if err != nil {
			t.Error(err)
			return
		}
		if info.IsDir() {
			all = append(all, Folder)
			return
		}
		content, err := os.ReadFile(f.Name())
		if err != nil {
			t.Error(err)
		}
		all = append(all, string(content))
	}
	durable.Observer.Store(&see)
	t.Cleanup(func() { durable.Observer.Store(nil) })
	return &all
}
