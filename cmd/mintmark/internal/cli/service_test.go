package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
)

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// units returns the units that "mintmark unit" prints.
func units(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, args := range map[string][]string{
		"default":   {"unit"},
		"packaged":  {"unit", "--binary", "/usr/bin/mintmark"},
		"low ports": {"unit", "--low-ports", "--config", "/var/lib/mintmark/config.yaml"},
	} {
		r := runLine(t, args...)
		require.Equal(t, ExitOK, r.Code, r.Err)
		all[name] = r.Out
	}
	require.Contains(t, all["packaged"], "\nExecStart=/usr/bin/mintmark serve --config /etc/mintmark/mintmark.yaml ")
	require.Contains(t, all["low ports"], "\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n")
	require.NotContains(t, all["low ports"], "PrivateUsers", "in a user namespace the capability would not permit low ports")
	require.NotContains(t, all["default"], "AmbientCapabilities")
	return all
}

// set returns the value of a setting that a unit has exactly once.
func set(t *testing.T, unit, name string) string {
	t.Helper()
	all := regexp.MustCompile(`(?m)^`+name+`=(.*)$`).FindAllStringSubmatch(unit, -1)
	require.Len(t, all, 1, name)
	return all[0][1]
}

// TestServiceGuideMakesWhatTheUnitNames: install.md makes everything that the unit uses.
func TestServiceGuideMakesWhatTheUnitNames(t *testing.T) {
	guide, unit := readText(t, filepath.Join("..", "..", "docs", "install.md")), units(t)["default"]
	program, line, ok := strings.Cut(set(t, unit, "ExecStart"), " ")
	require.True(t, ok)
	require.Contains(t, guide, "\nsudo install -m 755 bin/mintmark "+program+"\n")
	serve, flags, err := testRoot().Find(strings.Fields(line))
	require.NoError(t, err)
	require.NoError(t, serve.ParseFlags(flags))
	settings, err := serve.Flags().GetString(config.KeyConfig)
	require.NoError(t, err)
	require.Contains(t, guide, "\nsudo install -m 644 .scratch/service.yaml "+settings+"\n", "install.md must install the settings file that the unit names")
	name, key, ok := strings.Cut(set(t, unit, "LoadCredential"), ":")
	require.True(t, ok)
	require.Equal(t, "cluster.key", name, "the node looks for a credential of this name")
	require.NotContains(t, key, "/", "with a path, the unit would fail if the file is missing")
	require.Contains(t, guide, "\nsudo install -m 600 .scratch/cluster.key /etc/credstore/"+key+"\n")
	require.Contains(t, guide, "`LoadCredentialEncrypted="+name+":"+key+"`")
	data, err := serve.Flags().GetString(config.KeyDataDir)
	require.NoError(t, err)
	require.Equal(t, packagedDataDir, data)
	require.Equal(t, "/var/lib/"+set(t, unit, "StateDirectory"), data)
	require.Contains(t, guide, "\nsudo -u "+set(t, unit, "User")+" mintmark cluster init --data-dir "+data+" ")
}

// TestUnitsKeepSecretsInMemory: the units forbid core files, which would contain the
// cluster key. They also wait until the clock is synchronized, since tokens have times.
func TestUnitsKeepSecretsInMemory(t *testing.T) {
	for name, text := range units(t) {
		require.Equal(t, "0", set(t, text, "LimitCORE"), name)
		for _, order := range []string{"After", "Wants"} {
			require.Contains(t, strings.Fields(set(t, text, order)), "time-sync.target", name)
		}
	}
}
