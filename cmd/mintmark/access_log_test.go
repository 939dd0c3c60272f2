package main

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestLogOfAWholeFlow: each response has a request id, and each request has a log line
// with that id. No line of the log has a secret, a code, a token or a cookie.
func TestLogOfAWholeFlow(t *testing.T) {
	t.Parallel()
	var log testkit.Buffer
	ts := startTestServer(t, t.TempDir(), fixtureText, func(c *server.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	b := ts.browser()
	page := b.get(good("cal-app"))
	wrong := b.submit(page, "password", "username", "alice", "password", "a-wrong-password")
	require.Equal(t, http.StatusUnprocessableEntity, wrong.Status)
	to := b.allow("alice", good("cal-app"))
	code := to.Query().Get("code")
	first := tokensOf(t, ts.exchange("cal-app", code))
	second := tokensOf(t, ts.refresh("cal-app", first.Refresh))
	answers := map[string]answer{
		"POST /v2/auth/oauth2/token 401": ts.basicForm("cal-app", "a-wrong-secret", "grant_type", "refresh_token", "refresh_token", second.Refresh),
		"POST /v2/auth/oauth2/token 400": ts.exchange("cal-app", code),
		"GET /v2/me 401":                 ts.me(second.Access + "x"),
		"GET /auth/oauth2/authorize 200": page,
		"POST /auth/sign-in 422":         wrong,
		"other other 404":                ts.request("GET", "/a-private-path?a-private-query", ""),
		"GET /.well-known/jwks.json 200": ts.request("GET", oauth.PathJWKS, "", "Authorization", "Bearer "+second.Access),
	}
	ts.close()
	text := log.String()
	for what, a := range answers {
		id := a.Header.Get("X-Request-Id")
		require.Regexp(t, `^[A-Z2-7]{26}$`, id, what)
		line := regexp.MustCompile(`(?m)^.*msg=request method=(\S+) route=(\S+) status=(\d+) bytes=\d+ duration=\S+s address=127.0.0.1.* request_id=`+id+`$`).FindAllStringSubmatch(text, -1)
		require.Len(t, line, 1, "%s: %s\n%s", what, id, text)
		require.Equal(t, what, line[0][1]+" "+line[0][2]+" "+line[0][3])
	}
	require.Contains(t, text, "security.request_id="+answers["POST /v2/auth/oauth2/token 401"].Header.Get("X-Request-Id"))
	require.Regexp(t, `route=/v2/auth/oauth2/token status=200 .* client=cal-app request_id=`, text)

	secrets := []string{
		code, first.Access, first.Refresh, second.Access, second.Refresh, "cal-app-secret", "a-wrong-secret", "a-wrong-password",
		"a-private", basicAuth("cal-app", "a-wrong-secret"),
	}
	for _, password := range passwords {
		secrets = append(secrets, password)
	}
	origin, err := url.Parse(ts.App)
	require.NoError(t, err)
	cookies := b.client.Jar.Cookies(origin)
	require.NotEmpty(t, cookies)
	for _, c := range cookies {
		secrets = append(secrets, c.Value)
	}
	for _, secret := range secrets {
		require.NotEmpty(t, secret)
		require.NotContains(t, text, secret)
		require.NotContains(t, text, url.QueryEscape(secret))
	}
}

// TestRequestIDsOfOperators: each response to operators and monitors has a request id,
// and so have the log lines of the request. A scrape has no line.
func TestRequestIDsOfOperators(t *testing.T) {
	t.Parallel()
	n := newOperatorsNode(t, func(c *server.Config) { c.OpsDebug, c.LogLevel = true, new(slog.LevelVar) })
	added, err := admin.AddOperatorToken.Call(t.Context(), n.operator(), admin.NewOperatorToken{Name: "ci", Scopes: []string{"read"}, Lifetime: time.Hour})
	require.NoError(t, err)
	request := func(client *http.Client, method, url, body string, header http.Header) (status int, id string) {
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		require.NoError(t, err)
		maps.Copy(r.Header, header)
		r.Header.Set("X-Request-Id", "of-the-sender")
		resp, err := client.Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		id = resp.Header.Get("X-Request-Id")
		require.Regexp(t, `^[A-Z2-7]{26}$`, id, url)
		return resp.StatusCode, id
	}
	lines := func(id string) (all []string) {
		for line := range strings.Lines(n.log.String()) {
			if strings.Contains(line, `"request_id":"`+id+`"`) {
				all = append(all, line)
			}
		}
		return all
	}

	for path, want := range map[string]int{"/livez": 200, "/readyz": 200, "/metrics": 200, "/debug/pprof/cmdline": 200, "/nothing": 404} {
		status, id := request(http.DefaultClient, "GET", n.s.OpsURL()+path, "", nil)
		require.Equal(t, want, status, path)
		require.Empty(t, lines(id))
	}
	_, id := request(http.DefaultClient, "PUT", n.s.OpsURL()+"/debug/log-level", "debug", nil)
	require.Len(t, lines(id), 1)
	require.Contains(t, lines(id)[0], "log level changed")

	socket := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(n.dir, admin.SocketName))
	}}}
	listener := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: n.authority.Pool()}}}
	remote := "https://" + n.s.OperatorsAddr.String()
	token := http.Header{"Authorization": {"Bearer " + added.Token.Reveal()}}
	for _, row := range []struct {
		client     *http.Client
		url, body  string
		header     http.Header
		status     int
		level, has string
	}{
		{socket, "http://local/v1/user.add", `{"username":"grace"}`, nil, 200, "INFO", `"msg":"operator command done"`},
		{socket, "http://local/v1/user.list", `{}`, nil, 200, "DEBUG", `"msg":"operator command answered"`},
		{socket, "http://local/v1/user.show", `{"user":"nobody"}`, nil, 404, "INFO", `"msg":"operator command rejected"`},
		{listener, remote + "/v1/user.list", `{}`, token, 200, "DEBUG", `"operator":"token:ci"`},
		{listener, remote + "/v1/user.show", `{"user":"nobody"}`, token, 404, "INFO", `"msg":"operator command rejected"`},
		{listener, remote + "/v1/user.add", `{}`, token, 403, "INFO", `"msg":"operator refused"`},
		{listener, remote + "/v1/user.list", `{}`, nil, 401, "INFO", `"msg":"operator refused"`},
	} {
		status, id := request(row.client, "POST", row.url, row.body, row.header)
		require.Equal(t, row.status, status, row.url)
		require.Len(t, lines(id), 1, n.log.String())
		require.Contains(t, lines(id)[0], `"level":"`+row.level+`"`)
		require.Contains(t, lines(id)[0], row.has)
	}
	require.NotContains(t, n.log.String(), "of-the-sender")
}

