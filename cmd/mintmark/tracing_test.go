package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/telemetry"
)

// A collector receives the traces of a node.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

func newCollector(t testing.TB) *collector {
	c := new(collector)
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		if err == nil && r.Method+r.URL.Path+r.Header.Get("Content-Type") == "POST/v1/tracesapplication/json" {
			c.bodies = append(c.bodies, string(body))
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// A span has the fields of an OTLP span in JSON that the tests read.
type span struct {
	TraceID    string `json:"traceId"`
	SpanID     string `json:"spanId"`
	ParentID   string `json:"parentSpanId"`
	Name       string `json:"name"`
	Attributes []struct {
		Key   string `json:"key"`
		Value struct {
			Text   string `json:"stringValue"`
			Number string `json:"intValue"`
		} `json:"value"`
	} `json:"attributes"`
}

func (s span) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.Text + a.Value.Number
		}
	}
	return ""
}

// spans returns all spans that arrived, by name.
func (c *collector) spans(t testing.TB) map[string][]span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	spans := map[string][]span{}
	for _, body := range c.bodies {
		var r struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []span `json:"spans"`
				} `json:"scopeSpans"`
			} `json:"resourceSpans"`
		}
		require.NoError(t, json.Unmarshal([]byte(body), &r))
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

// TestTraces: a trace names the route, the status and the decided command, and contains
// no user, client or credential.
func TestTraces(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	ts := startTestServer(t, t.TempDir(), fixtureText, func(s *server.Config) {
		s.Traces = telemetry.NewTracing(c.URL, "n1", version, s.Log)
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

// TestTraceOfAProxy: with a trusted proxy, a request continues the proxy's trace.
func TestTraceOfAProxy(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	ts := startTestServer(t, t.TempDir(), fixtureText, func(s *server.Config) {
		var err error
		s.Proxies, err = proxy.Parse([]string{"127.0.0.1"})
		require.NoError(t, err)
		s.Traces = telemetry.NewTracing(c.URL, "n1", version, s.Log)
	})
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	ts.request("GET", "/.well-known/jwks.json", "", "Traceparent", "00-"+trace+"-"+parent+"-01")
	ts.close()
	span := c.spans(t)["GET /.well-known/jwks.json"][0]
	require.Equal(t, trace, span.TraceID)
	require.Equal(t, parent, span.ParentID)
}
