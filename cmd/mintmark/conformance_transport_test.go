package main

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// newSecure returns a server behind a proxy that ends TLS: its addresses are https, and
// requests arrive over http.
func newSecure(t *testing.T) (s *suite, listening string) {
	t.Helper()
	ts := startTestServer(t, t.TempDir(), fixtureText, func(c *server.Config) {
		complete := c.Settings
		c.Settings = func(current ledger.Settings, address string) (ledger.Settings, error) {
			listening = address
			wanted, err := complete(current, address)
			wanted.BaseURL, wanted.AppURL, wanted.Audience = "https://auth.example", "https://app.example", "https://auth.example"
			return wanted, err
		}
	})
	ts.Base, ts.App = "http://"+listening, "http://"+listening
	return suiteOf(t, ts), listening
}

// secureGet sends a request as the proxy forwards it.
func (s *suite) secureGet(path string) answer {
	s.t.Helper()
	return do(s.t, noRedirects(nil), must(http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.Base+path, strings.NewReader(""))))
}

// conformTransport covers AB except counted failures.
func conformTransport(t *testing.T) {
	s := newSuite(t)
	s.run("AB01_lengths_that_differ", func(s *suite) {
		head := "POST " + oauth.PathToken + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
		for name, text := range map[string]string{
			"two lengths":          head + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nx=yz",
			"a space before colon": head + "Content-Length : 3\r\n\r\nx=y",
		} {
			answers := s.raw(text)
			require.Equal(s.t, 400, answers[len(answers)-1].StatusCode, name)
		}
	})
	// AB01 asks for 400. net/http uses Transfer-Encoding and drops Content-Length before
	// a handler runs, as RFC 9112 §6.3 allows. So the other half is tested: the
	// connection is closed, and nothing after the request is read.
	s.run("AB01_two_lengths_are_the_last_request", func(s *suite) {
		body := encode(exchangeOf(s.code("cal-app"))...)
		next := "GET " + oauth.PathJWKS + " HTTP/1.1\r\nHost: x\r\n\r\n"
		fields := "Host: x\r\nConnection: keep-alive\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
		for name, text := range map[string]string{
			"a good request": "POST " + oauth.PathToken + " HTTP/1.1\r\n" + fields + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body),
			"a bad request":  "POST " + oauth.PathToken + " HTTP/1.1\r\n" + fields + "0\r\n\r\n",
			"HTTP/1.0":       "POST " + oauth.PathToken + " HTTP/1.0\r\n" + fields + "0\r\n\r\n",
			"OPTIONS *":      "OPTIONS * HTTP/1.1\r\n" + fields + "0\r\n\r\n",
			"a page":         "GET / HTTP/1.1\r\n" + fields + "0\r\n\r\n",
		} {
			answers := s.raw(text + next)
			require.Len(s.t, answers, 1, name)
			require.True(s.t, answers[0].Close, name)
			require.Less(s.t, answers[0].StatusCode, 500, name)
		}
	})
	s.run("AB01_chunked_alone", func(s *suite) {
		r := must(http.NewRequestWithContext(s.t.Context(), "POST", s.Base+oauth.PathToken, io.MultiReader(strings.NewReader(encode(exchangeOf(s.code("cal-app"))...)))))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		success(s.t, do(s.t, noRedirects(nil), r))
	})
	s.run("AB08_forwarded_headers", func(s *suite) {
		said := []string{
			"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "https", "X-Forwarded-Port", "1",
			"Forwarded", "for=203.0.113.9;host=evil.example;proto=https", "X-Real-IP", "203.0.113.9", "X-Original-URL", "/", "X-Rewrite-URL", "/",
		}
		for _, path := range []string{oauth.PathMetadata, oauth.PathJWKS, oauth.PathMe, good("cal-app"), "/"} {
			plain, forwarded := s.request("GET", path, ""), s.request("GET", path, "", said...)
			require.Equal(s.t, plain.Status, forwarded.Status, path)
			require.NotContains(s.t, forwarded.Body, "evil.example")
			require.Equal(s.t, plain.Header.Get("Strict-Transport-Security"), forwarded.Header.Get("Strict-Transport-Security"))
			if path != good("cal-app") {
				require.Equal(s.t, plain.Body, forwarded.Body)
			}
		}
	})
	s.run("AB09_answers", func(s *suite) {
		live := s.tokens("cal-app")
		for name, a := range map[string]answer{
			"token": s.refresh("cal-app", live.Refresh), "refusal": s.form("x", "y"), "method": s.request("GET", oauth.PathToken, ""),
			"options": s.request("OPTIONS", oauth.PathToken, ""), "me": s.me(live.Access), "no token": s.request("GET", oauth.PathMe, ""),
			"key set": s.request("GET", oauth.PathJWKS, ""), "metadata": s.request("GET", oauth.PathMetadata, ""),
			"no such page": s.request("GET", "/nowhere", ""), "no such endpoint": s.request("GET", "/v2/nowhere", ""),
			"sign-in": s.request("GET", good("cal-app"), ""), "error page": s.request("GET", with("nobody"), ""),
			"account": s.browserOf("alice").get("/account"), "odd path": s.request("GET", "/v2/%2e%2e/me", ""), "asset": s.request("GET", "/assets/nothing.css", ""),
		} {
			require.Equal(s.t, "nosniff", a.Header.Get("X-Content-Type-Options"), name)
			require.Less(s.t, a.Status, 500, name)
			for header := range a.Header {
				require.NotContains(s.t, []string{"Server", "X-Powered-By", "Via"}, header, name)
			}
			for _, leak := range []string{"goroutine ", ".go:", "panic", "go1.", "Go-http", "httprouter", "memdb", "raft"} {
				require.NotContains(s.t, a.Body, leak, name)
			}
			require.Empty(s.t, a.Header.Get("Strict-Transport-Security"), "%s on http", name)
		}
	})
	s.run("AB11_not_on_the_public_listener", func(s *suite) {
		for _, path := range []string{
			"/debug/pprof", "/debug/pprof/", "/debug/vars", "/debug/pprof/heap", "/metrics", "/raft", "/raft/", "/v1/raft", "/cluster", "/admin/",
			"/livez", "/readyz", "/healthz", "/status", "/admin/client.list", "/client.list", "/v2/admin", "/v2/client.list", "/v2/", "/v2", "/.well-known/", "/.git/config", "/.env",
			"//evil.example", "/v2//me", "/v2/me/", "/V2/me", "/v2/%6de%2f", "/v2/auth/oauth2/%74oken", "/v2/%6De", "/v2/m%65", "/%76%32/me", "/v2%2dme", "/v2/me%7e", "/v2/./me", "/v2/x/../me", "/v2/me%00", "/v2/%2e/me",
		} {
			for _, method := range []string{"GET", "POST"} {
				a := s.request(method, s.Base+path, "")
				require.Equal(s.t, 404, a.Status, "%s %s", method, path)
				require.Empty(s.t, a.Header.Get("Location"))
			}
		}
	})
	s.run("AB03_half_open_requests", conformHalfOpen)
	t.Run("AB12_https", func(t *testing.T) {
		s, _ := newSecure(t)
		for _, path := range []string{oauth.PathMetadata, oauth.PathJWKS, oauth.PathMe, oauth.PathToken, good("cal-app"), "/", "/nowhere", "/v2/nowhere"} {
			require.Equal(t, "max-age=31536000", s.secureGet(path).Header.Get("Strict-Transport-Security"), path)
		}
	})
}

