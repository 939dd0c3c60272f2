package config

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLogOfADuration: a duration is logged with its unit in every format, also in groups
// and by libraries.
func TestLogOfADuration(t *testing.T) {
	for format, want := range map[string][]string{
		LogText: {" took=2.562s", " raft.after=1m30s"},
		LogJSON: {`"took":"2.562s"`, `"raft":{"after":"1m30s"}`},
	} {
		o := Default()
		o.LogFormat = format
		var text bytes.Buffer
		o.Logger(&text).Info("outage ended", "took", 2562*time.Millisecond,
			slog.Group("raft", "after", 90*time.Second))
		for _, part := range want {
			require.Contains(t, text.String(), part)
		}
	}
}
