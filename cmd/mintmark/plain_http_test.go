package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	plainURL   = "http://auth.example.com"
	plainTold  = "plain http accepted outside the loopback"
	wantsHTTPS = "https outside the loopback"
)

// TestPlainHTTPIsAccepted: plain http addresses must be accepted explicitly by an
// operator, in each way in which a cluster gets its addresses. Each start logs a warning.
func TestPlainHTTPIsAccepted(t *testing.T) {
	t.Parallel()
	logged := func(c server.Config) (server.Config, *bytes.Buffer) {
		log := new(bytes.Buffer)
		c.Log = slog.New(slog.NewJSONHandler(log, nil))
		return c, log
	}
	t.Run("by init", func(t *testing.T) {
		dir := t.TempDir()
		c, log := logged(serveConfig(t, dir))
		b := startServer(t, c)
		b.requireStatus(noCluster)
		operator := operatorOf(t, dir)
		operator.Fails(cli.ExitRefused, "--plain-http accepts that", "cluster", "init", "--public-url", plainURL)
		operator.Fails(cli.ExitRefused, "--app-url \""+plainURL+"\" must be an https address", "cluster", "init", "--public-url", hereURL, "--app-url", plainURL)
		require.NoFileExists(t, filepath.Join(dir, "cluster.key"), "a refused init creates nothing")
		r := operator.Run("", "cluster", "init", "--public-url", plainURL, "--plain-http")
		require.Equal(t, cli.ExitOK, r.Code, r.Err)
		require.Contains(t, r.Out+r.Err, "can be read and changed on the way")
		require.NoError(t, <-b.done)
		require.Regexp(t, `plain_http +true`, operator.OK("", "settings", "show"))
		operator.Fails(cli.ExitRefused, "for good", "settings", "set", "plain_http=false")
		// Settings other than the addresses can still be changed.
		operator.OK("", "settings", "set", "code_lifetime=100s")
		b.close()
		require.Contains(t, log.String(), plainTold)

		c, log = logged(serveConfig(t, dir))
		b = startServer(t, c)
		require.NoError(t, <-b.done)
		b.close()
		require.Contains(t, log.String(), plainTold, "each start logs the warning")
	})

	t.Run("by generate", func(t *testing.T) {
		dir := t.TempDir()
		r := commandLine(t, "cluster", "generate", "--public-url", plainURL, "--out", filepath.Join(dir, "out"),
			"--node", "n1=a:1", "--node", "n2=b:1", "--node", "n3=c:1")
		require.Equal(t, cli.ExitLocal, r.Code)
		require.Contains(t, r.Err, wantsHTTPS)
		r = commandLine(t, "cluster", "generate", "--public-url", plainURL, "--out", filepath.Join(dir, "out"), "--plain-http",
			"--node", "n1=a:1", "--node", "n2=b:1", "--node", "n3=c:1")
		require.Equal(t, cli.ExitOK, r.Code, r.Err)
		text, err := os.ReadFile(filepath.Join(dir, "out", "n1", "config.yaml"))
		require.NoError(t, err)
		require.Contains(t, string(text), "\nplain-http: true\n")
	})

	t.Run("by the command that writes settings", func(t *testing.T) {
		ts := newTestServer(t)
		s := *ts.s.Issuer.View().Settings()
		s.BaseURL = plainURL
		refused := ts.propose(&ledger.Configure{Settings: s}).Refusal
		require.NotNil(t, refused)
		require.Equal(t, "base_url", refused.Field)
		s.PlainHTTP = true
		require.Nil(t, ts.propose(&ledger.Configure{Settings: s}).Refusal)
	})
}
