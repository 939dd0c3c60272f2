package telemetry

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoCollector: the first failure and the recovery are logged.
func TestNoCollector(t *testing.T) {
	var status atomic.Int32
	status.Store(http.StatusServiceUnavailable)
	c := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) }))
	defer c.Close()
	var out strings.Builder
	traces := NewTracing(c.URL, "n1", "dev", slog.New(slog.NewTextHandler(&out, nil)))
	route := &Route{Method: "GET", Pattern: "/"}
	request := func() {
		_, span := traces.begin(httptest.NewRequest("GET", "/", nil), nil)
		traces.end(span, route, http.StatusOK)
		require.NoError(t, traces.provider.ForceFlush(t.Context()))
	}
	request()
	request()
	require.Equal(t, 1, strings.Count(out.String(), "traces not sent"), out.String())
	require.Contains(t, out.String(), "503")
	status.Store(http.StatusOK)
	request()
	require.Contains(t, out.String(), "traces sent again")
	require.NoError(t, traces.Close(t.Context()))
}

// TestNoTraces: without a collector no spans are made.
func TestNoTraces(t *testing.T) {
	traces := NewTracing("", "n1", "dev", slog.Default())
	require.Nil(t, traces)
	r := httptest.NewRequest("GET", "/", nil)
	same, span := traces.begin(r, nil)
	require.Same(t, r, same)
	traces.end(span, nil, http.StatusOK)
	require.Nil(t, traces.IssuerTracer())
	require.NoError(t, traces.Close(t.Context()))
}