// conformHalfOpen: requests that are never completed slow no other request down, use
// little memory, and time out.
func conformHalfOpen(s *suite) {
	const halfOpen, perConnection = 2000, 64 << 10
	live := s.tokens("cal-app")
	before := liveHeap()
	var open []net.Conn
	for range halfOpen {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.Base, "http://"))
		require.NoError(s.t, err)
		defer c.Close()
		_, err = io.WriteString(c, "POST "+oauth.PathToken+" HTTP/1.1\r\nHost: x\r\n")
		require.NoError(s.t, err)
		open = append(open, c)
	}
	for range 50 {
		live = s.refreshed("cal-app", live.Refresh)
		require.Equal(s.t, 200, s.me(live.Access).Status)
	}
	require.Less(s.t, int64(liveHeap())-int64(before), int64(halfOpen*perConnection))
	for _, c := range open {
		require.NoError(s.t, c.SetReadDeadline(time.Now().Add(20*time.Second)))
		_, err := io.Copy(io.Discard, c)
		require.NotErrorIs(s.t, err, os.ErrDeadlineExceeded, "the server closes the connection first")
	}
}

// raw sends bytes over a new connection and reads responses until the server closes it.
func (s *suite) raw(text string) (answers []*http.Response) {
	s.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.Base, "http://"))
	require.NoError(s.t, err)
	defer c.Close()
	require.NoError(s.t, c.SetDeadline(time.Now().Add(5*time.Second)))
	_, err = io.WriteString(c, text)
	require.NoError(s.t, err)
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadResponse(in, nil)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			require.Fail(s.t, "the connection stayed open", "after %d answers", len(answers))
		}
		if err != nil {
			require.NotEmpty(s.t, answers)
			return answers
		}
		_, err = io.Copy(io.Discard, r.Body)
		require.NoError(s.t, err)
		answers = append(answers, r)
	}
}

