package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
)

// A collector is what a node sends its traces to.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	bodies []string
}

func newCollector(t testing.TB) *collector {
	c := &collector{status: http.StatusOK}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		if err == nil && r.Method+r.URL.Path+r.Header.Get("Content-Type") == "POST/v1/tracesapplication/json" {
			c.bodies = append(c.bodies, string(body))
		}
		w.WriteHeader(c.status)
	}))
	t.Cleanup(c.Close)
	return c
}

// spans are all that came, by name.
func (c *collector) spans(t testing.TB) map[string][]otlpSpan {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	spans := map[string][]otlpSpan{}
	for _, body := range c.bodies {
		var r otlpRequest
		d := json.NewDecoder(strings.NewReader(body))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(&r))
		for _, of := range r.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				for _, s := range scope.Spans {
					spans[s.Name] = append(spans[s.Name], s)
				}
			}
		}
	}
	return spans
}

func (s otlpSpan) attribute(key string) string {
	for _, a := range s.Attributes {
		switch {
		case a.Key != key:
		case a.Value.Number != nil:
			return *a.Value.Number
		default:
			return *a.Value.Text
		}
	}
	return ""
}

// TestTraces: a trace says which route was asked, what was answered and what was
// decided for it, and nothing of whom or by which credential.
func TestTraces(t *testing.T) {
	c := newCollector(t)
	ts := startTestServer(t, t.TempDir(), fixtureText, func(s *serverConfig) {
		s.Traces = newTracing(c.URL, "n1", s.Proxies, s.Log)
	})
	code := ts.code("cal-app")
	issued := tokensOf(t, ts.exchange("cal-app", code))
	require.Equal(t, http.StatusOK, ts.me(issued.Access).Status)
	require.Equal(t, http.StatusUnauthorized, ts.basicForm("cal-app", "wrong-secret", "grant_type", "refresh_token", "refresh_token", issued.Refresh).Status)
	require.Equal(t, http.StatusNotFound, ts.request("GET", "/private?x=secret-of-a-query", "").Status)
	stranger := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	require.Equal(t, http.StatusOK, ts.request("GET", "/.well-known/jwks.json", "", "Traceparent", stranger).Status)
	ts.close()

	spans := c.spans(t)
	asked := spans["POST /v2/auth/oauth2/token"]
	require.Len(t, asked, 2)
	require.Equal(t, "200", asked[0].attribute("http.response.status_code"))
	require.Equal(t, "401", asked[1].attribute("http.response.status_code"))
	var decided []string
	for _, s := range spans["propose"] {
		if s.ParentID == asked[0].SpanID || s.ParentID == asked[1].SpanID {
			decided = append(decided, s.attribute("mintmark.command")+" "+s.attribute("mintmark.refusal"))
		}
	}
	require.Equal(t, []string{"Exchange ", "Refresh the client_secret is none of this client's"}, decided)
	require.Len(t, spans["GET /v2/me"], 1)
	require.NotEqual(t, stranger[3:35], spans["GET /.well-known/jwks.json"][0].TraceID)

	everything := strings.Join(c.bodies, "\n")
	require.NotContains(t, everything, stranger[3:35])
	for _, word := range []string{code, issued.Access, issued.Refresh, "cal-app", "wrong-secret", "alice", "correct", "127.0.0.1:9999", "secret-of-a-query", "private"} {
		require.NotContains(t, everything, word)
	}
}

// TestTraceOfAProxy: a proxy in front says which trace a request is a part of.
func TestTraceOfAProxy(t *testing.T) {
	c := newCollector(t)
	ts := startTestServer(t, t.TempDir(), fixtureText, func(s *serverConfig) {
		var err error
		s.Proxies, err = proxy.Parse([]string{"127.0.0.1"})
		require.NoError(t, err)
		s.Traces = newTracing(c.URL, "n1", s.Proxies, s.Log)
	})
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	ts.request("GET", "/.well-known/jwks.json", "", "Traceparent", "00-"+trace+"-"+parent+"-01")
	ts.close()
	span := c.spans(t)["GET /.well-known/jwks.json"][0]
	require.Equal(t, trace, span.TraceID)
	require.Equal(t, parent, span.ParentID)
}

// TestNoCollector: the first failure is in the log, and so is the recovery.
func TestNoCollector(t *testing.T) {
	c := newCollector(t)
	c.status = http.StatusServiceUnavailable
	var out strings.Builder
	traces := newTracing(c.URL, "n1", nil, slog.New(slog.NewTextHandler(&out, nil)))
	route := &routeMetrics{method: "GET", pattern: "/"}
	request := func() {
		_, span := traces.begin(httptest.NewRequest("GET", "/", nil))
		traces.end(span, route, http.StatusOK)
		require.NoError(t, traces.provider.ForceFlush(t.Context()))
	}
	request()
	request()
	require.Equal(t, 1, strings.Count(out.String(), "traces are lost"), out.String())
	require.Contains(t, out.String(), "503")
	c.mu.Lock()
	c.status = http.StatusOK
	c.mu.Unlock()
	request()
	require.Contains(t, out.String(), "takes traces again")
	require.NoError(t, traces.close(t.Context()))
}

// TestNoTraces: nothing is made where nobody collects.
func TestNoTraces(t *testing.T) {
	traces := newTracing("", "n1", nil, slog.Default())
	require.Nil(t, traces)
	r := httptest.NewRequest("GET", "/", nil)
	same, span := traces.begin(r)
	require.Same(t, r, same)
	traces.end(span, nil, http.StatusOK)
	require.Nil(t, traces.issuer())
	require.NoError(t, traces.close(t.Context()))
}
