package packaging_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// TestRelease: the tags of .ci/release are sufficient for "go install", and a checkout of
// the release builds.
func TestRelease(t *testing.T) {
	const version = "v0.1.0"
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	clone, bin := testkit.CopyCheckout(t, root), t.TempDir()
	// The folders of a module cache form a module proxy. The version that is released
	// here is only in the test's own cache.
	environment := append(testkit.CloneFrom(t, clone),
		"GIT_AUTHOR_NAME=e2e", "GIT_AUTHOR_EMAIL=e2e@example.com", "GIT_COMMITTER_NAME=e2e", "GIT_COMMITTER_EMAIL=e2e@example.com",
		"GOPROXY=file://"+strings.TrimSpace(string(cache))+"/cache/download", "GOSUMDB=off", "GOPRIVATE=github.com/mintmark-auth/mintmark",
		"GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw -trimpath", "GOWORK=off", "GOBIN="+bin, "CGO_ENABLED=0",
	)
	run := func(dir, name string, arguments ...string) string {
		t.Helper()
		c := exec.Command(name, arguments...)
		c.Dir, c.Env = dir, append(os.Environ(), environment...)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s %v: %s", name, arguments, out)
		return string(out)
	}
	run(clone, ".ci/release", version)
	require.Equal(t, "middleware/"+version+"\n"+version+"\nverifier/"+version+"\n", run(clone, "git", "tag"))
	run(t.TempDir(), "go", "install", "github.com/mintmark-auth/mintmark/cmd/mintmark@"+version)
	require.Contains(t, run(bin, filepath.Join(bin, "mintmark"), "version"), "mintmark version "+version+" ")
	run(clone, "go", "build", "-o", bin, "./cmd/mintmark")
}