// TestOpsDebug: profiles and the log level are available on the operators' listener if
// ops-debug is set. They are never available on the public listener.
func TestOpsDebug(t *testing.T) {
	t.Parallel()
	level := new(slog.LevelVar)
	ts := startTestServer(t, t.TempDir(), fixtureText, func(c *server.Config) { c.OpsDebug, c.LogLevel = true, level })
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap?debug=1", "/debug/pprof/cmdline", "/debug/pprof/symbol", "/debug/log-level"} {
		require.Equal(t, http.StatusOK, ts.request("GET", ts.Ops+path, "").Status, path)
		require.Equal(t, http.StatusNotFound, ts.request("GET", path, "").Status, path)
	}
	put := func(body string) answer { return ts.request("PUT", ts.Ops+"/debug/log-level", body) }
	require.Equal(t, "debug\n", put("debug\n").Body)
	require.Equal(t, slog.LevelDebug, level.Level())
	for _, wrong := range []string{"", "verbose", "DEBUG", strings.Repeat("x", 1000)} {
		require.Equal(t, http.StatusBadRequest, put(wrong).Status)
	}
	require.Equal(t, "debug\n", ts.request("GET", ts.Ops+"/debug/log-level", "").Body)
	require.Equal(t, http.StatusNotFound, ts.request("PUT", "/debug/log-level", "debug").Status)

	plain := startTestServer(t, t.TempDir(), fixtureText, func(c *server.Config) { c.LogLevel, c.Log = level, slog.New(slog.NewTextHandler(io.Discard, nil)) })
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/log-level"} {
		require.Equal(t, http.StatusNotFound, plain.request("GET", plain.Ops+path, "").Status, path)
	}
}
