package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestShortLifetimesAreConfirmed: a lifetime that would end existing grants or tokens
// needs --yes, since that can't be undone. A wrong unit is an easy mistake.
func TestShortLifetimesAreConfirmed(t *testing.T) {
	c := newCLI(t)
	const testURL = "https://api.example.com"
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = testURL, testURL, testURL
	c.Do(&ledger.Configure{Settings: s})
	before := c.OK("", "settings", "show")
	for set, ends := range map[string]string{
		"grant_absolute=1s":  "every grant whose user chose Allow more than 1s ago would end",
		"refresh_idle=59m":   "every refresh token that was not used for 59m would end",
		"refresh_idle=0d30m": "--yes",
	} {
		c.Fails(ExitLocal, ends, "settings", "set", "code_lifetime=100s", set)
		require.Equal(t, before, c.OK("", "settings", "show"), set)
	}
	require.Regexp(t, `refresh_idle +59m`, c.OK("", "settings", "set", "refresh_idle=59m", "--yes"))

	// Other changes need no confirmation. Durations may be in days.
	require.Regexp(t, `grant_absolute +365d`, c.OK("", "settings", "set", "grant_absolute=365d", "refresh_idle=1d12h"))
	require.Regexp(t, `code_lifetime +30s`, c.OK("", "settings", "set", "code_lifetime=30s"))
	c.Fails(ExitRefused, "must be a duration such as 60s, 12h or 90d", "settings", "set", "grant_absolute=1y", "--yes")
}
