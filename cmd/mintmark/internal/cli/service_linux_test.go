package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestServiceAccountIsMade: the useradd command of install.md and of the help of "cluster
// generate" works in an empty system.
func TestServiceAccountIsMade(t *testing.T) {
	guide, account := readText(t, filepath.Join("..", "..", "docs", "install.md")), set(t, units(t)["default"], "User")
	line := regexp.MustCompile(`(?m)^sudo useradd (.*)$`).FindStringSubmatch(guide)
	require.NotNil(t, line)
	require.Contains(t, runLine(t, "cluster", "generate", "--help").Out, "\n  useradd "+line[1]+"\n")
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "etc"), 0o700))
	for _, name := range []string{"passwd", "group", "shadow", "gshadow"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "etc", name), nil, 0o600))
	}
	out, err := exec.CommandContext(t.Context(), "unshare", append([]string{"--user", "--map-root-user", "useradd", "--prefix", dir}, strings.Fields(line[1])...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, `(?m)^`+account+`:`, readText(t, filepath.Join(dir, "etc", "passwd")))
	require.Regexp(t, `(?m)^`+account+`:`, readText(t, filepath.Join(dir, "etc", "group")))
}

// TestUnitsAreUnderstood: systemd accepts the units without a warning (it ignores unknown
// settings otherwise), and rates their exposure low.
func TestUnitsAreUnderstood(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	require.NoError(t, err, "make deps installs systemd-analyze")
	self, err := os.Executable()
	require.NoError(t, err)
	for name, text := range units(t) {
		file := filepath.Join(t.TempDir(), "mintmark.service")
		program, _, _ := strings.Cut(set(t, text, "ExecStart"), " ")
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(text, "ExecStart="+program+" ", "ExecStart="+self+" ", 1)), 0o600))
		out, err := exec.CommandContext(t.Context(), analyze, "verify", file).CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		require.Empty(t, string(out), name)

		out, err = exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager", file).CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		level := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+) `).FindSubmatch(out)
		require.NotNil(t, level, "%s", out)
		exposure, err := strconv.ParseFloat(string(level[1]), 64)
		require.NoError(t, err)
		limit := 1.5
		if name == "low ports" {
			limit = 1.8
		}
		require.LessOrEqual(t, exposure, limit, "%s: %s", name, out)
	}
}
