package main

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	plainURL   = "http://auth.example.com"
	plainTold  = "serving plain http outside the loopback"
	wantsHTTPS = "https outside the loopback"
)

// TestPlainHTTPIsAccepted by an operator or by nobody, in each way in which a
// cluster gets its addresses, and each start warns of it.
func TestPlainHTTPIsAccepted(t *testing.T) {
	logged := func(c serverConfig) (serverConfig, *bytes.Buffer) {
		log := new(bytes.Buffer)
		c.Log = slog.New(slog.NewJSONHandler(log, nil))
		return c, log
	}
	t.Run("by init", func(t *testing.T) {
		dir := t.TempDir()
		c, log := logged(serveConfig(t, dir))
		b := startServer(t, c)
		b.requireStatus(noCluster)
		cli := &cliEnv{t: t, dir: dir}
		cli.fails(exitRefused, "--plain-http accepts that", "cluster", "init", "--public-url", plainURL)
		cli.fails(exitRefused, "app_url must be an https address", "cluster", "init", "--public-url", hereURL, "--app-url", plainURL)
		require.NoFileExists(t, filepath.Join(dir, "cluster.key"), "nothing was made")
		r := cli.run("", "cluster", "init", "--public-url", plainURL, "--plain-http")
		require.Equal(t, exitOK, r.code, r.err)
		require.Contains(t, r.out+r.err, "can be read and changed on the way")
		require.NoError(t, <-b.done)
		require.Regexp(t, `plain_http +true`, cli.ok("", "settings", "show"))
		cli.fails(exitRefused, "for good", "settings", "set", "plain_http=false")
		// What does not concern the addresses can still be changed.
		cli.ok("", "settings", "set", "code_lifetime=100s")
		b.close()
		require.Contains(t, log.String(), plainTold)

		c, log = logged(serveConfig(t, dir))
		b = startServer(t, c)
		require.NoError(t, <-b.done)
		b.close()
		require.Contains(t, log.String(), plainTold, "the second start warns, too")
	})

	t.Run("by generate", func(t *testing.T) {
		dir := t.TempDir()
		r := commandLine(t, "cluster", "generate", "--public-url", plainURL, "--out", filepath.Join(dir, "out"),
			"--node", "n1=a:1", "--node", "n2=b:1", "--node", "n3=c:1")
		require.Equal(t, exitLocal, r.code)
		require.Contains(t, r.err, wantsHTTPS)
		r = commandLine(t, "cluster", "generate", "--public-url", plainURL, "--out", filepath.Join(dir, "out"), "--plain-http",
			"--node", "n1=a:1", "--node", "n2=b:1", "--node", "n3=c:1")
		require.Equal(t, exitOK, r.code, r.err)
		text, err := os.ReadFile(filepath.Join(dir, "out", "n1", "config.yaml"))
		require.NoError(t, err)
		require.Contains(t, string(text), "\nplain-http: true\n")
	})

	t.Run("by the command that writes settings", func(t *testing.T) {
		ts := newTestServer(t)
		s := *ts.s.issuer.View().Settings()
		s.BaseURL = plainURL
		refused := ts.propose(&ledger.Configure{Settings: s}).Refusal
		require.NotNil(t, refused)
		require.Equal(t, "base_url", refused.Field)
		s.PlainHTTP = true
		require.Nil(t, ts.propose(&ledger.Configure{Settings: s}).Refusal)
	})

	t.Run("by dev", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "fixtures.yaml")
		require.NoError(t, os.WriteFile(file, []byte("users: []\n"), 0o600))
		o := devOptions{listen: "10.0.0.1:8080", fixtures: file}
		for _, accepted := range []bool{false, true} {
			o.plainHTTP = accepted
			c, err := o.server(io.Discard)
			require.NoError(t, err)
			s, err := c.Settings(ledger.DefaultSettings(), o.listen)
			if !accepted {
				require.ErrorContains(t, err, wantsHTTPS)
				continue
			}
			require.NoError(t, err)
			require.True(t, s.PlainHTTP)
		}
	})
}
