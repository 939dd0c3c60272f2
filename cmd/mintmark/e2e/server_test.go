package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// A server is a running "mintmark dev". Its fields are those of its ready line, a JSON
// object.
type server struct {
	BaseURL string `json:"base_url"`
	AppURL  string `json:"app_url"`
	Issuer  string `json:"issuer"`
	OpsURL  string `json:"ops_url"`

	t testing.TB
}

// start runs the binary with fixtures until the test ends. It must then exit without an
// error when it is interrupted.
func start(t testing.TB, fixtures string) *server {
	t.Helper()
	s, stop := startIn(t, t.TempDir(), "127.0.0.1:0", exec.Command(binary), fixtures)
	t.Cleanup(stop)
	return s
}

// startIn runs a program, with its environment, in a folder that may have the data of an
// earlier run, until stop is called.
func startIn(t testing.TB, dir, listen string, c *exec.Cmd, fixtures string, flags ...string) (s *server, stop func()) {
	t.Helper()
	file := filepath.Join(dir, "fixtures.yaml")
	require.NoError(t, os.WriteFile(file, []byte(fixtures), 0o600))
	c.Args = append(c.Args, "dev", "--listen", listen, "--data-dir", filepath.Join(dir, "data"), "--fixtures", file)
	c.Args = append(c.Args, flags...)
	p, err := testkit.Start(c, filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	first, err := p.FirstLine(30 * time.Second)
	require.NoError(t, err)
	stop = func() {
		assert.NoError(t, p.Stop(syscall.SIGINT, 20*time.Second))
		assert.Equal(t, first+"\n", p.Output(), "standard output has one line only")
	}
	s = &server{t: t}
	if err := json.Unmarshal([]byte(first), s); err != nil {
		stop()
		t.Fatalf("the ready line: %v: %s", err, first)
	}
	for name, address := range map[string]string{"base_url": s.BaseURL, "app_url": s.AppURL, "issuer": s.Issuer, "ops_url": s.OpsURL} {
		assert.Regexp(t, `^http://127\.0\.0\.1:[1-9]\d*$`, address, name)
	}
	return s, stop
}

// getJSON reads a public document.
func (s *server) getJSON(path string, into any) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.BaseURL+path, nil)
	require.NoError(s.t, err)
	a := send(s.t, http.DefaultClient, r)
	require.Equal(s.t, http.StatusOK, a.Status, a.Body)
	require.NoError(s.t, json.Unmarshal([]byte(a.Body), into))
}

// TestReadyLine: every address of the ready line answers.
func TestReadyLine(t *testing.T) {
	s := start(t, fixtures(""))
	var metadata struct{ Issuer string }
	s.getJSON("/.well-known/oauth-authorization-server", &metadata)
	require.Equal(t, s.Issuer, metadata.Issuer)
	for _, address := range []string{s.OpsURL + "/livez", s.OpsURL + "/readyz", s.AppURL + "/auth/sign-in"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, send(t, http.DefaultClient, r).Status, address)
	}
}

// TestStartAndStop: a wrong file is refused before anything is served, and the data is
// used again by the next process after SIGTERM, which service managers send.
func TestStartAndStop(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "fixtures.yaml")
	dev := func(fixtures string) *exec.Cmd {
		require.NoError(t, os.WriteFile(file, []byte(fixtures), 0o600))
		return exec.Command(binary, "dev", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data"), "--fixtures", file)
	}
	out, err := dev("userz: []\n").CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 1, exit.ExitCode(), "%s", out)
	require.Contains(t, string(out), "userz")

	for range 2 {
		p, err := testkit.Start(dev(fixtures("")), filepath.Join(dir, "log"))
		require.NoError(t, err)
		line, err := p.FirstLine(30 * time.Second)
		require.NoError(t, err)
		require.Contains(t, line, "base_url")
		require.NoError(t, p.Stop(syscall.SIGTERM, 20*time.Second))
	}
}
