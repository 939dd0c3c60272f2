package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// documentedUnit is install.md, and its unit for systemd.
func documentedUnit(t *testing.T) (guide, unit string) {
	t.Helper()
	text := readText(t, filepath.Join("..", "..", "docs", "install.md"))
	_, unit, ok := strings.Cut(text, "```ini\n# /etc/systemd/system/mintmark.service\n")
	require.True(t, ok)
	unit, _, _ = strings.Cut(unit, "```")
	return text, unit
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// set is the only value of a setting of a unit.
func set(t *testing.T, unit, name string) string {
	t.Helper()
	all := regexp.MustCompile(`(?m)^`+name+`=(.*)$`).FindAllStringSubmatch(unit, -1)
	require.Len(t, all, 1, name)
	return all[0][1]
}

// TestServiceGuideMakesWhatTheUnitNames: a newcomer has nothing but what install.md
// tells them to make.
func TestServiceGuideMakesWhatTheUnitNames(t *testing.T) {
	guide, unit := documentedUnit(t)
	program, line, ok := strings.Cut(set(t, unit, "ExecStart"), " ")
	require.True(t, ok)
	require.Contains(t, guide, "\nsudo install -m 755 bin/mintmark "+program+"\n")
	serve, flags, err := testRoot().Find(strings.Fields(line))
	require.NoError(t, err)
	require.NoError(t, serve.ParseFlags(flags))
	settings, err := serve.Flags().GetString("config")
	require.NoError(t, err)
	require.Contains(t, guide, "\nsudo install -m 644 .scratch/service.yaml "+settings+"\n", "the node reads it")
	name, key, ok := strings.Cut(set(t, unit, "LoadCredential"), ":")
	require.True(t, ok)
	require.Equal(t, "cluster.key", name, "which the node looks for")
	require.Contains(t, guide, "\nsudo install -m 600 .scratch/cluster.key "+key+"\n")
	require.Contains(t, guide, "\nsudo install -d -m 755 "+filepath.Dir(key)+"\n")
	data, err := serve.Flags().GetString("data-dir")
	require.NoError(t, err)
	require.Equal(t, "/var/lib/"+set(t, unit, "StateDirectory"), data)
	require.Contains(t, guide, "\nsudo -u "+set(t, unit, "User")+" mintmark cluster init --data-dir "+data+" ")
}

// TestServiceAccountIsMade in an empty system, by the line that install.md and the
// generated unit have.
func TestServiceAccountIsMade(t *testing.T) {
	guide, unit := documentedUnit(t)
	account := set(t, unit, "User")
	line := regexp.MustCompile(`(?m)^sudo useradd (.*)$`).FindStringSubmatch(guide)
	require.NotNil(t, line)
	require.Contains(t, systemdUnit, "\n#   useradd "+line[1]+"\n")
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("useradd works on Linux only, and for root only")
	}
	useradd, err := exec.LookPath("useradd")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "etc"), 0o700))
	for _, name := range []string{"passwd", "group", "shadow", "gshadow"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "etc", name), nil, 0o600))
	}
	out, err := exec.CommandContext(t.Context(), useradd, append([]string{"--prefix", dir}, strings.Fields(line[1])...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, `(?m)^`+account+`:`, readText(t, filepath.Join(dir, "etc", "passwd")))
	require.Regexp(t, `(?m)^`+account+`:`, readText(t, filepath.Join(dir, "etc", "group")))
}

// TestUnitsKeepSecretsInMemory and start when the clock is set: a core file would
// have the cluster key, and no token may be minted by a clock that is not set yet.
func TestUnitsKeepSecretsInMemory(t *testing.T) {
	_, unit := documentedUnit(t)
	for name, text := range map[string]string{"install.md": unit, "generated": systemdUnit} {
		require.Equal(t, "0", set(t, text, "LimitCORE"), name)
		for _, order := range []string{"After", "Wants"} {
			require.Contains(t, strings.Fields(set(t, text, order)), "time-sync.target", name)
		}
	}
}

// TestUnitsAreUnderstood by systemd, which warns of a word that it does not know
// and goes on.
func TestUnitsAreUnderstood(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		require.NoFileExists(t, "/etc/debian_version", "make deps installs systemd-analyze")
		t.Skip("there is no systemd-analyze")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	_, unit := documentedUnit(t)
	for name, text := range map[string]string{"install.md": unit, "generated": systemdUnit} {
		file := filepath.Join(t.TempDir(), "mintmark.service")
		text = strings.Replace(text, "ExecStart=/usr/local/bin/mintmark ", "ExecStart="+self+" ", 1)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		out, err := exec.CommandContext(t.Context(), analyze, "verify", file).CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		require.Empty(t, string(out), name)
	}
}
