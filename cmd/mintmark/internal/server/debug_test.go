package server

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPagesSetNoLogLevel: no page in a browser on this machine can change the log level,
// whatever its origin and the host name of the request.
func TestPagesSetNoLogLevel(t *testing.T) {
	s := &Server{config: Config{LogLevel: new(slog.LevelVar), Log: slog.New(slog.DiscardHandler)}}
	put := func(header, value string) int {
		r := httptest.NewRequest(http.MethodPut, "http://page.example:8222/debug/log-level", strings.NewReader("debug"))
		r.Header.Set(header, value)
		w := httptest.NewRecorder()
		s.setLogLevel(w, r)
		return w.Code
	}
	for header, values := range map[string][]string{
		"Origin":         {"http://page.example:8222", "https://other.example", "null"},
		"Sec-Fetch-Site": {"same-origin", "same-site", "cross-site", "none"},
	} {
		for _, value := range values {
			require.Equal(t, http.StatusForbidden, put(header, value))
			require.Equal(t, slog.LevelInfo, s.config.LogLevel.Level())
		}
	}
	require.Equal(t, http.StatusOK, put("User-Agent", "curl"))
	require.Equal(t, slog.LevelDebug, s.config.LogLevel.Level())
}
