package server

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/endpoint"
)

// TestReadersThatCannotBeRead: the previous list stays in use, and the log has the error
// once.
func TestReadersThatCannotBeRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "feed.secrets")
	line := endpoint.ReaderLine("calendar", "a secret") + "\n"
	require.NoError(t, os.WriteFile(file, []byte(line), 0o600))
	readers, err := OpenReaders(file, func(string) string { return "" })
	require.NoError(t, err)
	before := readers.current.Load()
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	said := func() string {
		text.Reset()
		readers.reload(log)
		readers.reload(log)
		return text.String()
	}
	require.Empty(t, said(), "the file has not changed")
	for name, breaks := range map[string]func() error{
		"half a line": func() error { return os.WriteFile(file, []byte(line+"billing:0123"), 0o600) },
		"nobody":      func() error { return os.WriteFile(file, nil, 0o600) },
		"open to all": func() error { return os.Chmod(file, 0o644) },
		"gone":        func() error { return os.Remove(file) },
		"a folder": func() error {
			if err := os.Remove(file); err != nil {
				return err
			}
			return os.Mkdir(file, 0o700)
		},
	} {
		require.NoError(t, breaks(), name)
		log := said()
		require.Equal(t, 1, strings.Count(log, "level=ERROR"), "%s: %s", name, log)
		require.Equal(t, 1, strings.Count(log, "\n"), name)
		require.NotContains(t, log, "0123")
		require.Same(t, before, readers.current.Load(), name)
		require.NoError(t, os.RemoveAll(file))
		require.NoError(t, os.WriteFile(file, []byte(line), 0o600))
		require.Equal(t, 1, strings.Count(said(), "servers reloaded"), name)
		require.NotSame(t, before, readers.current.Load())
		before = readers.current.Load()
	}
}