// conformFailures covers the responses to a client that guesses.
func conformFailures(t *testing.T) {
	s := newSuite(t)
	s.run("AB04_AB08_1000_wrong_secrets", func(s *suite) {
		live := s.tokens("cal-app")
		statuses := map[int]int{}
		for i := range 1000 {
			a := s.request("POST", oauth.PathToken, encode("grant_type", "refresh_token", "refresh_token", live.Refresh, "client_id", "cal-app", "client_secret", fmt.Sprint("guess-", i)),
				"Content-Type", "application/x-www-form-urlencoded", "X-Forwarded-For", fmt.Sprint("203.0.113.", i%250), "Forwarded", fmt.Sprint("for=203.0.113.", i%250))
			statuses[a.Status]++
			if a.Status == 429 {
				refused(s.t, a, 429, oauth.TemporarilyUnavailable)
				exactly(s.t, a, oauth.TemporarilyUnavailable, "There were too many failures. Wait before the next try.")
				require.Empty(s.t, a.Header.Values("WWW-Authenticate"))
				require.GreaterOrEqual(s.t, must(strconv.Atoi(a.Header.Get("Retry-After"))), 1)
				continue
			}
			refused(s.t, a, 401, oauth.InvalidClient)
		}
		require.GreaterOrEqual(s.t, statuses[401], 100)
		require.GreaterOrEqual(s.t, statuses[429], 400)

		right := []string{"grant_type", "refresh_token", "refresh_token", live.Refresh, "client_id", "cal-app", "client_secret", generatedSecret}
		success(s.t, s.form(right...)) // from the same address as the failures
		success(s.t, s.from("127.0.0.2", right...))
		refused(s.t, s.from("127.0.0.2", "grant_type", "refresh_token", "refresh_token", "x", "client_id", "cal-app", "client_secret", "wrong"), 401, oauth.InvalidClient)
		refused(s.t, s.refresh("other-app", "x"), 400, oauth.InvalidGrant) // another client from the same address
	})
	t.Run("AB06_garbage_with_a_good_secret", func(t *testing.T) {
		s := newSuite(t)
		live := s.tokens("cal-app")
		garbage := []string{"grant_type", "refresh_token", "refresh_token", "x", "client_id", "cal-app", "client_secret", generatedSecret}
		a := s.form(garbage...)
		for n := 0; a.Status != 429 && n < 2000; n++ {
			refused(t, a, 400, oauth.InvalidGrant)
			a = s.form(garbage...)
		}
		refused(t, a, 429, oauth.TemporarilyUnavailable)
		exactly(t, a, oauth.TemporarilyUnavailable, "There were too many failures. Wait before the next try.")
		require.Equal(t, "1", a.Header.Get("Retry-After"))
		require.Empty(t, a.Header.Values("WWW-Authenticate"))
		s.refreshed("cal-app", live.Refresh) // no client is locked out
	})
	s.run("AB06_10000_random_credentials", func(s *suite) {
		held, others := s.tokens("native-app"), s.tokens("other-app")
		var count [600]atomic.Int64
		var wait sync.WaitGroup
		for worker := range 4 {
			wait.Go(func() {
				for i := range 2500 {
					random := make([]byte, 57)
					_, _ = rand.Read(random)
					text := base64.RawURLEncoding.EncodeToString(random)
					a := s.refresh("native-app", "mmr_"+text)
					if i%2 == worker%2 {
						a = s.exchange("native-app", "mmc_"+text, "code_verifier", verifierText)
					}
					count[a.Status].Add(1)
				}
			})
		}
		done := make(chan struct{})
		go func() { wait.Wait(); close(done) }()
		var took []time.Duration
		for running := true; running; {
			select {
			case <-done:
				running = false
			default:
				began := time.Now()
				others = s.refreshed("other-app", others.Refresh)
				took = append(took, time.Since(began))
			}
		}
		require.Greater(s.t, count[400].Load(), int64(100)) // the address has other failures already
		require.Greater(s.t, count[429].Load(), int64(5000))
		for status := range count {
			if status != 400 && status != 429 {
				require.Zero(s.t, count[status].Load(), status)
			}
		}
		require.Less(s.t, middle(took), 2*time.Second, "a bound for a busy machine")
		s.refreshed("native-app", held.Refresh)
	})
}

// from is form from another loopback address.
func (s *suite) from(address string, pairs ...string) answer {
	s.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	c := noRedirects(nil)
	transport := &http.Transport{DialContext: d.DialContext}
	defer transport.CloseIdleConnections()
	c.Transport = testkit.Verified(transport)
	r := must(http.NewRequestWithContext(s.t.Context(), "POST", s.Base+oauth.PathToken, strings.NewReader(encode(pairs...))))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return do(s.t, c, r)
}
