package main

import (
	"bytes"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/endpoint"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestReadersOfARunningNode: who is added may read without a restart, and who is
// taken off the list may not.
func TestReadersOfARunningNode(t *testing.T) {
	ts, file, secret := feedServer(t)
	status := func(name, secret string) int {
		return ts.request(http.MethodGet, oauth.PathRevocations, "", "Authorization", basicAuth(name, secret)).Status
	}
	require.Equal(t, http.StatusOK, status("calendar", secret))
	two := basicAuth("calendar", secret)
	require.Equal(t, http.StatusUnauthorized,
		ts.request(http.MethodGet, oauth.PathRevocations, "", "Authorization", two, "Authorization", two).Status, "a program in front may have read the other")
	r := commandLine(t, "feed", "add", "billing", "--file", file)
	require.Zero(t, r.code, r.err)
	require.Contains(t, r.err, "in some seconds")
	added := strings.TrimSpace(r.out)
	require.Eventually(t, func() bool { return status("billing", added) == http.StatusOK }, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, http.StatusOK, status("calendar", secret))

	another := filepath.Join(filepath.Dir(file), "another") // as an editor, or whoever mounts secrets, does
	require.NoError(t, os.WriteFile(another, []byte(endpoint.ReaderLine("billing", added)+"\n"), 0o600))
	require.NoError(t, os.Rename(another, file))
	require.Eventually(t, func() bool { return status("calendar", secret) == http.StatusUnauthorized }, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, http.StatusOK, status("billing", added))
}

// TestReadersThatCannotBeRead: the list from before stays, and the log says so
// once.
func TestReadersThatCannotBeRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "feed.secrets")
	line := endpoint.ReaderLine("calendar", "a secret") + "\n"
	require.NoError(t, os.WriteFile(file, []byte(line), 0o600))
	readers, err := openReadersFile(file, func(string) string { return "" })
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
	require.Empty(t, said(), "it has not changed")
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
		require.Equal(t, 1, strings.Count(said(), "read again"), name)
		require.NotSame(t, before, readers.current.Load())
		before = readers.current.Load()
	}
}
