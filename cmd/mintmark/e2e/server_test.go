package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A server is one running "mintmark dev". Its fields are those of its ready line, a JSON
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
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())

	lines := bufio.NewReader(stdout)
	first, err := firstLine(c, lines)
	if err != nil {
		t.Fatalf("mintmark dev was not ready: %v\n%s", err, &stderr)
	}
	stop = func() {
		assert.NoError(t, c.Process.Signal(os.Interrupt))
		slow := time.AfterFunc(20*time.Second, func() { _ = c.Process.Kill() })
		defer slow.Stop()
		more, _ := io.ReadAll(lines)
		err := c.Wait()
		assert.NoError(t, err, "mintmark dev after an interrupt: %s", &stderr)
		assert.Empty(t, more, "standard output has one line only")
	}
	s = &server{t: t}
	if err := json.Unmarshal(first, s); err != nil {
		stop()
		t.Fatalf("the ready line: %v: %s", err, first)
	}
	for name, address := range map[string]string{"base_url": s.BaseURL, "app_url": s.AppURL, "issuer": s.Issuer, "ops_url": s.OpsURL} {
		assert.Regexp(t, `^http://127\.0\.0\.1:[1-9]\d*$`, address, name)
	}
	return s, stop
}

// firstLine returns the first line that the process prints. A process that prints nothing
// is killed.
func firstLine(c *exec.Cmd, lines *bufio.Reader) ([]byte, error) {
	slow := time.AfterFunc(30*time.Second, func() { _ = c.Process.Kill() })
	defer slow.Stop()
	line, err := lines.ReadBytes('\n')
	if err != nil {
		_ = c.Process.Kill()
		_ = c.Wait() // afterwards its standard error is complete
	}
	return line, err
}

// getJSON reads a public document.
func (s *server) getJSON(path string, into any) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.BaseURL+path, nil)
	require.NoError(s.t, err)
	a := send(s.t, http.DefaultClient, r)
	require.Equal(s.t, http.StatusOK, a.status, a.body)
	require.NoError(s.t, json.Unmarshal([]byte(a.body), into))
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
		require.Equal(t, http.StatusOK, send(t, http.DefaultClient, r).status, address)
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
		c := dev(fixtures(""))
		stdout, err := c.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		line, err := firstLine(c, bufio.NewReader(stdout))
		require.NoError(t, err)
		require.Contains(t, string(line), "base_url")
		require.NoError(t, c.Process.Signal(syscall.SIGTERM))
		require.NoError(t, c.Wait())
	}
}
