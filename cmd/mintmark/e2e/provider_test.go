package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A provider is an OpenID Connect provider: npm's oidc-provider.
type provider struct {
	Issuer string `json:"issuer"`
	t      testing.TB
	stop   func()
}

const upstreamSecret = "a secret/+: & of the service"

// accounts are those at the provider, by subject.
var accounts = map[string]map[string]any{
	"s-ada":     {"name": "Ada Elsewhere", "preferred_username": "ada", "email": "ada@example.com", "email_verified": true},
	"s-root":    {"name": "Root Elsewhere", "preferred_username": "root", "groups": []string{"people", "mintmark-administrators"}},
	"s-grace":   {"name": "Grace Elsewhere", "preferred_username": "grace", "email": "grace@example.com", "email_verified": true},
	"s-mallory": {"name": "Mallory Elsewhere", "preferred_username": "mallory", "email": "grace@example.com", "email_verified": false},
	"s-alice":   {"name": "Alice Elsewhere", "preferred_username": "alice", "email": "alice@example.com", "email_verified": true},
}

// startProvider runs a provider that knows the service by its redirection URI.
func startProvider(t testing.TB, port int, redirect string) *provider {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"port": port, "client": "mintmark", "secret": upstreamSecret, "redirect": redirect, "accounts": accounts,
	})
	require.NoError(t, err)
	c := exec.Command(installed(t, "node"), "provider.mjs", string(text))
	c.Dir = "clients"
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	lines := bufio.NewReader(stdout)
	first, err := firstLine(c, lines)
	if err != nil {
		t.Fatalf("the provider was not ready: %v\n%s", err, &stderr)
	}
	p := &provider{t: t}
	require.NoError(t, json.Unmarshal(first, p))
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	ended := false
	p.stop = func() {
		if !ended {
			ended = true
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
	t.Cleanup(p.stop)
	return p
}

// freePort returns a port that is reserved until the test ends: a socket stays bound to
// it without listening, and a process may open and close a listener there.
func freePort(t testing.TB) int {
	t.Helper()
	syscall.ForkLock.RLock()
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	syscall.CloseOnExec(s)
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	if runtime.GOOS == "linux" {
		t.Cleanup(func() { _ = syscall.Close(s) })
	} else { // other systems allow no listener beside the bound socket
		defer syscall.Close(s)
	}
	require.NoError(t, syscall.SetsockoptInt(s, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	require.NoError(t, syscall.Bind(s, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	name, err := syscall.Getsockname(s)
	require.NoError(t, err)
	return name.(*syscall.SockaddrInet4).Port
}

func local(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }
