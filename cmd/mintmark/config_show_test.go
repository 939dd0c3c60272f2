package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/web"
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

// noVariables hides what the environment of this test has of ours.
func noVariables(t *testing.T) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, envPrefix) {
			t.Setenv(name, "") // so that it is put back
			require.NoError(t, os.Unsetenv(name))
		}
	}
}

func TestConfigShow(t *testing.T) {
	noVariables(t)
	const key = "bm90IHRoZSBrZXkgb2YgYW55IGNsdXN0ZXIgYXQgYWxs"
	t.Setenv("MINTMARK_TRUSTED_PROXY", "10.0.0.0/8,::1")
	t.Setenv(envClusterKey, key)
	t.Setenv(envUpstreamSecret, key)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("node.yaml", []byte("\nops-listen: 127.0.0.1:9\n"), 0o600))
	arguments := []string{"show", "--config", "node.yaml", "--name", "n1", "--verbose"}

	text, err := runConfig(t, arguments...)
	require.NoError(t, err)
	require.NotContains(t, text, key)
	require.Equal(t, `SETTING                      VALUE            SOURCE
config                       node.yaml        flag --config
data-dir                     .data            default
name                         n1               flag --name
listen                       127.0.0.1:8080   default
ops-listen                   127.0.0.1:9      node.yaml:2
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
feed-secrets                 -                default
upstream-issuer              -                default
upstream-name                -                default
upstream-client-id           -                default
upstream-client-secret-file  -                default
upstream-scope               -                default
upstream-admin-claim         -                default
upstream-admin-value         -                default
upstream-admin-email         -                default
password-sign-in             true             default
otlp-endpoint                -                default
trust-clock                  false            default
drain                        1s               default
stop-timeout                 10s              default
log-format                   text             default
verbose                      true             flag --verbose
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
	require.Len(t, found, len(new(serveOptions).settings())+2)
	require.Equal(t, [3]any{"127.0.0.1:9", "file", "node.yaml:2"}, found[keyOpsListen])
	require.Equal(t, [3]any{[]any{"10.0.0.0/8", "::1"}, "environment", "MINTMARK_TRUSTED_PROXY"}, found[keyTrustedProxy])
	require.Equal(t, [3]any{[]any{}, "default", ""}, found[keyPeer], "an empty list, not null")
	require.Equal(t, [3]any{true, "flag", "--verbose"}, found[keyVerbose])
	require.Equal(t, [3]any{hiddenKey, "environment", envClusterKey}, found["cluster-key"])
	require.Equal(t, [3]any{hiddenKey, "environment", envUpstreamSecret}, found["upstream-client-secret"])
}

// TestConfigShowOfAMistake: the table is there, and so is the error.
func TestConfigShowOfAMistake(t *testing.T) {
	noVariables(t)
	text, err := runConfig(t, "show", "--listen", "nowhere")
	require.ErrorContains(t, err, "listen (flag --listen)")
	require.Equal(t, exitLocal, exitCode(err))
	require.Contains(t, text, "nowhere")

	_, err = runConfig(t, "show", "-o", "xml")
	require.ErrorContains(t, err, "--output")
}

// TestExampleConfig: it names every setting, with its default and no other.
func TestExampleConfig(t *testing.T) {
	text, err := runConfig(t, "example")
	require.NoError(t, err)
	require.Equal(t, exampleConfig, text)

	o, from, err := loadConfig(t, []string{"--name", "n1"}, nil, text)
	require.NoError(t, err)
	want, _, err := loadConfig(t, []string{"--name", "n1"}, nil, "")
	require.NoError(t, err)
	for i, s := range o.settings() {
		if s.key == keyConfig || s.key == keyName {
			continue
		}
		require.Equal(t, fromFile, from[s.key].Kind, "the example does not name %s", s.key)
		if list, ok := s.value.(*[]string); ok {
			require.Empty(t, *list, s.key)
			continue
		}
		require.Equal(t, want.settings()[i].value, s.value, s.key)
	}
	lines, err := linesOfKeys([]byte(text))
	require.NoError(t, err)
	require.Len(t, lines, len(o.settings())-1, "all but config")
}

// TestConfigFlagsOfTheContract: scripts of operators rely on these names.
func TestConfigFlagsOfTheContract(t *testing.T) {
	var o serveOptions
	f := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.flags(f)
	var names []string
	f.VisitAll(func(f *pflag.Flag) {
		names = append(names, f.Name)
		require.NotEmpty(t, f.Usage, f.Name)
	})
	require.Equal(t, strings.Fields(`advertise app-url cluster-key-file cluster-listen config data-dir drain
		feed-secrets join listen log-format name ops-listen otlp-endpoint password-sign-in peer plain-http public-url stop-timeout token-file trust-clock trusted-proxy
		upstream-admin-claim upstream-admin-email upstream-admin-value upstream-client-id upstream-client-secret-file
		upstream-issuer upstream-name upstream-scope verbose`), names)
	require.Equal(t, ".data", filepath.Clean(o.DataDir))
}

// TestReadmeExplainsSignIn: README has each setting of signing in.
func TestReadmeExplainsSignIn(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	for _, s := range new(serveOptions).signInSettings() {
		require.Contains(t, string(text), "`"+s.key+"`")
	}
	require.Contains(t, string(text), "`"+envUpstreamSecret+"`")
	require.Contains(t, string(text), "`"+web.PathUpstreamCallback+"`")
}
