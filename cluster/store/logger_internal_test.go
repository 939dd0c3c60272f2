package store

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLoggerRenamesKeys: raft's keys that every slog line has are renamed. Raft logs the
// time since its last contact with a peer as "time".
func TestLoggerRenamesKeys(t *testing.T) {
	var text bytes.Buffer
	log := NewLogger(slog.New(slog.NewJSONHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})))
	args := []any{"server-id", "n2", "time", "1.5s"}
	log.With("level", "a").Warn("failed to contact", args...)
	for _, key := range []string{slog.TimeKey, slog.LevelKey} {
		require.Equal(t, 1, bytes.Count(text.Bytes(), []byte(`"`+key+`":`)), text.String())
	}
	var line map[string]any
	require.NoError(t, json.Unmarshal(text.Bytes(), &line))
	require.Equal(t, "1.5s", line["raft_time"])
	require.Equal(t, "a", line["raft_level"])
	require.Equal(t, "n2", line["server-id"])
	require.Equal(t, "time", args[2], "the caller's slice is unchanged")
}
