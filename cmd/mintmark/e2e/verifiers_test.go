package e2e

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// verifiers are those of verifiers/: each is a resource server that answers GET /bookings
// to tokens that may read bookings. middleware/README.md shows the file.
var verifiers = []struct {
	name, file string
	prepare    func(*testing.T, resourceServer) *exec.Cmd
}{
	{"jose", "jose.mjs", script},
	{"jsonwebtoken and jwks-rsa", "jsonwebtoken.mjs", script},
	{"express-oauth2-jwt-bearer", "express-oauth2-jwt-bearer.mjs", script},
	{"go-oidc", "goidc/main.go", goProgram},
	{"golang-jwt and keyfunc", "keyfunc/main.go", goProgram},
	{"HAProxy", "haproxy.cfg", haproxy},
	{"Apache", "apache.conf", apache},
}

// A resourceServer is the configuration of a verifier, passed in its environment.
type resourceServer struct {
	file                                    string
	programs                                string // the folder of the Go module's programs
	issuer, audience, listen, run, upstream string
}

// TestVerifiers: third-party verifiers accept the tokens of a running server, and refuse
// all other tokens.
func TestVerifiers(t *testing.T) {
	s, past := startWithPast(t)
	grant := func(client, secret string, scopes ...string) string {
		return obtain(t, xoauth2(s, client, secret, oauth2.AuthStyleInHeader, scopes...)).AccessToken
	}
	good := grant("cal-app", "cal-app-secret", "PROFILE_READ", "BOOKING_READ")
	opens := map[string]string{"good": good, "issued 28 minutes ago": past.old, "legacy": grant("legacy-app", "legacy-app-secret")}
	other := start(t, fixtures(""))
	refused := tampered(t, "ES256", good)
	refused["expired"] = past.expired
	refused["of another server"] = obtain(t, xoauth2(other, "cal-app", "cal-app-secret", oauth2.AuthStyleInHeader, "BOOKING_READ")).AccessToken
	refused["nonsense"] = "nonsense"
	narrow := map[string]string{
		"another scope":  grant("cal-app", "cal-app-secret", "PROFILE_READ"),
		"a longer scope": grant("cal-app", "cal-app-secret", "TEAM_BOOKING_READ"),
		"a write scope":  grant("cal-app", "cal-app-secret", "BOOKING_WRITE"),
	}

	programs := t.TempDir()
	require.NoError(t, testkit.GoBuild(filepath.Join(root, "cmd", "mintmark", "e2e", "verifiers"), "-o", programs, "./goidc", "./keyfunc"))

	// A verifier that caches results must not use them after a token's expiry.
	remembers := serveBookings(t, resourceServer{file: "apache.conf", issuer: s.Issuer, audience: s.BaseURL}, apache)
	require.Equal(t, http.StatusOK, remembers(past.ending), "in its last seconds")

	for _, v := range verifiers {
		t.Run(v.name, func(t *testing.T) {
			begin := func(issuer, audience string) (bookings func(tokens ...string) int) {
				return serveBookings(t, resourceServer{file: v.file, programs: programs, issuer: issuer, audience: audience}, v.prepare)
			}
			bookings := begin(s.Issuer, s.BaseURL)
			for name, token := range opens {
				require.Equal(t, http.StatusOK, bookings(token), name)
			}
			for name, token := range refused {
				require.Equal(t, http.StatusUnauthorized, bookings(token), name)
			}
			for name, token := range narrow {
				require.Equal(t, http.StatusForbidden, bookings(token), name)
			}
			require.Equal(t, http.StatusOK, bookings(good), "at last")
			if v.file == "haproxy.cfg" || v.file == "apache.conf" {
				// The server behind a proxy may use either header.
				require.NotEqual(t, http.StatusOK, bookings(good, narrow["a write scope"]))
				require.NotEqual(t, http.StatusOK, bookings(narrow["a write scope"], good))
			}

			// The same server under another name is another issuer.
			byName := strings.Replace(s.Issuer, "127.0.0.1", "localhost", 1)
			for name, bookings := range map[string]func(...string) int{
				"another issuer": begin(byName, s.BaseURL), "another audience": begin(s.Issuer, "https://api.example"),
			} {
				require.Contains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, bookings(good), name)
			}
		})
	}
	require.Eventually(t, func() bool { return remembers(past.ending) == http.StatusUnauthorized },
		time.Minute, 100*time.Millisecond, "an expired token")
}

