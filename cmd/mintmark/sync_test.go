package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/durable/durabletest"
)

// A mark is on disk when the call returns: a power cut must not leave the users of
// mintmark dev without theirs. So is a resource server's secret, which is shown once.
func TestMarksAreOnDisk(t *testing.T) {
	s := &server{config: serverConfig{DataDir: t.TempDir()}}
	for _, row := range []struct {
		name string
		do   func() error
		want []string
	}{
		{"mintmark dev", s.markDev, []string{"", durabletest.Folder}},
		{
			"a reader of the feed",
			func() error { return appendLine(filepath.Join(s.config.DataDir, "readers"), "calendar:00") },
			[]string{"calendar:00\n"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			all := durabletest.Syncs(t)
			require.NoError(t, row.do())
			require.Equal(t, row.want, *all)
		})
	}
}
