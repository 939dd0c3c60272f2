package dev

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
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

// TestListenIsChecked: an address that no listener can have is refused in the words of "serve".
func TestListenIsChecked(t *testing.T) {
	for _, address := range []string{"nonsense", "127.0.0.1:99999"} {
		_, err := Options{Listen: address, OpsListen: "127.0.0.1:0"}.Config(io.Discard)
		require.EqualError(t, err, `--listen: expected HOST:PORT or :PORT, with a port from 0 to 65535, got "`+address+`"`)
		_, err = Options{Listen: "127.0.0.1:0", OpsListen: address}.Config(io.Discard)
		require.ErrorContains(t, err, "--ops-listen: expected HOST:PORT")
	}
}

// TestReadySteps: the printed steps can be followed as they stand: a step before sets each
// variable, and commands are of the program that runs.
func TestReadySteps(t *testing.T) {
	var text bytes.Buffer
	s := &server.Server{Settings: ledger.Settings{BaseURL: "http://127.0.0.1:8080", AppURL: "http://127.0.0.1:8080"}, OpsAddr: &net.TCPAddr{}}
	printReady(&text, s, Options{})
	require.Contains(t, text.String(), ": "+os.Args[0]+" demo token --issuer http://127.0.0.1:8080\n")
	uses := regexp.MustCompile(`\$([A-Z]+)`).FindAllStringSubmatchIndex(text.String(), -1)
	require.Len(t, uses, 2)
	for _, at := range uses {
		require.Contains(t, text.String()[:at[0]], " "+text.String()[at[2]:at[3]]+"=")
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
	o := Options{Listen: "10.0.0.1:8080", OpsListen: "127.0.0.1:0", Fixtures: file}
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
