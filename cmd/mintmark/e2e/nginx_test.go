package e2e

import (
	"crypto/rand"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// startNginx runs Debian's nginx in front of a server, with its defaults and a few
// directives.
func startNginx(t testing.TB, upstream, directives string) (address string) {
	t.Helper()
	dir, port := t.TempDir(), freePort(t)
	var paths strings.Builder
	for _, of := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&paths, "%s_temp_path %s;\n", of, filepath.Join(dir, of))
	}
	file := filepath.Join(dir, "nginx.conf")
	require.NoError(t, os.WriteFile(file, []byte(fmt.Sprintf(`
daemon off;
pid %s/pid;
error_log stderr warn;
events {}
http {
	access_log off;
	%s
	%s
	server {
		listen 127.0.0.1:%d;
		location / { proxy_pass %s; }
	}
}
`, dir, &paths, directives, port, upstream)), 0o600))
	c := exec.Command(installed(t, "nginx", "/usr/sbin/nginx"), "-p", dir, "-c", file)
	p, err := testkit.Start(c, filepath.Join(dir, "log"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Stop(syscall.SIGINT, 20*time.Second) })
	require.Eventually(t, func() bool {
		response, err := http.Get(local(port) + "/auth/sign-in")
		if err == nil {
			response.Body.Close()
		}
		return err == nil
	}, 20*time.Second, 20*time.Millisecond)
	return local(port)
}

// get requests a page, and follows no redirect to another origin.
func (p *person) get(address string) answer {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, address, nil)
	require.NoError(p.t, err)
	return send(p.t, p.client, r)
}

var beginLink = regexp.MustCompile(`<a class="button primary" href="([^"]*)"`)

// TestBehindNginx: earlier requests of a browser, however long or many, never make nginx
// refuse a later one. With the sizes in tls.md, the longest accepted request and its
// response pass.
func TestBehindNginx(t *testing.T) {
	port := freePort(t)
	p := startProvider(t, 0, local(port)+"/auth/upstream/callback")
	n := serve(t, port, callback, upstreamSettings(p.Issuer)...)
	n.waitProviderKnown(p.Issuer)
	guide, err := os.ReadFile(filepath.Join(root, docs, "tls.md"))
	require.NoError(t, err)
	sizes := regexp.MustCompile(`(?m)^(large_client_header_buffers|proxy_buffer).*;$`).FindAllString(string(guide), -1)
	require.Len(t, sizes, 3)
	asks := func(at string, length int) (address, state string) {
		bare := authorizeURL(&n.server, "cal-app", callback, "scope", "PROFILE_READ", "state", "")
		state = randomText(length - len(bare[strings.Index(bare, "?")+1:]))
		address = authorizeURL(&n.server, "cal-app", callback, "scope", "PROFILE_READ", "state", state)
		return strings.Replace(address, n.AppURL, at, 1), state
	}
	for name, directives := range map[string]string{"by default": "", "as tls.md says": strings.Join(sizes, "\n")} {
		t.Run(name, func(t *testing.T) {
			at := startNginx(t, n.AppURL, directives)
			alice := newPerson(t, "alice", "correct horse")
			for _, length := range []int{400, 1100, 1300, 3000, 5000, 7000, 7900, 1100, 1100, 1100, 1100, 1100} {
				address, _ := asks(at, length)
				page := alice.get(address)
				require.Equal(t, http.StatusOK, page.Status, "%d: %s", length, page.Body)
				link := beginLink.FindStringSubmatch(page.Body)
				require.NotNil(t, link, page.Body)
				begun := alice.get(at + html.UnescapeString(link[1]))
				require.Equal(t, http.StatusSeeOther, begun.Status, "%d: %s", length, begun.Body)
				back := alice.get(at + "/auth/upstream/callback?state=none&code=none")
				require.Contains(t, back.Body, "started in another browser", "%d", length)
			}
			passes := func(length int) {
				t.Helper()
				address, state := asks(at, length)
				to := alice.decide(address, "allow")
				require.Equal(t, state, to.Query().Get("state"))
				require.NotEmpty(t, to.Query().Get("code"))
				require.Equal(t, http.StatusOK, alice.get(at+"/").Status)
				require.Equal(t, http.StatusOK, alice.get(at+"/account").Status)
			}
			// In a query of the greatest accepted length, nearly everything is the state.
			// A state of that length is refused by the service itself.
			longest, _ := asks(at, oauth.MaxQuery)
			tooLong := authorizeURL(&n.server, "cal-app", callback, "scope", "PROFILE_READ", "state", randomText(oauth.MaxQuery))
			tooLong = strings.Replace(tooLong, n.AppURL, at, 1)
			if directives != "" {
				passes(oauth.MaxQuery)
				refused := alice.get(tooLong)
				require.Equal(t, http.StatusBadRequest, refused.Status)
				require.Contains(t, refused.Body, "The request is too long.")
				passes(400)
				return
			}
			for _, address := range []string{longest, tooLong} {
				require.Equal(t, http.StatusRequestURITooLong, alice.get(address).Status)
			}
			passes(2500)
			for _, length := range []int{5000, 7900} { // nginx passes the request on, but refuses its response
				address, _ := asks(at, length)
				page := alice.get(address)
				require.Equal(t, http.StatusOK, page.Status, page.Body)
				asked, err := url.Parse(address)
				require.NoError(t, err)
				for _, decision := range []string{"cancel", "allow"} {
					require.Equal(t, http.StatusBadGateway, alice.submit(asked, page, "decision", "decision", decision).Status, decision)
					passes(400)
				}
			}
			stranger := newPerson(t, "alice", "correct horse")
			address, _ := asks(at, 7900)
			asked, err := url.Parse(address)
			require.NoError(t, err)
			signedIn := stranger.submit(asked, stranger.get(address), "password", "username", "alice", "password", "correct horse")
			require.Equal(t, http.StatusBadGateway, signedIn.Status, signedIn.Body)
			alice = stranger
			passes(400)
		})
	}
}

func randomText(length int) string {
	var b strings.Builder
	for b.Len() < length {
		b.WriteString(rand.Text())
	}
	return b.String()[:length]
}
