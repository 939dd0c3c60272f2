package testkit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// GoBuild runs go build in a module as the Makefile does: static, and without the race detector
// of the tests.
func GoBuild(module string, arguments ...string) error {
	c := exec.Command("go", append([]string{"build", "-race=false", "-trimpath"}, arguments...)...)
	c.Dir = module
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", strings.Join(arguments, " "), err, out)
	}
	return nil
}

// Output runs a program and returns what it prints. A failure ends the test.
func Output(t testing.TB, dir string, environment []string, name string, arguments ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, name, arguments...)
	c.Dir, c.Env = dir, append(os.Environ(), environment...)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, arguments, out)
	return string(out)
}

// CopyCheckout copies the files that git tracks, as they are in the checkout under root, into
// a repository of its own. It returns its folder.
func CopyCheckout(t testing.TB, root string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mintmark")
	list, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	require.NoError(t, err)
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		from, to := filepath.Join(root, name), filepath.Join(dir, name)
		info, err := os.Stat(from)
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		require.NoError(t, err)
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, text, info.Mode().Perm()))
	}
	for _, arguments := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=e2e", "-c", "user.email=e2e@example.com", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "copy"},
	} {
		out, err := exec.Command("git", append([]string{"-C", dir}, arguments...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return dir
}

// CloneFrom returns an environment in which git takes the published repository from dir.
func CloneFrom(t testing.TB, dir string) []string {
	config := filepath.Join(t.TempDir(), "gitconfig")
	text := fmt.Sprintf("[url %q]\n\tinsteadOf = https://github.com/mintmark-auth/mintmark.git\n\tinsteadOf = https://github.com/mintmark-auth/mintmark\n[safe]\n\tdirectory = *\n", "file://"+dir)
	require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	return []string{"GIT_CONFIG_GLOBAL=" + config}
}
