package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// managementCommands returns the commands that ask a running node, over the socket in its
// data folder.
func managementCommands(version string) []*cobra.Command {
	m := &management{version: version}
	commands := []*cobra.Command{
		m.clientCommand(), m.publisherCommand(), m.resourceServerCommand(), m.userCommand(), m.grantCommand(), m.keysCommand(), m.settingsCommand(), m.explainCommand(), m.auditCommand(),
		m.clusterCommand(), m.operatorCommand(), m.benchCommand(), m.applyCommand(), m.exportCommand(),
	}
	dataDir := defaultDataDir(os.Getenv, ".data", packagedDataDir)
	for _, c := range commands {
		m.addCompletions(c)
		m.refuseServer(c, c.Name())
		m.registerServer(c)
		c.Long = cmp.Or(c.Long, c.Short+".") + "\n\n" + aboutManagement
		c.PersistentFlags().StringVar(&m.dataDir, "data-dir", dataDir, "data directory of the running node (MINTMARK_DATA_DIR)")
		config.DurationVar(c.PersistentFlags(), &m.timeout, "timeout", admin.DefaultTimeout, "for how long the node may be silent before it counts as hung (exit code 4)")
		outputs, other := otherOutputs[c.Name()]
		if !other {
			outputs = defaultOutputs
		}
		c.PersistentFlags().StringVarP(&m.output, "output", "o", outputText, "output format: "+anyOf(outputs))
		_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp))
		_ = c.MarkPersistentFlagDirname("data-dir")
	}
	return commands
}

// packagedDataDir is the data folder of the systemd unit.
const packagedDataDir = "/var/lib/mintmark"

// defaultDataDir returns the data folder of the node that runs on this machine: that of the
// environment, or the first candidate with a socket, or the first one. A folder that this
// account may not open may have one.
func defaultDataDir(getenv func(string) string, candidates ...string) string {
	if dir := getenv(config.Variable(config.KeyDataDir)); dir != "" {
		return dir
	}
	for _, dir := range candidates {
		if _, err := os.Lstat(filepath.Join(dir, admin.SocketName)); err == nil || errors.Is(err, fs.ErrPermission) {
			return dir
		}
	}
	return candidates[0]
}

const aboutManagement = `This speaks to the node that runs on this machine, over a socket in its data
directory that only the node's own account can open. Without --data-dir the socket
is looked for in .data, then in /var/lib/mintmark. With --server, its variable or
its file it speaks to a node on another machine instead: see mintmark docs remote.

Exit codes: 0 done, 1 wrong usage or a local fault, 2 refused by a rule, 3 not
found, 4 no node answers, or it is silent for --timeout, 5 the node answers, and
nothing can be decided now or the cluster is not healthy, 6 the plan of a dry run
has changes.`

// A management has the flags that all of these commands have.
type management struct {
	version string // of this program
	dataDir string
	output  string
	timeout time.Duration
	server  config.RemoteServer // flags
}

// open returns a caller of the node.
func (m *management) open(cmd *cobra.Command) (*admin.Caller, error) {
	return m.openFor(cmd, outputText, outputJSON)
}

// openFor is open for a command that supports these output formats.
func (m *management) openFor(cmd *cobra.Command, outputs ...string) (*admin.Caller, error) {
	if err := m.checkOutput(outputs...); err != nil {
		return nil, err
	}
	cmd.SilenceUsage = true // from here on the command line itself is right
	c, err := m.caller(cmd)
	if err != nil {
		return nil, err
	}
	c.Timeout = m.timeout
	c.Stale = func() {
		cmd.PrintErrln("warning: the cluster can't decide now; this is what the node knew last")
	}
	return c, nil
}

const (
	outputText  = "text"
	outputJSON  = "json"
	outputJSONL = "jsonl" // an object a line
)

// The formats of --output, and those of the commands that have others.
var (
	defaultOutputs = []string{outputText, outputJSON}
	auditOutputs   = []string{outputText, outputJSON, outputJSONL}
	exportOutputs  = []string{outputText}
	otherOutputs   = map[string][]string{"audit": auditOutputs, "export": exportOutputs}
)

// anyOf joins words, as in "text, json or jsonl".
func anyOf(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func (m *management) checkOutput(outputs ...string) error {
	if len(outputs) == 0 {
		outputs = defaultOutputs
	}
	if !slices.Contains(outputs, m.output) {
		return fmt.Errorf("--output must be %s", anyOf(outputs))
	}
	if m.timeout < time.Millisecond {
		return errors.New("--timeout must be at least 1ms")
	}
	return nil
}

// runOperation runs one operation and prints its answer, as JSON or by text.
func runOperation[Q, A any](m *management, cmd *cobra.Command, o admin.Operation[Q, A], q Q, text func(*printer, A)) error {
	c, err := m.open(cmd)
	if err != nil {
		return err
	}
	defer c.Close()
	answer, err := o.Call(cmdContext(cmd), c, q)
	if err != nil {
		return nameFlag(cmd, err)
	}
	return m.show(cmd, answer, func(p *printer) { text(p, answer) })
}

// nameFlag replaces the field of the request that a refusal names with the flag that it came
// from, and the flag's value if that is a text.
func nameFlag(cmd *cobra.Command, err error) error {
	p, ok := err.(*admin.Problem)
	if !ok || p.Note == "" {
		return err
	}
	field, item, _ := strings.Cut(strings.TrimSuffix(p.Field, "]"), "[")
	field = strings.ReplaceAll(field, "_", "-")
	f := cmp.Or(cmd.Flags().Lookup(field), cmd.Flags().Lookup(strings.TrimSuffix(field, "s")))
	if f == nil || !f.Changed {
		return err
	}
	named := *p
	named.Field = "--" + f.Name
	value := ""
	if f.Value.Type() == "string" {
		value = f.Value.String()
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		if i, err := strconv.Atoi(item); err == nil && i >= 0 && i < len(list.GetSlice()) {
			value = list.GetSlice()[i]
		}
	}
	if value != "" && !strings.HasPrefix(p.Note, `"`) { // otherwise the note quotes it
		named.Field += fmt.Sprintf(" %q", value)
	}
	return &named
}

// cmdContext returns the context of a command; tests run commands without one.
func cmdContext(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

func (m *management) show(cmd *cobra.Command, answer any, text func(*printer)) error {
	if m.output == "json" {
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(answer)
	}
	p := newPrinter(cmd.OutOrStdout(), cmd.ErrOrStderr())
	text(p)
	return p.writeErr()
}

// readSecret reads a secret from a file, or from standard input where path is "-": see
// config.ReadSecretFile. Without a path it is empty: one is made.
func readSecret(cmd *cobra.Command, path string) (admin.Plain, error) {
	switch path {
	case "":
		return "", nil
	case "-":
		return config.ReadSecret(cmd.InOrStdin(), path)
	}
	return config.ReadSecretFile(path, os.Getenv("CREDENTIALS_DIRECTORY"))
}

// command returns a cobra command.
func command(use, short string, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, RunE: run}
}

// group returns a command that only has subcommands.
func group(use, short string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, RunE: func(cmd *cobra.Command, _ []string) error {
		_ = cmd.Help()
		return errors.New("name a command")
	}}
	c.AddCommand(below...)
	return c
}
