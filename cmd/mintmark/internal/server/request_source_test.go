package server

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
)

// TestRequestsOfOneSource: the limit for one source covers all its HTTP/2 connections. So
// the headers of its requests take at most 16 MiB, and those of one connection at most
// 400 KiB.
func TestRequestsOfOneSource(t *testing.T) {
	require.LessOrEqual(t, maxPerSource*maxHeader, 16<<20)
	require.LessOrEqual(t, maxStreams*maxHeader+maxBuffer, 400<<10)

	const most, connections = 30, 4
	var inProgress, peak atomic.Int64
	begun := make(chan struct{})
	wait := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for now := inProgress.Add(1); ; {
			if before := peak.Load(); now <= before || peak.CompareAndSwap(before, now) {
				break
			}
		}
		defer inProgress.Add(-1)
		begun <- struct{}{}
		_, _ = io.Copy(w, r.Body)
	})
	var from atomic.Value
	from.Store("198.51.100.1:1")
	srv := httptest.NewUnstartedServer(fairRequests(wait, most, nil))
	srv.Listener = remoteListener{srv.Listener, func() string { return from.Load().(string) }}
	srv.EnableHTTP2 = true
	srv.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
	srv.StartTLS()
	defer srv.Close()
	var clients []*http.Client
	for range connections {
		clients = append(clients, &http.Client{Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "example.com"},
			ForceAttemptHTTP2: true, HTTP2: &http.HTTP2Config{StrictMaxConcurrentRequests: true},
		}})
	}
	type open struct {
		end    func() error
		status chan int
	}
	var all []open
	send := func(c *http.Client) open {
		body, w := io.Pipe()
		o := open{w.Close, make(chan int, 1)}
		go func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, body)
			if err != nil {
				panic(err)
			}
			res, err := c.Do(r)
			if err != nil {
				o.status <- 0
				return
			}
			text, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if res.ProtoMajor != 2 {
				o.status <- -1
			}
			if res.StatusCode == http.StatusTooManyRequests && (res.Header.Get("Content-Type") != "application/json" ||
				res.Header.Get("Cache-Control") != "no-store" || !strings.Contains(string(text), `"error":"temporarily_unavailable"`)) {
				o.status <- -2 // RFC 6749 §5.2
			}
			o.status <- res.StatusCode
		}()
		return o
	}
	for i := range most {
		all = append(all, send(clients[i%2]))
		<-begun
	}
	for i := range 20 {
		late := send(clients[2+i%2])
		require.Equal(t, http.StatusTooManyRequests, <-late.status)
	}
	for _, o := range all {
		require.NoError(t, o.end())
		require.Equal(t, http.StatusOK, <-o.status)
	}
	o := send(clients[2])
	<-begun
	require.NoError(t, o.end())
	require.Equal(t, http.StatusOK, <-o.status)
	require.EqualValues(t, most, peak.Load())
}

// TestRequestsOfProxies: a trusted proxy, and this machine, have no limit, since they
// send the requests of many clients.
func TestRequestsOfProxies(t *testing.T) {
	trusted, err := proxy.Parse([]string{"192.0.2.0/28"})
	require.NoError(t, err)
	for from, want := range map[string]int{
		"192.0.2.7:1": http.StatusOK, "127.0.0.1:1": http.StatusOK, "[::1]:1": http.StatusOK,
		"198.51.100.1:1": http.StatusTooManyRequests, "[2001:db8::1]:1": http.StatusTooManyRequests,
	} {
		t.Run(from, func(t *testing.T) {
			depth, last := 0, 0
			var h http.Handler
			ask := func() int {
				w := httptest.NewRecorder()
				r := httptest.NewRequest(http.MethodGet, "/", nil)
				r.RemoteAddr = from
				h.ServeHTTP(w, r)
				return w.Code
			}
			h = fairRequests(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				if depth++; depth < 3 {
					last = ask()
				}
			}), 1, trusted)
			ask()
			require.Equal(t, want, last)
		})
	}
}
