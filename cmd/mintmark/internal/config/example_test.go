package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/web"
)

// TestExampleConfig: the example has all settings with their defaults, and no others.
func TestExampleConfig(t *testing.T) {
	o, from, err := loadConfig(t, []string{"--name", "n1"}, nil, Example)
	require.NoError(t, err)
	want, _, err := loadConfig(t, []string{"--name", "n1"}, nil, "")
	require.NoError(t, err)
	for i, s := range o.Settings() {
		if s.Key == KeyConfig || s.Key == KeyName {
			continue
		}
		require.Equal(t, FromFile, from[s.Key].Kind, "the example does not name %s", s.Key)
		if list, ok := s.Value.(*[]string); ok {
			require.Empty(t, *list, s.Key)
			continue
		}
		require.Equal(t, want.Settings()[i].Value, s.Value, s.Key)
	}
	lines, err := linesOfKeys([]byte(Example))
	require.NoError(t, err)
	require.Len(t, lines, len(o.Settings())-1, "the example must have every setting except config")
}

// TestConfigFlagsOfTheContract: scripts of operators rely on these names.
func TestConfigFlagsOfTheContract(t *testing.T) {
	var o Options
	f := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.Flags(f)
	var names []string
	f.VisitAll(func(f *pflag.Flag) {
		names = append(names, f.Name)
		require.NotEmpty(t, f.Usage, f.Name)
	})
	require.Equal(t, strings.Fields(`access-log advertise app-url backup-dir backup-every backup-keep cluster-key-file cluster-listen config data-dir drain
		join listen log-format log-level name operators-ca-file operators-listen operators-tls-cert-file operators-tls-key-file ops-debug ops-listen ops-tls-cert-file ops-tls-key-file otlp-endpoint password-sign-in peer plain-http public-url stop-timeout tls-cert-file tls-key-file token-file trust-clock trusted-proxy
		upstream-admin-claim upstream-admin-email upstream-admin-value upstream-client-id upstream-client-secret-file
		upstream-issuer upstream-name upstream-scope`), names)
	require.Equal(t, ".data", filepath.Clean(o.DataDir))
}

// TestSignInIsDocumented: sign-in.md has the variable of the client secret, which has no
// flag, and the path to register at the provider. The flags are in a generated table.
func TestSignInIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "sign-in.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), "`"+EnvUpstreamSecret+"`")
	require.Contains(t, string(text), "`"+web.PathUpstreamCallback+"`")
}
