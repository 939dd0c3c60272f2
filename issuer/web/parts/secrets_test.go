package parts_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
)

// TestRecently verifies the warning that a secret is still in use.
func TestRecently(t *testing.T) {
	now := ledger.Time(time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC).UnixMilli())
	for ago, says := range map[time.Duration]string{
		0: "a moment ago", 119 * time.Second: "a moment ago", 2 * time.Minute: "2 minutes ago", 59 * time.Minute: "59 minutes ago",
		time.Hour: "1 hour ago", 23 * time.Hour: "23 hours ago", 24 * time.Hour: "1 day ago", 6 * 24 * time.Hour: "6 days ago",
		7 * 24 * time.Hour: "",
	} {
		assert.Equal(t, says, parts.Recently(now, now.Add(-ago)), ago)
	}
	assert.Empty(t, parts.Recently(now, 0), "never")
}
