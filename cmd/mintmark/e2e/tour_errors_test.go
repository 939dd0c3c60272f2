package e2e

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// tourErrors visits the error pages, in a tab with a session. A 500 is not among them: no
// request of a browser causes one.
func tourErrors(t *testing.T, b *tab, s *server, look func(name string)) {
	t.Helper()
	shows := func(name, title string) {
		t.Helper()
		require.Equal(t, title, b.text("h1"))
		look(name)
	}
	b.open(s.AppURL + "/nothing")
	shows("error-404", "Page not found")
	b.open(s.AppURL + "/account/password")
	evaluate[any](b, `document.querySelector("main [name=token]").value = "another"`)
	b.press("main button.primary")
	shows("error-403", "This page has expired")
	b.open(s.AppURL + "/account/password")
	evaluate[any](b, `document.querySelector("#f-new").value = "x".repeat(70000)`)
	b.press("main button.primary")
	shows("error-413", "Too much was sent")

	b.open(s.AppURL + "/developer/new")
	b.fill("name", "Trip Planner")
	beside := b.another()
	beside.open(s.AppURL + "/account")
	beside.signOut()
	b.press("main button.primary")
	shows("form-after-session", "Your session ended")
	guess(t, s)
	b.open(s.AppURL + "/auth/sign-in")
	require.Eventually(t, func() bool {
		b.signIn("nobody", "wrong")
		return strings.Contains(b.text("[role=alert]"), "Too many attempts. Try again in ")
	}, time.Minute, time.Millisecond)
	look("error-429")
}

// guess sends wrong passwords until the server refuses further attempts.
func guess(t *testing.T, s *server) answer {
	t.Helper()
	p := newPerson(t, "nobody", "wrong")
	at, err := url.Parse(s.AppURL)
	require.NoError(t, err)
	page := send(t, p.client, mustGet(t, s.AppURL+"/auth/sign-in"))
	for range 100 {
		again := p.submit(at, page, "password", "username", p.name, "password", p.password)
		if again.Status == http.StatusTooManyRequests {
			return again
		}
	}
	require.Fail(t, "guesses are not limited")
	return answer{}
}

// tourUnavailable visits the page of a node that has lost its cluster.
func tourUnavailable(t *testing.T, b *tab, look func(name string)) {
	t.Helper()
	cluster := strings.TrimPrefix(local(freePort(t)), "http://")
	n := serve(t, freePort(t), callback, "--cluster-listen", cluster)
	n.loseMajority(cluster)
	b.open(authorizeURL(&n.server, "nobody", callback)) // the node confirms an unknown client before it refuses
	require.Equal(t, "Not available right now", b.text("h1"))
	look("error-503")
}

// loseMajority makes a second node join the cluster at the address, and kills that node.
func (n *node) loseMajority(cluster string) {
	n.t.Helper()
	dir := n.t.TempDir()
	token := filepath.Join(dir, "token")
	require.NoError(n.t, os.WriteFile(token, []byte(n.OK("", "cluster", "invite", "--name", "n2")), 0o600))
	second, err := testkit.Start(exec.Command(binary, "serve", "--name", "n2", "--data-dir", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0",
		"--ops-listen", "127.0.0.1:0", "--cluster-listen", "127.0.0.1:0", "--join", cluster, "--token-file", token), filepath.Join(dir, "log"))
	require.NoError(n.t, err)
	defer second.Kill()
	require.Eventually(n.t, func() bool {
		return n.Run("", "cluster", "status", "--voters", "2").Code == 0
	}, 30*time.Second, 50*time.Millisecond)
}
