package cli

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A remoteCLI is the command line on a machine that has no node.
type remoteCLI struct {
	*cliEnv
	server *admintest.RemoteServer
	flags  []string // of the connection to the server
	token  string   // file of the operator token
}

func newRemoteCLI(t *testing.T, scopes string) *remoteCLI {
	t.Helper()
	c := newCLI(t)
	r := &remoteCLI{cliEnv: c, server: c.ServeRemote(), token: filepath.Join(t.TempDir(), "token")}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	writePEM(t, ca, 0o644, "CERTIFICATE", r.server.Authority.Certificate().Raw)
	require.NoError(t, os.WriteFile(r.token, []byte(c.OK("", "operator", "token", "add", "ci", "--scope", scopes, "--lifetime", "90d")), 0o600))
	r.flags = []string{"--server", r.server.URL, "--server-ca-file", ca}
	return r
}

func writePEM(t *testing.T, path string, mode os.FileMode, kind string, der []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode))
}

func (r *remoteCLI) run(t *testing.T, args ...string) testkit.Result {
	t.Helper()
	return testkit.Run(t, r.Execute, slices.Concat(args, r.flags)...)
}

func (r *remoteCLI) ok(t *testing.T, args ...string) string {
	t.Helper()
	result := r.run(t, args...)
	require.Zero(t, result.Code, "%v: %s", args, result.Err)
	return result.Out
}

func (r *remoteCLI) fails(t *testing.T, code int, text string, args ...string) {
	t.Helper()
	result := r.run(t, args...)
	require.Equal(t, code, result.Code, "%v: %s", args, result.Err)
	require.Contains(t, result.Err, text)
	require.Equal(t, 1, strings.Count(result.Err, "\n"), "the error must be one line: %s", result.Err)
}

func TestCommandsWithAToken(t *testing.T) {
	r := newRemoteCLI(t, "read,clients,users")
	r.flags = append(r.flags, "--token-file", r.token)
	require.Contains(t, r.ok(t, "client", "list"), "cal-app")
	require.Contains(t, r.ok(t, "client", "approve", "cal-app"), "approved")
	require.Contains(t, r.ok(t, "audit", "--kind", "client.reviewed"), "token:ci")
	require.Contains(t, r.ok(t, "operator", "token", "list"), "read clients users")
	require.Contains(t, testkit.Run(t, r.Execute, slices.Concat([]string{"__complete", "client", "show"}, r.flags, []string{""})...).Out, "cal-app")

	r.fails(t, ExitRefused, "does not have the scope of the operation (settings)", "settings", "set", "code_lifetime=60s")
	r.fails(t, ExitRefused, "only an operator on a node's own machine may do that", "user", "admin", "alice")
	r.fails(t, ExitNotFound, "not found", "client", "show", "none")
	r.fails(t, ExitLocal, "give --data-dir or --server, not both", "client", "list", "--data-dir", r.Dir)

	r.OK("", "operator", "token", "revoke", "ci")
	r.fails(t, ExitRefused, "the operator token was revoked", "client", "list")
	require.NoError(t, os.Chmod(r.token, 0o644))
	r.fails(t, ExitLocal, "others can read", "client", "list")
	require.NotContains(t, r.Log.String(), "mmo_")
}

// TestTokenWithoutALeader: without a leader the token can't be checked, so cluster status
// fails too. Its advice names a client certificate, since with the token the same command
// would fail again.
func TestTokenWithoutALeader(t *testing.T) {
	r := newRemoteCLI(t, "read")
	r.flags = append(r.flags, "--token-file", r.token)
	r.SetNoLeader(true)
	r.fails(t, ExitUnhealthy, "the operator token can't be checked while no leader answers, and nothing was changed (mintmark cluster status has the reason with a client certificate", "cluster", "status")
}

