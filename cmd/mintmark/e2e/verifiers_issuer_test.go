package e2e

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// movedClock replaces the file of the program that reads the wall clock. The program has
// no such setting of its own.
const movedClock = `package server

import (
	"os"
	"time"
)

func WallClock() time.Time {
	offset, err := time.ParseDuration(os.Getenv("MINTMARK_TEST_CLOCK"))
	if err != nil {
		panic(err)
	}
	return time.Now().Round(0).Add(offset)
}
`

// buildMoved builds the binary with a clock that MINTMARK_TEST_CLOCK moves.
func buildMoved(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	clock, overlay := filepath.Join(dir, "clock.go"), filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(clock, []byte(movedClock), 0o600))
	replaced := filepath.Join(root, "cmd", "mintmark", "internal", "server", "clock.go")
	require.FileExists(t, replaced)
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{replaced: clock}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, text, 0o600))
	path, err := build(dir, "-overlay", overlay)
	require.NoError(t, err)
	return path
}

// pastTokens are tokens that a server issued with its current keys, in earlier runs on
// the same folder.
type pastTokens struct {
	expired string // 31 minutes old
	old     string // 28 minutes old
	ending  string // expires in half a minute
}

// startWithPast starts the binary, and returns tokens that it issued before.
func startWithPast(t testing.TB) (*server, pastTokens) {
	t.Helper()
	var p pastTokens
	moved, dir, listen := buildMoved(t), t.TempDir(), "127.0.0.1:0"
	for _, run := range []struct {
		offset string
		token  *string
	}{{"-31m", &p.expired}, {"-29m30s", &p.ending}, {"-28m", &p.old}} {
		c := exec.Command(moved)
		c.Env = append(os.Environ(), "MINTMARK_TEST_CLOCK="+run.offset)
		s, stop := startIn(t, dir, listen, c, fixtures(""))
		*run.token = obtain(t, xoauth2(s, "cal-app", "cal-app-secret", oauth2.AuthStyleInHeader, "BOOKING_READ")).AccessToken
		stop()
		at, err := url.Parse(s.Issuer)
		require.NoError(t, err)
		listen = at.Host
	}
	// The data folder was last used 28 minutes ago, and the kernel of a test machine may
	// not report a synchronised clock.
	s, stop := startIn(t, dir, listen, exec.Command(binary), fixtures(""), "--trust-clock")
	t.Cleanup(stop)
	return s, p
}
