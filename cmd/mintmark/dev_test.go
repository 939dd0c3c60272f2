package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestAddresses: what is given on the command line against what the data was
// made for.
func TestAddresses(t *testing.T) {
	f, err := parseFixtures("none", []byte("users: []"))
	require.NoError(t, err)
	made := func(base, app string) ledger.Settings {
		s := ledger.DefaultSettings()
		s.BaseURL, s.AppURL, s.Audience = base, app, base
		return s
	}
	const public, app, local = "https://api.example.com", "https://app.example.com", "http://127.0.0.1:8080"
	for name, row := range map[string]struct {
		flags     devOptions
		data      ledger.Settings
		listening string
		base, app string
		refused   string
	}{
		"new":                      {devOptions{}, ledger.DefaultSettings(), "127.0.0.1:8080", local, local, ""},
		"new, everywhere":          {devOptions{}, ledger.DefaultSettings(), "[::]:8080", "http://localhost:8080", "http://localhost:8080", ""},
		"new, public":              {devOptions{publicURL: public, appURL: app}, ledger.DefaultSettings(), "127.0.0.1:8080", public, app, ""},
		"again":                    {devOptions{}, made(local, local), "127.0.0.1:8080", local, local, ""},
		"another port":             {devOptions{}, made(local, local), "127.0.0.1:9", "http://127.0.0.1:9", "http://127.0.0.1:9", ""},
		"public, flag left out":    {devOptions{}, made(public, app), "127.0.0.1:8080", public, app, ""},
		"public, the same":         {devOptions{publicURL: public, appURL: app}, made(public, app), "127.0.0.1:9", public, app, ""},
		"another public URL":       {devOptions{publicURL: "https://other.example"}, made(public, app), "127.0.0.1:9", "", "", "--public-url"},
		"another app URL":          {devOptions{appURL: "https://other.example"}, made(public, app), "127.0.0.1:9", "", "", "--app-url"},
		"public after a local one": {devOptions{publicURL: public}, made(local, local), "127.0.0.1:9", "", "", "--public-url"},
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
