package dev

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestAddresses: the URLs are those of the flags, of existing data, or of the listener.
// Flags that contradict existing data are refused.
func TestAddresses(t *testing.T) {
	f, err := ParseFixtures("none", []byte("users: []"))
	require.NoError(t, err)
	made := func(base, app string) ledger.Settings {
		s := ledger.DefaultSettings()
		s.BaseURL, s.AppURL, s.Audience = base, app, base
		return s
	}
	const public, app, local = "https://api.example.com", "https://app.example.com", "http://127.0.0.1:8080"
	for name, row := range map[string]struct {
		flags     Options
		data      ledger.Settings
		listening string
		base, app string
		refused   string
	}{
		"new":                      {Options{}, ledger.DefaultSettings(), "127.0.0.1:8080", local, local, ""},
		"new, everywhere":          {Options{}, ledger.DefaultSettings(), "[::]:8080", "http://localhost:8080", "http://localhost:8080", ""},
		"new, public":              {Options{PublicURL: public, AppURL: app}, ledger.DefaultSettings(), "127.0.0.1:8080", public, app, ""},
		"again":                    {Options{}, made(local, local), "127.0.0.1:8080", local, local, ""},
		"another port":             {Options{}, made(local, local), "127.0.0.1:9", "http://127.0.0.1:9", "http://127.0.0.1:9", ""},
		"public, flag left out":    {Options{}, made(public, app), "127.0.0.1:8080", public, app, ""},
		"public, the same":         {Options{PublicURL: public, AppURL: app}, made(public, app), "127.0.0.1:9", public, app, ""},
		"another public URL":       {Options{PublicURL: "https://other.example"}, made(public, app), "127.0.0.1:9", "", "", "--public-url"},
		"another app URL":          {Options{AppURL: "https://other.example"}, made(public, app), "127.0.0.1:9", "", "", "--app-url"},
		"public after a local one": {Options{PublicURL: public}, made(local, local), "127.0.0.1:9", "", "", "--public-url"},
	} {
		s, err := row.flags.settings(row.data, f, row.listening)
		if row.refused != "" {
			require.ErrorContains(t, err, row.refused, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, []string{row.base, row.app, row.base}, []string{s.BaseURL, s.AppURL, s.Audience}, name)
	}
}

func TestDemoStaysOnTheLoopback(t *testing.T) {
	for _, o := range []Options{
		{Listen: "0.0.0.0:8080"},
		{Listen: "127.0.0.1:8080", PublicURL: "https://auth.example.com"},
		{Listen: "127.0.0.1:8080", AppURL: "https://app.example.com"},
	} {
		o.OpsListen = "127.0.0.1:0"
		_, err := o.Config(io.Discard)
		require.ErrorContains(t, err, "--fixtures")
	}
}

// TestDemoOnPort80: port 80 is refused, since the redirect URI of the demo would then
// have the same origin as the server.
func TestDemoOnPort80(t *testing.T) {
	_, err := Options{Listen: "127.0.0.1:80", OpsListen: "127.0.0.1:0"}.Config(io.Discard)
	require.ErrorContains(t, err, "--listen: port 80")
}

// TestPlainHTTPNeedsAWord: outside the loopback, plain http needs --plain-http, as for
// "mintmark serve".
func TestPlainHTTPNeedsAWord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fixtures.yaml")
	require.NoError(t, os.WriteFile(file, []byte("users: []\n"), 0o600))
	o := Options{Listen: "10.0.0.1:8080", Fixtures: file}
	for _, accepted := range []bool{false, true} {
		o.PlainHTTP = accepted
		c, err := o.Config(io.Discard)
		require.NoError(t, err)
		s, err := c.Settings(ledger.DefaultSettings(), o.Listen)
		if !accepted {
			require.ErrorContains(t, err, "https outside the loopback")
			continue
		}
		require.NoError(t, err)
		require.True(t, s.PlainHTTP)
	}
}