// TestReadmeShowsVerifiers: the guide for resource servers has an excerpt of each of them.
func TestReadmeShowsVerifiers(t *testing.T) {
	steps := readDocuments(t, []string{"middleware/README.md"})
	for _, v := range verifiers {
		require.True(t, slices.ContainsFunc(steps, func(s step) bool {
			return s.kind == excerpt && s.file == "cmd/mintmark/e2e/verifiers/"+v.file
		}), v.name)
	}
}

// serveBookings runs a resource server until the test ends. It returns a function that
// requests the bookings with one or several tokens and returns the status.
func serveBookings(t *testing.T, r resourceServer, prepare func(*testing.T, resourceServer) *exec.Cmd) func(tokens ...string) int {
	t.Helper()
	app := httptest.NewServer(http.NewServeMux())
	t.Cleanup(app.Close)
	app.Config.Handler.(*http.ServeMux).HandleFunc("GET /bookings", func(http.ResponseWriter, *http.Request) {})
	r.upstream, r.run, r.listen = strings.TrimPrefix(app.URL, "http://"), t.TempDir(), strings.TrimPrefix(local(freePort(t)), "http://")
	c := prepare(t, r)
	c.Env = r.environment()
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		slow := time.AfterFunc(10*time.Second, func() { _ = c.Process.Kill() })
		defer slow.Stop()
		_ = c.Wait()
		if t.Failed() {
			t.Logf("output of %s: %s", r.file, &output)
		}
	})
	address := "http://" + r.listen + "/bookings"
	require.Eventually(t, func() bool {
		response, err := http.Get(address)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusUnauthorized // the server answers, and refuses a request without a token
	}, 20*time.Second, 20*time.Millisecond, "%s does not answer", r.file)
	return func(tokens ...string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		require.NoError(t, err)
		for _, token := range tokens {
			request.Header.Add("Authorization", "Bearer "+token)
		}
		return send(t, http.DefaultClient, request).Status
	}
}

func (r resourceServer) environment() []string {
	return append(os.Environ(), "ISSUER="+r.issuer, "AUDIENCE="+r.audience, "LISTEN="+r.listen, "RUN="+r.run, "KEYS="+r.run, "UPSTREAM="+r.upstream)
}

// script returns a program for Node.js.
func script(t *testing.T, r resourceServer) *exec.Cmd {
	return inVerifiers(exec.Command(installed(t, "node"), r.file))
}

// goProgram returns a program of the module of verifiers/.
func goProgram(t *testing.T, r resourceServer) *exec.Cmd {
	return exec.Command(filepath.Join(r.programs, filepath.Dir(r.file)))
}

// haproxy can't fetch keys by itself.
func haproxy(t *testing.T, r resourceServer) *exec.Cmd {
	keys := inVerifiers(exec.Command(installed(t, "node"), "haproxy-keys.mjs"))
	keys.Env = r.environment()
	out, err := keys.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return inVerifiers(exec.Command(installed(t, "haproxy", "/usr/sbin/haproxy"), "-db", "-f", filepath.Join(r.run, "keys.cfg"), "-f", r.file))
}

func apache(t *testing.T, r resourceServer) *exec.Cmd {
	t.Helper()
	return exec.Command(installed(t, "apache2", "/usr/sbin/apache2"), "-DFOREGROUND", "-f", filepath.Join(root, "cmd", "mintmark", "e2e", "verifiers", r.file))
}

func inVerifiers(c *exec.Cmd) *exec.Cmd {
	c.Dir = "verifiers"
	return c
}
