// Package durabletest records for tests what package durable syncs to disk. It does
// not simulate a loss of power.
package durabletest

import (
	"os"
	"testing"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// Folder is what Syncs records for a folder.
const Folder = "folder"

// Syncs records each sync until the end of the test, in order: the content of the
// file, or Folder. The observer is global, so nothing else may sync meanwhile.
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
