package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
)

// TestCommandsDoNotHangWithTheirNode: a stopped process (SIGSTOP) keeps its socket,
// accepts connections and answers nothing. Every command that asks a node reports that in
// time.
func TestCommandsDoNotHangWithTheirNode(t *testing.T) {
	n := newCluster(t, "n1")
	require.NoError(t, n.Process().Signal(syscall.SIGSTOP))
	file := filepath.Join(t.TempDir(), "backup")
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("lantern-under-oak"), 0o600))
	imported := filepath.Join(t.TempDir(), "clients.jsonl")
	require.NoError(t, os.WriteFile(imported, []byte(`{"id":"x","name":"X","redirect_uris":["https://x.example/cb"],"type":"public","owner":"alice"}`), 0o600))
	backup := filepath.Join(t.TempDir(), "backup")
	require.NoError(t, os.WriteFile(backup, []byte("a backup"), 0o600))
	declared := filepath.Join(t.TempDir(), "clients.yaml")
	require.NoError(t, os.WriteFile(declared, []byte("settings: {code_lifetime: 60s}"), 0o600))
	known := map[string]string{
		"apply":                         "apply -f " + declared,
		"client add":                    "client add --id x --name X --owner alice --redirect-uri https://x.example/cb --scope PROFILE_READ",
		"client import":                 "client import " + imported,
		"client set":                    "client set x --name Y",
		"client reject":                 "client reject x --reason because",
		"client suspend":                "client suspend x --reason because",
		"client secret revoke":          "client secret revoke x y",
		"client secret set":             "client secret set x y --name z",
		"user add":                      "user add x --password-file " + secret,
		"user password":                 "user password x --password-file " + secret,
		"grant disconnect":              "grant disconnect --user x --client y",
		"grant list":                    "grant list --user x",
		"keys rotate":                   "keys rotate --purpose signing",
		"settings set":                  "settings set code_lifetime=1m",
		"cluster backup journal":        "cluster backup journal " + file,
		"cluster backup save":           "cluster backup save " + file,
		"cluster backup restore":        "cluster backup restore " + backup,
		"cluster init":                  "cluster init --public-url https://auth.example",
		"cluster invitation withdraw":   "cluster invitation withdraw x",
		"cluster invite":                "cluster invite --name x",
		"bench exchange":                "bench exchange --yes",
		"bench introspect":              "bench introspect --yes",
		"bench refresh":                 "bench refresh --yes",
		"operator token add":            "operator token add x --scope read --lifetime 1h",
		"publisher add":                 "publisher add x.example --scope PROFILE_READ",
		"publisher remove":              "publisher remove x.example --yes",
		"publisher set":                 "publisher set x.example --name y",
		"grant revoke":                  "grant revoke x",
		"resource-server add":           "resource-server add https://x.example --name x",
		"resource-server remove":        "resource-server remove x --yes",
		"resource-server set":           "resource-server set x --name y",
		"resource-server secret revoke": "resource-server secret revoke x y",
		"cluster remove":                "cluster remove x --yes",
		"client delete":                 "client delete x --yes",
		"user delete":                   "user delete x --yes",
		"cluster replace":               "cluster replace x --name y",
	}
	asksNobody := []string{"keys new-cluster-key", "cluster backup inspect", "cluster generate", "cluster recover"}
	var asked int
	for _, name := range leaves(managed()) {
		if slices.Contains(asksNobody, name) {
			continue
		}
		line, ok := known[name]
		if !ok { // a command that takes an id or nothing
			line = name
			if c, _, err := rootCommand().Find(strings.Fields(name)); err == nil && strings.Contains(c.Use, " ") {
				line += " x"
			}
		}
		asked++
		began := time.Now()
		r := n.operate(t, append(strings.Fields(line), "--timeout", "200ms")...)
		require.Equal(t, cli.ExitUnreachable, r.Code, "%v: %s", line, r.Err)
		require.Contains(t, r.Err, "the node does not answer", "%v", line)
		require.Less(t, time.Since(began), 10*time.Second, "%v", line)
	}
	require.Greater(t, asked, 40)
	require.NoFileExists(t, file)
	require.NoError(t, n.Process().Signal(syscall.SIGCONT))
	require.True(t, n.WaitReady(30*time.Second))
	require.Equal(t, cli.ExitOK, n.operate(t, "user", "list", "--timeout", "10s").Code)
}

// leaves returns the paths of all commands without subcommands.
func leaves(commands []*cobra.Command) (paths []string) {
	for _, c := range commands {
		if c.HasSubCommands() {
			paths = append(paths, leaves(c.Commands())...)
			continue
		}
		paths = append(paths, strings.TrimPrefix(c.CommandPath(), "mintmark "))
	}
	return paths
}

// managed returns the commands that ask a node.
func managed() (commands []*cobra.Command) {
	for _, c := range rootCommand().Commands() {
		if c.PersistentFlags().Lookup("data-dir") != nil {
			commands = append(commands, c)
		}
	}
	return commands
}
