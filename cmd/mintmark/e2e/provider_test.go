package e2e

import (
	"encoding/json"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// A provider is an OpenID Connect provider: npm's oidc-provider.
type provider struct {
	Issuer string `json:"issuer"`
	t      testing.TB
	stop   func()
}

const upstreamSecret = "a secret/+: & of the service"

// accounts are the accounts at the provider, by subject.
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
	run, err := testkit.Start(c, filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	t.Cleanup(run.Kill)
	first, err := run.FirstLine(30 * time.Second)
	require.NoError(t, err)
	p := &provider{t: t, stop: run.Kill}
	require.NoError(t, json.Unmarshal([]byte(first), p))
	return p
}

// freePort is the port of [clustertest.Address].
func freePort(t testing.TB) int {
	t.Helper()
	return int(netip.MustParseAddrPort(clustertest.Address(t)).Port())
}

func local(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }
