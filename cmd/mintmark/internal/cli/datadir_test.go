package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/packaging"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// TestDefaultDataDir: the command line looks for the socket in the working folder's data
// folder first, and then in that of the package.
func TestDefaultDataDir(t *testing.T) {
	own, packaged := filepath.Join(t.TempDir(), "own"), filepath.Join(t.TempDir(), "packaged")
	none := func(string) string { return "" }
	at := func(name string) string {
		require.Equal(t, "MINTMARK_DATA_DIR", name)
		return "/elsewhere"
	}
	socket := func(dir string) {
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, admin.SocketName), nil, 0o600))
	}
	require.Equal(t, own, defaultDataDir(none, own, packaged), "no node runs")
	socket(packaged)
	require.Equal(t, packaged, defaultDataDir(none, own, packaged))
	socket(own)
	require.Equal(t, own, defaultDataDir(none, own, packaged))
	require.Equal(t, "/elsewhere", defaultDataDir(at, own, packaged))
	require.Contains(t, packaging.Unit{}.Text(), "\nStateDirectory="+filepath.Base(packagedDataDir)+"\n")
	require.Equal(t, "/var/lib", filepath.Dir(packagedDataDir), "systemd makes the StateDirectory there")
}
