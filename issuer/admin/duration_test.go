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