// TestApplyWithAToken: the plan already refuses what the server would refuse to a token:
// to make or change an administrator.
func TestApplyWithAToken(t *testing.T) {
	r := newRemoteCLI(t, "read,clients,users")
	r.flags = append(r.flags, "--token-file", r.token)
	file := filepath.Join(t.TempDir(), "f.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write("users:\n  - username: grace\n    name: Grace\n    admin: true\n")
	plan := []string{"apply", "-f", file, "--dry-run"}
	r.fails(t, ExitRefused, "f.yaml: line 4: user grace: admin can't be set: only an operator on a node's own machine may do that", plan...)
	r.OK("", "apply", "-f", file, "--yes")
	require.Contains(t, r.ok(t, plan...), "1 unchanged")
	for _, change := range []string{"    name: G\n", "    name: Grace\n    admin: false\n"} {
		write("users:\n  - username: grace\n" + change)
		r.fails(t, ExitRefused, "f.yaml: line 2: user grace: is an administrator: only an operator on a node's own machine may do that", plan...)
	}
}

// TestDryRunWithAToken: a dry run needs the scope read. To compare secrets or passwords
// it also needs the scope that may change them.
func TestDryRunWithAToken(t *testing.T) {
	const client = "clients: [{id: app, name: App, owner: alice, type: confidential, redirect_uris: [\"https://app.example/cb\"], scopes: [PROFILE_READ]"
	file := filepath.Join(t.TempDir(), "f.yaml")
	for text, missing := range map[string]string{
		"users: [{username: ada, name: Ada}]\nsettings: {code_lifetime: 60s}": "",
		"users: [{username: ada, password: \"lantern under oak\"}]":           "", // a new user has no password to compare
		"clients: [{id: cal-app, name: C, owner: alice, type: confidential, redirect_uris: [\"https://app.example/cb\"], scopes: [PROFILE_READ]}]\nresource_servers: [{id: \"https://r.example\", name: r}]": "",
		client + ", secret_sha256: " + strings.Repeat("0", 64) + "}]":                                              "clients",
		"resource_servers: [{id: \"https://r.example\", name: r, secret_sha256: " + strings.Repeat("0", 64) + "}]": "clients",
		"users: [{username: alice, password: \"lantern under oak\", reset_password: true}]":                        "users",
		"users: [{username: ada, password_hash: $2a$04$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy}]":    "users",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		plan := func(scopes string) testkit.Result {
			r := newRemoteCLI(t, scopes)
			s := ledger.DefaultSettings()
			s.BaseURL, s.AppURL, s.Audience = "https://id.example", "https://id.example", "https://id.example"
			r.Do(&ledger.Configure{Settings: s})
			r.flags = append(r.flags, "--token-file", r.token)
			return r.run(t, "apply", "-f", file, "--dry-run")
		}
		reader := plan("read")
		if missing == "" {
			require.Equal(t, ExitChanges, reader.Code, "%s: %s", text, reader.Err)
			require.Contains(t, reader.Out, " to add", text)
			continue
		}
		require.Equal(t, ExitRefused, reader.Code, text)
		require.Contains(t, reader.Err, "does not have the scope of the operation ("+missing+")", text)
		require.Equal(t, ExitChanges, plan("read,"+missing).Code, text)
		require.Equal(t, ExitRefused, plan(missing).Code, "the scope read is needed too")
	}
}

func TestCommandsWithACertificate(t *testing.T) {
	r := newRemoteCLI(t, "read")
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair := r.server.Operators.Issue("ada", []string{"read", "clients"}, nil)
	writePEM(t, cert, 0o644, "CERTIFICATE", pair.Certificate[0])
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	writePEM(t, key, 0o600, "PRIVATE KEY", der)
	_, err = tls.LoadX509KeyPair(cert, key)
	require.NoError(t, err)
	server := r.flags
	r.flags = append(server, "--cert-file", cert, "--key-file", key)
	require.Contains(t, r.ok(t, "client", "approve", "cal-app"), "approved")
	require.Contains(t, r.ok(t, "audit", "--kind", "client.reviewed"), "certificate:ada")

	token, err := os.ReadFile(r.token)
	require.NoError(t, err)
	piped := testkit.RunInput(t, r.Execute, string(token), slices.Concat([]string{"client", "list", "--token-file", "-"}, server)...)
	require.Zero(t, piped.Code, piped.Err)
	require.Contains(t, piped.Out, "cal-app")

	r.flags = append(server, "--cert-file", cert)
	r.fails(t, ExitLocal, "--server needs either --token-file, or --cert-file and --key-file", "client", "list")
	r.flags = append(server, "--cert-file", cert, "--key-file", key, "--token-file", r.token)
	r.fails(t, ExitLocal, "--server needs either", "client", "list")
	r.flags = server
	r.fails(t, ExitLocal, "--server needs either", "client", "list")
	require.NoError(t, os.Chmod(key, 0o640))
	r.flags = append(server, "--cert-file", cert, "--key-file", key)
	r.fails(t, ExitLocal, "others can read", "client", "list")
}

// TestServerInTheEnvironment: variables set the defaults of the flags. --data-dir selects
// the node on this machine nevertheless.
func TestServerInTheEnvironment(t *testing.T) {
	r := newRemoteCLI(t, "read")
	t.Setenv(config.EnvServer, r.server.URL)
	t.Setenv(config.EnvServerCAFile, r.flags[3])
	t.Setenv(config.EnvServerTokenFile, r.token)
	r.flags = nil
	require.Contains(t, r.ok(t, "client", "list"), "cal-app")
	r.fails(t, ExitRefused, "does not have the scope", "client", "approve", "cal-app")
	r.OK("", "client", "approve", "cal-app")
	r.fails(t, ExitRefused, "only an operator on a node's own machine may do that", "cluster", "invite", "--name", "n4")
	var o config.Options
	serve := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.Flags(serve)
	_, from, err := config.Load(serve, []string{config.EnvServer + "=x", config.EnvServerTokenFile + "=y"})
	require.NoError(t, err)
	require.NotContains(t, from, "server", "server is not a setting of a node")
}

// TestServerInAFile: flags override variables, and variables override the file. Paths in
// the file are relative to it. Its credentials are sent only to the server that it names.
func TestServerInAFile(t *testing.T) {
	r := newRemoteCLI(t, "read")
	dir := filepath.Join(t.TempDir(), "mintmark")
	require.NoError(t, os.Mkdir(dir, 0o700))
	file, ca, server := filepath.Join(dir, "server.yaml"), r.flags[3], r.flags
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	relative, err := filepath.Rel(dir, r.token)
	require.NoError(t, err)
	good := "server: " + r.server.URL + "\nserver-ca-file: " + ca + "\ntoken-file: " + relative + "\n"
	write(good)
	r.flags = nil
	r.fails(t, ExitUnreachable, "", "client", "list", "--data-dir", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", filepath.Dir(dir))
	require.Contains(t, r.ok(t, "client", "list"), "cal-app")
	r.fails(t, ExitRefused, "only an operator on a node's own machine may do that", "cluster", "invite", "--name", "n4")
	require.Contains(t, testkit.Run(t, r.Execute, "__complete", "client", "show", "").Out, "cal-app")
	r.flags = []string{"--server", r.server.URL}
	require.Contains(t, r.ok(t, "client", "list"), "cal-app", "the flag names the same server as the file")
	require.Contains(t, r.OK("", "client", "list"), "cal-app", "--data-dir overrides the file")

	other := filepath.Join(t.TempDir(), "none")
	r.flags = []string{"--token-file", other}
	r.fails(t, ExitLocal, other, "client", "list")
	t.Setenv(config.EnvServerTokenFile, other)
	r.flags = nil
	r.fails(t, ExitLocal, other, "client", "list")
	r.flags = []string{"--token-file", r.token}
	require.Contains(t, r.ok(t, "client", "list"), "cal-app", "the flag overrides the variable")
	t.Setenv(config.EnvServerTokenFile, "")
	r.flags = []string{"--server", "https://127.0.0.1:1"}
	r.fails(t, ExitLocal, "--server needs either", "client", "list")
	t.Setenv(config.Variable(config.KeyDataDir), r.Dir)
	r.flags = nil
	require.Contains(t, r.ok(t, "client", "approve", "cal-app"), "approved", "the variable of the node overrides the file")
	t.Setenv(config.EnvServer, r.server.URL)
	r.fails(t, ExitRefused, "does not have the scope", "client", "suspend", "cal-app", "--reason", "x")

	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	r.fails(t, ExitLocal, "--server needs either", "client", "list")
	t.Setenv(config.EnvServerConfig, file)
	require.Contains(t, r.ok(t, "client", "list"), "cal-app")
	for text, expected := range map[string]string{
		"server: [x]\n":          file + ":1: server: expected a text",
		good + "tokenfile: x\n":  file + `:4: unknown key "tokenfile": is token-file meant?`,
		good + "data-dir: x\n":   `unknown key "data-dir"`,
		"server: x\nserver: x\n": "is repeated in line 2",
	} {
		write(text)
		r.fails(t, ExitLocal, expected, "client", "list")
	}
	require.NoError(t, os.Remove(file))
	r.fails(t, ExitLocal, "open settings file: ", "client", "list")
	r.flags = server
	r.fails(t, ExitLocal, "open settings file: ", "cluster", "status")
}

// TestServerUnreachable: if the server doesn't answer, a command never uses the files of
// this machine instead.
func TestServerUnreachable(t *testing.T) {
	r := newRemoteCLI(t, "cluster")
	r.flags = []string{"--server", "https://127.0.0.1:1", "--token-file", r.token}
	for _, args := range [][]string{{"client", "list"}, {"cluster", "backup", "save", filepath.Join(t.TempDir(), "b")}, {"cluster", "backup", "journal", filepath.Join(t.TempDir(), "j")}} {
		r.fails(t, ExitUnreachable, "no answer from the server https://127.0.0.1:1: connection refused (see --server and --server-ca-file)", args...)
	}
	r.flags = []string{"--server", r.server.URL, "--token-file", r.token}
	r.fails(t, ExitUnreachable, "signed by unknown authority", "client", "list")
	r.flags = []string{"--server", "http://127.0.0.1:1", "--token-file", r.token}
	r.fails(t, ExitLocal, "must be https://HOST:PORT", "client", "list")
}

// TestApplyFromElsewhere: a token suffices to apply a file from another machine, such as
// a laptop or a pipeline.
func TestApplyFromElsewhere(t *testing.T) {
	r := newRemoteCLI(t, "read,clients,users,settings")
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://id.example", "https://id.example", "https://id.example"
	r.Do(&ledger.Configure{Settings: s})
	r.flags = append(r.flags, "--token-file", r.token)
	file := filepath.Join(t.TempDir(), "clients.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
users: [{username: ada}]
clients: [{id: app, name: App, owner: ada, type: public, redirect_uris: ["https://app.example/cb"], scopes: [PROFILE_READ]}]
settings: {code_lifetime: 60s}
`), 0o644))
	require.Contains(t, r.ok(t, "apply", "-f", file, "--yes"), "2 to add, 1 to change")
	require.Contains(t, r.ok(t, "apply", "-f", file, "--dry-run"), "3 unchanged")
	require.Contains(t, r.ok(t, "export"), "id: app")
	require.Contains(t, r.OK("", "audit", "--kind", "client.applied"), "token:ci")
	require.NoError(t, os.WriteFile(file, []byte(`users: [{username: ada, admin: true}]`), 0o644))
	r.fails(t, ExitRefused, "only an operator on a node's own machine may do that", "apply", "-f", file, "--yes")
}

// TestLocalCommands verifies that each command either asks the node that --server names, or
// refuses the flag.
func TestLocalCommands(t *testing.T) {
	r := newRemoteCLI(t, "read")
	r.flags = []string{"--server", "https://127.0.0.1:1", "--token-file", r.token}
	declared := filepath.Join(t.TempDir(), "declared.yaml")
	require.NoError(t, os.WriteFile(declared, []byte("users:\n  - id: u-x\n    username: x\n"), 0o600))
	arguments := map[string][]string{
		"apply":          {"-f", declared},
		"bench exchange": {"--yes"}, "bench introspect": {"--yes"}, "bench refresh": {"--yes"},
		"client set": {"--name", "x"}, "client secret set": {"--name", "x"},
		"client delete": {"--yes"}, "user delete": {"--yes"}, "cluster remove": {"--yes"}, "cluster recover": {"--yes"},
		"publisher add": {"--scope", "PROFILE_READ"}, "publisher remove": {"--yes"}, "publisher set": {"--name", "x"}, "grant revoke": {"x"},
		"resource-server remove": {"--yes"}, "resource-server set": {"--name", "x"},
		"grant list": {"--user", "x"}, "keys rotate": {"--purpose", "signing"},
	}
	files := map[string]string{}
	asked, local := 0, 0
	var visit func(c *cobra.Command, path string)
	visit = func(c *cobra.Command, path string) {
		for _, below := range c.Commands() {
			visit(below, strings.TrimSpace(path+" "+below.Name()))
		}
		if c.HasSubCommands() || c.InheritedFlags().Lookup("server") == nil && c.Flags().Lookup("server") == nil {
			return
		}
		args := strings.Fields(path)
		needed, _ := operands(c)
		for _, operand := range needed {
			value := "x"
			if operand == "FILE" {
				value = filepath.Join(t.TempDir(), "file")
				files[path] = value
				if path == "client import" {
					require.NoError(t, os.WriteFile(value, []byte(`{"id":"x","name":"x","type":"public","owner":"x","redirect_uris":["https://x.example/"]}`+"\n"), 0o600))
				}
			}
			if operand == "KEY=VALUE" {
				value = "code_lifetime=60s"
			}
			args = append(args, value)
		}
		args = append(args, arguments[path]...)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Annotations[cobra.BashCompOneRequiredFlag] != nil && !slices.Contains(args, "--"+f.Name) {
				value := "x"
				if f.Value.Type() == "duration" {
					value = "1h"
				}
				args = append(args, "--"+f.Name, value)
			}
		})
		result := r.run(t, args...)
		if _, is := localCommands[path]; is {
			local++
			require.Equal(t, ExitRefused, result.Code, "%s: %s", path, result.Err)
			require.Contains(t, result.Err, path+": only an operator on a node's own machine may do that (run it on a node's own machine, without --server)")
			require.Equal(t, 1, strings.Count(result.Err, "\n"), result.Err)
			return
		}
		asked++
		require.Contains(t, result.Err, "no answer from the server", path)
	}
	visit(Root("test"), "")
	require.Len(t, localCommands, local)
	require.Greater(t, asked, 30)
}
