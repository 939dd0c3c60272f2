package telemetry

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/endpoint"
	"github.com/mintmark-auth/mintmark/issuer/requestlog"
)

// accessServer returns a handler that writes an access log to out while on is true.
func accessServer(out io.Writer, on *atomic.Bool, trusted proxy.Trusted) (http.Handler, *AccessLog) {
	m := NewMetrics(leadingNode(), "dev")
	router := endpoint.NewRouter()
	m.Router(router).Handle(http.MethodGet, "/items/:id", func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
		requestlog.Add(r.Context(), slog.String("client", "cal-app"))
		if p.ByName("id") == "broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = io.WriteString(w, "12345")
	})
	log := slog.New(requestlog.Handler{Handler: slog.NewTextHandler(out, nil)})
	access := NewAccessLog(log, trusted.ClientIP(log), on)
	return m.Timed(router, Recording{Access: access, Trusted: trusted}), access
}

// TestAccessLog: a request is one line with route, status and client. It has no text that
// the sender chose.
func TestAccessLog(t *testing.T) {
	var out bytes.Buffer
	on := new(atomic.Bool)
	h, _ := accessServer(&out, on, nil)
	get := func(path string) string {
		out.Reset()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer marked")
		r.Header.Set("User-Agent", "marked")
		h.ServeHTTP(httptest.NewRecorder(), r)
		return out.String()
	}
	require.Empty(t, get("/items/1"), "the access log is off")
	on.Store(true)
	require.Regexp(t, `level=INFO msg=request method=GET route=/items/:id status=200 bytes=5 duration=\S+s address=192.0.2.1 client=cal-app request_id=[A-Z2-7]{26}\n$`, get("/items/marked?marked"))
	require.Regexp(t, `level=WARN msg=request .*status=500`, get("/items/broken"))
	require.Regexp(t, `msg=request method=other route=other status=404`, get("/marked"))
	require.NotContains(t, get("/items/marked?marked=marked")+get("/marked"), "marked")
}

// TestAccessLogOfClientsThatHungUp: if the client has hung up, the failure is logged as
// 499. It is not a warning, and counts in the limit for successful requests.
func TestAccessLogOfClientsThatHungUp(t *testing.T) {
	var out bytes.Buffer
	on := new(atomic.Bool)
	on.Store(true)
	h, access := accessServer(&out, on, nil)
	defer access.Close()
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	for range accessRate + 10 {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/items/broken", nil))
	}
	require.LessOrEqual(t, strings.Count(out.String(), "level=INFO msg=request method=GET route=/items/:id status=499"), accessRate)
	require.NotContains(t, out.String(), "status=500")
	require.NotContains(t, out.String(), "level=WARN")
	out.Reset()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/items/broken", nil))
	require.Contains(t, out.String(), "level=WARN", "another failure is still logged")
}

// TestAccessLogAboveARate: the lines in a second are limited, for successes and for
// failures. One more line has the number of omitted requests. It is logged even without a
// further request.
func TestAccessLogAboveARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out testkit.Buffer // a timer writes to it concurrently
		on := new(atomic.Bool)
		on.Store(true)
		h, access := accessServer(&out, on, nil)
		get := func(path string, times int) {
			for range times {
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
			}
		}
		get("/items/1", accessRate+50)
		get("/items/broken", accessRate+20)
		require.Equal(t, accessRate, strings.Count(out.String(), "status=200"))
		require.Equal(t, accessRate, strings.Count(out.String(), "status=500"), "failures have their own limit")
		require.NotContains(t, out.String(), "left out")
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, 1, strings.Count(out.String(), "msg=\"requests left out of the access log\" count=70"))
		get("/items/1", accessRate+1)
		require.Equal(t, 2*accessRate, strings.Count(out.String(), "status=200"))
		access.Close()
		access.Close()
		require.Equal(t, 1, strings.Count(out.String(), "count=1\n"))
		time.Sleep(5 * time.Second)
		require.Equal(t, 2, strings.Count(out.String(), "left out"))
	})
}

// TestRequestID: a well-formed id of a trusted proxy is used. Any other request gets one
// of its own.
func TestRequestID(t *testing.T) {
	trusted, err := proxy.Parse([]string{"192.0.2.1"})
	require.NoError(t, err)
	for name, row := range map[string]struct {
		trusted proxy.Trusted
		sent    string
		used    bool
	}{
		"of a proxy":          {trusted, "7d3f.A_b:c-1", true},
		"of 64 characters":    {trusted, strings.Repeat("x", 64), true},
		"of a stranger":       {nil, "7d3f", false},
		"too long":            {trusted, strings.Repeat("x", 65), false},
		"with a space":        {trusted, "a b", false},
		"with an equals sign": {trusted, "a=b", false},
		"with a line break":   {trusted, "a\nb", false},
		"not ASCII":           {trusted, "é", false},
		"empty":               {trusted, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			on := new(atomic.Bool)
			on.Store(true)
			h, _ := accessServer(&out, on, row.trusted)
			ids := map[string]bool{}
			for range 2 {
				r := httptest.NewRequest(http.MethodGet, "/items/1", nil)
				r.Header["X-Request-Id"] = []string{row.sent}
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				id := w.Header().Get(requestlog.Header)
				require.Equal(t, row.used, id == row.sent)
				require.Regexp(t, `^[A-Za-z0-9._:-]{1,64}$`, id)
				require.Contains(t, out.String(), "request_id="+id+"\n")
				ids[id] = true
			}
			require.Equal(t, row.used, len(ids) == 1)
		})
	}
}

// TestTraceOfOwnRequests: a request to the provider belongs to the trace of the client's
// request, but passes on none of its other data. The response to the client names the
// trace.
func TestTraceOfOwnRequests(t *testing.T) {
	seen := make(chan http.Header, 1)
	provider := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header }))
	defer provider.Close()
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer collector.Close()
	trusted, err := proxy.Parse([]string{"192.0.2.1"})
	require.NoError(t, err)
	traces := NewTracing(collector.URL, "n1", "dev", slog.New(slog.DiscardHandler))
	client := &http.Client{Transport: traces.Transport(http.DefaultTransport)}
	call := func(w http.ResponseWriter, r *http.Request) {
		out, err := http.NewRequestWithContext(r.Context(), http.MethodGet, provider.URL, nil)
		require.NoError(t, err)
		answer, err := client.Do(out)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Empty(t, out.Header, "the caller's request is not changed")
	}
	h := NewMetrics(leadingNode(), "dev").Timed(http.HandlerFunc(call), Recording{Traces: traces, Trusted: trusted})
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Traceparent", "00-"+trace+"-"+parent+"-01")
	r.Header.Set("Tracestate", "inside=secret")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	sent := <-seen
	require.Regexp(t, "^00-"+trace+"-[0-9a-f]{16}-01$", sent.Get("Traceparent"))
	require.NotContains(t, sent.Get("Traceparent"), parent)
	require.Empty(t, sent.Get("Tracestate"))
	require.Regexp(t, "^00-"+trace+"-[0-9a-f]{16}-01$", w.Header().Get("Traceresponse"))
	require.NotEqual(t, sent.Get("Traceparent"), w.Header().Get("Traceresponse"), "a span of its own")

	call(w, httptest.NewRequest(http.MethodGet, "/", nil)) // in the background, without a request
	require.Empty(t, (<-seen).Get("Traceparent"))
	require.NoError(t, traces.Close(t.Context()))
	require.Same(t, http.DefaultTransport, (*Tracing)(nil).Transport(http.DefaultTransport))
}
