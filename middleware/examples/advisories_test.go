package examples_test

import (
	"go/version"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFixedVersions checks the versions of these examples, since users copy them. Each is
// the lowest without the known advisories about a server.
func TestFixedVersions(t *testing.T) {
	for _, row := range []struct{ module, fixed, advisory string }{
		{"google.golang.org/grpc", "v1.79.3", "GO-2026-4762: a path without a slash passes authorization"},
		{"github.com/quic-go/quic-go", "v0.54.1", "GO-2025-4017: a peer crashes the process"},
		{"github.com/quic-go/quic-go", "v0.57.0", "GO-2025-4233: headers take any memory"},
		{"github.com/quic-go/quic-go", "v0.59.1", "CVE-2026-40898: trailers take any memory"},
	} {
		list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", row.module)
		list.Env = append(list.Environ(), "GOPROXY=off")
		out, err := list.CombinedOutput()
		require.NoError(t, err, "%s", out)
		used := strings.TrimSpace(string(out))
		require.True(t, atLeast(used, row.fixed), "%s %s: %s; fixed in %s", row.module, used, row.advisory, row.fixed)
	}
}

func TestAtLeast(t *testing.T) {
	require.True(t, atLeast("v1.79.3", "v1.79.3"))
	require.True(t, atLeast("v1.100.0", "v1.79.3"))
	require.False(t, atLeast("v1.77.0", "v1.79.3"))
	require.False(t, atLeast("v0.54.0", "v0.54.1"))
	require.False(t, atLeast("v1.79.3-dev", "v1.79.3"), "a pre-release")
}

// atLeast compares versions of three numbers. Any other version counts as less.
func atLeast(used, fixed string) bool {
	return !strings.Contains(used, "-") && version.Compare(strings.Replace(used, "v", "go", 1), strings.Replace(fixed, "v", "go", 1)) >= 0
}
