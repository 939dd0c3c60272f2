package telemetry

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/julienschmidt/httprouter"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/endpoint"
)

// timedServer returns a server with a route of each kind behind the middleware.
func timedServer(m *Metrics) http.Handler {
	router := endpoint.NewRouter()
	routes := m.Router(router)
	routes.Handle(http.MethodGet, "/clients/:id", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		_, _ = io.WriteString(w, p.ByName("id"))
	})
	routes.Handler(http.MethodPost, "/me", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusForbidden)
		w.WriteHeader(http.StatusOK) // ignored: the status was already sent
	}))
	routes.Handle(http.MethodGet, "/empty", func(http.ResponseWriter, *http.Request, httprouter.Params) {})
	routes.Handle(http.MethodGet, "/cut", func(http.ResponseWriter, *http.Request, httprouter.Params) {
		panic(http.ErrAbortHandler)
	})
	routes.Handle(http.MethodGet, "/cut-late", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		_, _ = io.WriteString(w, "half of it")
		panic(http.ErrAbortHandler)
	})
	routes.Handle(http.MethodGet, "/waits", func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		<-r.Context().Done()
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	routes.Handle(http.MethodGet, "/down", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	routes.Handle(http.MethodGet, "/flush", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		if err := http.NewResponseController(w).Flush(); err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	return m.Timed(router, Recording{})
}

func TestTimedRequests(t *testing.T) {
	for name, row := range map[string]struct{ method, path, labelMethod, label, status string }{
		"parameter":       {"GET", "/clients/cal-app", "GET", "/clients/:id", "2xx"},
		"status":          {"POST", "/me", "POST", "/me", "4xx"},
		"nothing written": {"GET", "/empty", "GET", "/empty", "2xx"},
		"cut":             {"GET", "/cut", "GET", "/cut", "aborted"},
		"cut late":        {"GET", "/cut-late", "GET", "/cut-late", "2xx"},
		"hung up":         {"GET", "/waits", "GET", "/waits", "aborted"},
		"hung up, served": {"GET", "/empty?hung-up", "GET", "/empty", "2xx"},
		"unavailable":     {"GET", "/down", "GET", "/down", "5xx"},
		"flushed":         {"GET", "/flush", "GET", "/flush", "2xx"},
		"no such path":    {"GET", "/wp-login.php", "other", "other", "4xx"},
		"no such method":  {"DELETE", "/me", "other", "other", "4xx"},
		"own method":      {"X-MADE-UP", "/me", "other", "other", "4xx"},
	} {
		t.Run(name, func(t *testing.T) {
			m := NewMetrics(leadingNode(), "dev")
			h := timedServer(m)
			ctx, hangUp := context.WithCancel(t.Context())
			defer hangUp()
			if strings.HasPrefix(name, "hung up") {
				hangUp()
			}
			serveCut(h, httptest.NewRequestWithContext(ctx, row.method, row.path, nil))
			require.InDelta(t, 1, testutil.ToFloat64(m.requests.WithLabelValues(row.labelMethod, row.label, row.status)), 0)
			total := 0.0
			for line := range strings.Lines(scrape(t, m)) {
				if strings.HasPrefix(line, "mintmark_http_request_duration_seconds_count{") && strings.HasSuffix(line, " 1\n") {
					total++
				}
			}
			require.InDelta(t, 1, total, 0)
			series := testutil.CollectAndCount(m.requests)
			serveCut(h, httptest.NewRequestWithContext(ctx, row.method, row.path, nil))
			require.Equal(t, series, testutil.CollectAndCount(m.requests), "a second request made a new series")
		})
	}
}

// serveCut recovers from a handler that aborts the connection, as net/http does.
func serveCut(h http.Handler, r *http.Request) {
	defer func() {
		if err := recover(); err != nil && err != http.ErrAbortHandler {
			panic(err)
		}
	}()
	h.ServeHTTP(httptest.NewRecorder(), r)
}

// TestTimedRequestsNameNobody: no metric contains data of a request.
func TestTimedRequestsNameNobody(t *testing.T) {
	m := NewMetrics(leadingNode(), "dev")
	h := timedServer(m)
	for _, target := range []string{"/clients/marked", "/marked", "/me?marked=marked", "/clients/marked/marked"} {
		r := httptest.NewRequest("GET", target, strings.NewReader("marked"))
		r.Header.Set("Authorization", "Bearer marked")
		r.Host = "marked"
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	serveCut(h, httptest.NewRequest("MARKED", "/", nil))
	require.NotContains(t, strings.ToLower(scrape(t, m)), "marked")
}

// TestTimedBehindNetHTTP: the wrapped writer works with a real connection.
func TestTimedBehindNetHTTP(t *testing.T) {
	m := NewMetrics(leadingNode(), "dev")
	s := httptest.NewServer(timedServer(m))
	defer s.Close()
	r, err := s.Client().Get(s.URL + "/clients/cal-app")
	require.NoError(t, err)
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, "cal-app", string(body))
	r, err = s.Client().Get(s.URL + "/flush")
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, http.StatusOK, r.StatusCode)
}

func BenchmarkTimed(b *testing.B) {
	m := NewMetrics(leadingNode(), "dev")
	router := endpoint.NewRouter()
	m.Router(router).Handle(http.MethodGet, "/", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		w.WriteHeader(http.StatusNoContent)
	})
	bare := endpoint.NewRouter()
	bare.Handle(http.MethodGet, "/", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		w.WriteHeader(http.StatusNoContent)
	})
	for name, h := range map[string]http.Handler{"timed": m.Timed(router, Recording{}), "bare": bare} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
			for b.Loop() {
				h.ServeHTTP(w, r)
			}
		})
	}
}

// TestMetricsOfRoutesNeverAsked: a route that was never requested has no series.
func TestMetricsOfRoutesNeverAsked(t *testing.T) {
	m := NewMetrics(leadingNode(), "dev")
	route := m.route(http.MethodGet, "/never/asked")
	require.NotContains(t, scrape(t, m), "/never/asked")
	route.served(http.StatusOK, 0)
	require.Contains(t, scrape(t, m), `mintmark_http_requests_total{method="GET",route="/never/asked",status="2xx"} 1`)
	require.Contains(t, scrape(t, m), `mintmark_http_requests_total{method="other",route="other",status="5xx"} 0`)
}
