package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
)

// TestCodesOfAnOutage: the exit code is 3 if the named object does not exist and 5 if
// there is no majority, for every kind of object.
func TestCodesOfAnOutage(t *testing.T) {
	first := newCluster(t, "n1")
	for _, args := range [][]string{
		{"cluster", "remove", "n9", "--yes"},
		{"cluster", "transfer-leader", "--to", "n9"},
		{"cluster", "replace", "n9", "--name", "n10"},
		{"keys", "rotate", "--emergency", "sig-none"},
	} {
		r := first.operate(t, args...)
		require.Equal(t, cli.ExitNotFound, r.Code, "%v: %s", args, r.Err)
		require.Regexp(t, "no node n9|no key sig-none", r.Err)
	}
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(first.invite(t, "n2")), 0o600))
	second := newNode(t, "n2")
	second.launch(t, "--join", first.Raft, "--token-file", file)
	require.Eventually(t, func() bool {
		return regexp.MustCompile(`n2 +voter`).MatchString(first.operate(t, "cluster", "status").Out)
	}, 30*time.Second, 50*time.Millisecond)
	second.Kill()
	require.Eventually(t, func() bool { // the leader steps down when it does not hear from a majority
		r := first.operate(t, "cluster", "remove", "n2", "--yes")
		return r.Code == cli.ExitUnhealthy && regexp.MustCompile("only 1 of 2 voters can be reached").MatchString(r.Err)
	}, 30*time.Second, 50*time.Millisecond)
}

// TestDocumentedProxyNoticesInTime: requests that reach a stopped node are lost, so the
// documented health check must notice the stop before the listener closes.
func TestDocumentedProxyNoticesInTime(t *testing.T) {
	text, err := os.ReadFile("docs/tls.md")
	require.NoError(t, err)
	found := regexp.MustCompile(`health_interval (\S+)`).FindSubmatch(text)
	require.NotNil(t, found)
	interval, err := time.ParseDuration(string(found[1]))
	require.NoError(t, err)
	require.Less(t, interval, config.Default().Drain/2)
}
