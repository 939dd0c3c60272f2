package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func TestDurations(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"90d": 90 * day, "1d12h": 36 * time.Hour, "0d": 0, "60s": time.Minute, "720h": 30 * day, "106751d": 106751 * day,
	} {
		got, err := admin.ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "1d-1h", "1dd", "12h1d", "1 d", "106752d", "106751d24h", "99999999999999999999d", "1d1"} {
		_, err := admin.ParseDuration(text)
		require.Error(t, err, text)
	}
}

// TestFormatDuration: ParseDuration reads every text that FormatDuration writes.
func TestFormatDuration(t *testing.T) {
	const day = 24 * time.Hour
	for want, d := range map[string]time.Duration{
		"30d": 720 * time.Hour, "1d12h": 36 * time.Hour, "90d": 90 * day, "1d1m": day + time.Minute, "2d3h4m5s": 2*day + 3*time.Hour + 4*time.Minute + 5*time.Second,
		"12h": 12 * time.Hour, "5m": 5 * time.Minute, "1m30s": 90 * time.Second, "59m": 59 * time.Minute, "10s": 10 * time.Second, "500ms": 500 * time.Millisecond, "0s": 0,
		"1h0m5s": time.Hour + 5*time.Second, "20h": 20 * time.Hour, "-1h": -time.Hour,
	} {
		require.Equal(t, want, admin.FormatDuration(d))
		if d >= 0 {
			back, err := admin.ParseDuration(want)
			require.NoError(t, err, want)
			require.Equal(t, d, back, want)
		}
	}
}
