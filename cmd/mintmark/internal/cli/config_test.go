package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
)

// runConfig runs "mintmark config ..." and returns what it prints.
func runConfig(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := configCommand()
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(arguments)
	err := c.Execute()
	return out.String(), err
}

// noVariables removes the variables of Mintmark from the environment of the test.
func noVariables(t *testing.T) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, config.EnvPrefix) {
			t.Setenv(name, "") // restores the variable at the end of the test
			require.NoError(t, os.Unsetenv(name))
		}
	}
}

func TestConfigShow(t *testing.T) {
	noVariables(t)
	const key = "bm90IHRoZSBrZXkgb2YgYW55IGNsdXN0ZXIgYXQgYWxs"
	t.Setenv("MINTMARK_TRUSTED_PROXY", "10.0.0.0/8,::1")
	t.Setenv(config.EnvClusterKey, key)
	t.Setenv(config.EnvUpstreamSecret, key)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("node.yaml", []byte("\nops-listen: 127.0.0.1:9\n"), 0o600))
	arguments := []string{"show", "--config", "node.yaml", "--name", "n1", "--log-level", "debug"}

	text, err := runConfig(t, arguments...)
	require.NoError(t, err)
	require.NotContains(t, text, key)
	require.Equal(t, `SETTING                      VALUE            SOURCE
config                       node.yaml        flag --config
data-dir                     .data            default
name                         n1               flag --name
listen                       127.0.0.1:8080   default
tls-cert-file                -                default
tls-key-file                 -                default
ops-listen                   127.0.0.1:9      node.yaml:2
ops-tls-cert-file            -                default
ops-tls-key-file             -                default
cluster-listen               127.0.0.1:8300   default
advertise                    -                default
peer                         -                default
join                         -                default
token-file                   -                default
public-url                   -                default
app-url                      -                default
plain-http                   false            default
cluster-key-file             -                default
trusted-proxy                10.0.0.0/8, ::1  environment MINTMARK_TRUSTED_PROXY
upstream-issuer              -                default
upstream-name                -                default
upstream-client-id           -                default
upstream-client-secret-file  -                default
upstream-scope               -                default
upstream-admin-claim         -                default
upstream-admin-value         -                default
upstream-admin-email         -                default
password-sign-in             true             default
backup-dir                   -                default
backup-every                 0s               default
backup-keep                  7                default
otlp-endpoint                -                default
operators-listen             -                default
operators-tls-cert-file      -                default
operators-tls-key-file       -                default
operators-ca-file            -                default
trust-clock                  false            default
drain                        1s               default
stop-timeout                 10s              default
log-format                   text             default
log-level                    debug            flag --log-level
access-log                   true             default
ops-debug                    false            default
cluster-key                  (not shown)      environment MINTMARK_CLUSTER_KEY
upstream-client-secret       (not shown)      environment MINTMARK_UPSTREAM_CLIENT_SECRET
`, text)

	text, err = runConfig(t, append(arguments, "-o", "json")...)
	require.NoError(t, err)
	require.NotContains(t, text, key)
	var answer struct {
		Settings []struct {
			Key, Source, Where string
			Value              any
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	found := map[string][3]any{}
	for _, s := range answer.Settings {
		found[s.Key] = [3]any{s.Value, s.Source, s.Where}
	}
	require.Len(t, found, len(new(config.Options).Settings())+2)
	require.Equal(t, [3]any{"127.0.0.1:9", "file", "node.yaml:2"}, found[config.KeyOpsListen])
	require.Equal(t, [3]any{[]any{"10.0.0.0/8", "::1"}, "environment", "MINTMARK_TRUSTED_PROXY"}, found[config.KeyTrustedProxy])
	require.Equal(t, [3]any{[]any{}, "default", ""}, found[config.KeyPeer], "an empty list, not null")
	require.Equal(t, [3]any{"debug", "flag", "--log-level"}, found[config.KeyLogLevel])
	require.Equal(t, [3]any{config.Hidden, "environment", config.EnvClusterKey}, found["cluster-key"])
	require.Equal(t, [3]any{config.Hidden, "environment", config.EnvUpstreamSecret}, found["upstream-client-secret"])
}

// TestConfigShowOfAMistake: if a setting is wrong, the command prints both the table and
// the error.
func TestConfigShowOfAMistake(t *testing.T) {
	noVariables(t)
	text, err := runConfig(t, "show", "--listen", "nowhere")
	require.ErrorContains(t, err, "listen (flag --listen)")
	require.Equal(t, ExitLocal, exitCode(err))
	require.Contains(t, text, "nowhere")

	_, err = runConfig(t, "show", "-o", "xml")
	require.ErrorContains(t, err, "--output")
}

// TestConfigExample: the command prints the example of package config.
func TestConfigExample(t *testing.T) {
	text, err := runConfig(t, "example")
	require.NoError(t, err)
	require.Equal(t, config.Example, text)
}
