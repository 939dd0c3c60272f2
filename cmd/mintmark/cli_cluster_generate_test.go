package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/keys"
)

// commandLine runs a command that needs no node.
func commandLine(t testing.TB, args ...string) cliResult {
	t.Helper()
	var out, remarks bytes.Buffer
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&remarks)
	err := root.ExecuteContext(t.Context())
	if err != nil {
		remarks.WriteString(err.Error() + "\n")
	}
	return cliResult{out.String(), remarks.String(), exitCode(err)}
}

func TestGenerateOnTheCommandLine(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a", "b")
	args := []string{
		"cluster", "generate", "--node", "n1=10.0.0.1:8300", "--node", "n2=n2.example:8301", "--node", "n3=127.0.0.3:8302",
		"--public-url", "https://id.example/", "--listen", ":8080", "--trusted-proxy", "10.0.0.9", "--out", out,
	}
	r := commandLine(t, args...)
	require.Equal(t, exitOK, r.code, r.err)
	require.Equal(t, 3, strings.Count(r.out, "\n"))
	require.Contains(t, r.out, "n2  n2.example:8301  "+filepath.Join(out, "n2"))
	require.Contains(t, r.err, "then delete "+out)

	// What is private is for its owner only, and there is one cluster key.
	files := 0
	require.NoError(t, filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o700)
		if !e.IsDir() {
			want = 0o600
			files++
		}
		require.Equal(t, want, info.Mode().Perm(), path)
		return nil
	}))
	require.Equal(t, 3*5, files)
	var key []keys.ClusterKey
	listen := map[string]string{"n1": ":8300", "n2": ":8301", "n3": "127.0.0.3:8302"}
	for name, address := range listen {
		k, err := keys.ReadClusterKey(filepath.Join(out, name, "cluster.key"))
		require.NoError(t, err)
		key = append(key, k)

		var o config.Options
		f := pflag.NewFlagSet("serve", pflag.ContinueOnError)
		o.Flags(f)
		require.NoError(t, f.Parse([]string{"--config", filepath.Join(out, name, "config.yaml")}))
		o, _, err = config.Load(f, nil)
		require.NoError(t, err)
		require.Equal(t, name, o.Name)
		require.Equal(t, address, o.ClusterListen)
		require.Equal(t, "https://id.example", o.PublicURL)
		require.Equal(t, "/var/lib/mintmark", o.DataDir)
		require.Equal(t, ":8080", o.Listen)
		require.Equal(t, []string{"10.0.0.9"}, o.TrustedProxies)
	}
	require.True(t, key[0].Equal(key[1]) && key[1].Equal(key[2]))

	r = commandLine(t, args...)
	require.Equal(t, exitLocal, r.code)
	require.Contains(t, r.err, "something in "+out+" already")
	r = commandLine(t, append(args, "--out", filepath.Join(t.TempDir(), "json"), "-o", "json")...)
	require.Equal(t, exitOK, r.code, r.err)
	var made generatedCluster
	require.NoError(t, json.Unmarshal([]byte(r.out), &made))
	require.Equal(t, "10.0.0.1:8300", made.Nodes[0].Address)
}

// TestGenerateSaysWhoCanReachTheAPI: a proxy on another machine does not reach a
// loopback address.
func TestGenerateSaysWhoCanReachTheAPI(t *testing.T) {
	const warning = "warning: the API will listen on "
	apart := []string{"--node", "n1=10.0.0.1:8300", "--node", "n2=n2.example:8300", "--node", "n3=10.0.0.3:8300"}
	here := []string{"--node", "n1=127.0.0.1:8300", "--node", "n2=[::1]:8301", "--node", "n3=localhost:8302"}
	for name, row := range map[string]struct {
		args  []string
		warns bool
	}{
		"three machines":             {apart, true},
		"three machines, everywhere": {append(slices.Clip(apart), "--listen", ":8080"), false},
		"an address of each machine": {append(slices.Clip(apart), "--listen", "10.0.0.1:8080"), false},
		"one machine":                {here, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := commandLine(t, append([]string{
				"cluster", "generate", "--public-url", "https://id.example", "--out", filepath.Join(t.TempDir(), "out"),
			}, row.args...)...)
			require.Equal(t, exitOK, r.code, r.err)
			require.Equal(t, row.warns, strings.Contains(r.err, warning), r.err)
		})
	}
}

func TestGenerateRefuses(t *testing.T) {
	node := func(list ...string) (args []string) {
		for _, n := range list {
			args = append(args, "--node", n)
		}
		return args
	}
	three := slices.Clip(node("n1=a:1", "n2=b:1", "n3=c:1"))
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"two nodes":       {node("n1=a:1", "n2=b:1"), "even number"},
		"no address":      {node("n1", "n2=b:1", "n3=c:1"), "(flag --node)"},
		"no port":         {node("n1=a", "n2=b:1", "n3=c:1"), "(flag --node)"},
		"everywhere":      {node("n1=0.0.0.0:1", "n2=b:1", "n3=c:1"), "that others can reach"},
		"same name":       {node("n1=a:1", "n1=b:1", "n3=c:1"), "n1"},
		"a path":          {node("../n1=a:1", "n2=b:1", "n3=c:1"), "expected a name"},
		"no origin":       {append(three, "--public-url", "id.example"), "(flag --public-url)"},
		"no URL":          {append(three, "--public-url", ""), "--public-url"},
		"no listener":     {append(three, "--listen", "nowhere"), "(flag --listen)"},
		"proxy by name":   {append(three, "--trusted-proxy", "proxy"), "(flag --trusted-proxy)"},
		"output":          {append(three, "-o", "xml"), "--output"},
		"unknown command": {[]string{"--nodes", "n1=a:1"}, "unknown flag"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := commandLine(t, append([]string{
				"cluster", "generate", "--public-url", "https://id.example", "--out", filepath.Join(dir, "out"),
			}, row.args...)...)
			require.Equal(t, exitLocal, r.code)
			require.Contains(t, r.err, row.want)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left, "nothing half-made is left")
		})
	}
}

// TestGenerateNamesWhatExists: what people copy from the help is what the
// program takes.
func TestGenerateNamesWhatExists(t *testing.T) {
	_, line, ok := strings.Cut(systemdUnit, "ExecStart=/usr/local/bin/mintmark ")
	require.True(t, ok)
	line, _, _ = strings.Cut(line, "\n")
	serve, flags, err := rootCommand().Find(strings.Fields(line))
	require.NoError(t, err)
	require.NoError(t, serve.ParseFlags(flags))
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	for _, setting := range []string{"Restart=always", "RestartSec=1", "ExecStart=/usr/local/bin/mintmark serve --config "} {
		require.Contains(t, systemdUnit, "\n"+setting)
		require.Contains(t, string(readme), "\n"+setting)
	}

	var set struct {
		Spec struct {
			Replicas int
			Template struct {
				Spec struct {
					Containers []struct {
						Args  []string
						Ready struct {
							Period   int `yaml:"periodSeconds"`
							Failures int `yaml:"failureThreshold"`
						} `yaml:"readinessProbe"`
						Ports []struct {
							Port int `yaml:"containerPort"`
						}
					}
				}
			}
		}
	}
	_, last, ok := strings.Cut(statefulSet, "kind: StatefulSet")
	require.True(t, ok)
	require.NoError(t, yamlv3.Unmarshal([]byte("kind: StatefulSet"+last), &set))
	require.Equal(t, 3, set.Spec.Replicas)
	serve, flags, err = rootCommand().Find(set.Spec.Template.Spec.Containers[0].Args)
	require.NoError(t, err)
	require.NoError(t, serve.ParseFlags(flags))
	drain, err := serve.Flags().GetDuration(config.KeyDrain)
	require.NoError(t, err)
	ready := set.Spec.Template.Spec.Containers[0].Ready
	require.Greater(t, drain/2, time.Duration(ready.Period*ready.Failures)*time.Second, "the probe notices a planned stop in time")

	// The command in its comment, as a shell reads it.
	_, command, ok := strings.Cut(statefulSet, "#   mintmark ")
	require.True(t, ok)
	command, _, _ = strings.Cut(command, "#   for")
	words := strings.Fields(strings.NewReplacer("\\\n", " ", "#", " ").Replace(command))
	words[slices.Index(words, "generated")] = filepath.Join(t.TempDir(), "generated")
	require.Equal(t, exitOK, commandLine(t, words...).code)
	for _, p := range set.Spec.Template.Spec.Containers[0].Ports {
		require.Contains(t, []int{8080, 8081, 8300}, p.Port)
	}
}

// A founder is a process that serves a generated folder.
type bootstrapNode struct {
	*nodeProcess
	log   string
	lines chan string // the line of JSON, closed at the end of standard output
}

// startBootstrap starts the process and does not wait for it.
func (n *nodeProcess) startBootstrap(t testing.TB, more ...string) *bootstrapNode {
	t.Helper()
	f := &bootstrapNode{nodeProcess: n, log: filepath.Join(t.TempDir(), "log"), lines: make(chan string, 1)}
	log, err := os.Create(f.log)
	require.NoError(t, err)
	defer log.Close()
	self, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(self, append([]string{
		"serve", "--config", filepath.Join(n.dir, "config.yaml"), "--data-dir", n.dir, "--listen", n.listen, "--ops-listen", n.ops,
	}, more...)...)
	c.Env = append(os.Environ(), runAs+"=mintmark")
	c.Stderr = log
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	n.process = &process{t: t, command: c}
	t.Cleanup(n.process.kill)
	go func() {
		defer close(f.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			f.lines <- s.Text()
		}
	}()
	return f
}

// requireServing waits until the node is ready.
func (f *bootstrapNode) requireServing(t testing.TB) {
	t.Helper()
	select {
	case line, ok := <-f.lines:
		text, _ := os.ReadFile(f.log)
		require.True(t, ok, "%s ended: %s", f.name, text)
		var s serving
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		require.Equal(t, "https://id.example", s.BaseURL)
		require.Equal(t, f.name, s.Name)
	case <-time.After(60 * time.Second):
		require.Fail(t, "does not serve", f.name)
	}
	require.True(t, f.waitReady(20*time.Second), f.name)
}

// requireExit waits for the end of the process, and returns what it said.
func (f *bootstrapNode) requireExit(t testing.TB) (code int, log string) {
	t.Helper()
	slow := time.AfterFunc(60*time.Second, func() { _ = f.command.Process.Kill() })
	defer slow.Stop()
	_ = f.command.Wait()
	text, err := os.ReadFile(f.log)
	require.NoError(t, err)
	return f.command.ProcessState.ExitCode(), string(text)
}

// TestGeneratedFoldersBecomeACluster with real processes: files are copied, and
// nobody types a command.
func TestGeneratedFoldersBecomeACluster(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	c := &cluster3{t: t}
	args := []string{"cluster", "generate", "--public-url", "https://id.example", "--app-url", "https://app.example", "--out", out}
	for i, name := range []string{"n1", "n2", "n3"} {
		c.nodes[i] = &nodeProcess{name: name, dir: filepath.Join(dir, name), listen: clustertest.Address(t), ops: clustertest.Address(t), clusterAddr: clustertest.Address(t)}
		c.nodes[i].opsURL = "http://" + c.nodes[i].ops
		args = append(args, "--node", name+"="+c.nodes[i].clusterAddr)
	}
	r := commandLine(t, args...)
	require.Equal(t, exitOK, r.code, r.err)
	give := func(n *nodeProcess) {
		require.NoError(t, os.RemoveAll(n.dir))
		require.NoError(t, exec.Command("cp", "-r", filepath.Join(out, n.name), n.dir).Run())
	}
	for _, n := range c.nodes {
		give(n)
	}

	// Two of three wait, and say for whom.
	n1, n2 := c.nodes[0].startBootstrap(t), c.nodes[1].startBootstrap(t)
	for i := range 2 {
		require.Eventually(t, func() bool {
			s, err := c.status(i)
			return err == nil && !s.Healthy && len(s.Problems) == 1 && strings.Contains(s.Problems[0], "waits for n3 (") &&
				!strings.Contains(s.Problems[0], "n1 (") && !strings.Contains(s.Problems[0], "n2 (")
		}, 20*time.Second, 20*time.Millisecond)
		require.False(t, c.nodes[i].isReady())
	}
	r = commandLine(t, "cluster", "init", "--public-url", "https://id.example", "--data-dir", c.nodes[0].dir)
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.err, "founds a cluster with others")

	n3 := c.nodes[2].startBootstrap(t)
	for _, f := range []*bootstrapNode{n1, n2, n3} {
		f.requireServing(t)
	}
	c.settle()
	require.Eventually(t, func() bool {
		s, err := c.status(2)
		return err == nil && s.Level > 0 // every node has reported its own
	}, 20*time.Second, 20*time.Millisecond)
	s, err := c.status(2)
	require.NoError(t, err)
	for _, purpose := range []string{"signing", "credential"} {
		active := slices.DeleteFunc(slices.Clone(s.Keys), func(k admin.ClusterKey) bool {
			return string(k.Purpose) != purpose || string(k.State) != "active"
		})
		require.Len(t, active, 1, purpose)
	}

	// A node that lost its data is refused, and the others go on.
	require.NoError(t, n3.command.Process.Signal(syscall.SIGTERM))
	code, log := n3.requireExit(t)
	require.Equal(t, exitOK, code, log)
	give(c.nodes[2])
	code, log = c.nodes[2].startBootstrap(t).requireExit(t)
	require.Equal(t, exitLocal, code)
	require.Contains(t, log, "mintmark cluster replace")
	require.True(t, c.nodes[0].isReady())

	// The others can be stopped, and started with the same files; a setting that
	// differs from the cluster's is refused.
	for _, f := range []*bootstrapNode{n1, n2} {
		require.NoError(t, f.command.Process.Signal(syscall.SIGTERM))
		code, log := f.requireExit(t)
		require.Equal(t, exitOK, code, log)
	}
	wrong := c.nodes[1].startBootstrap(t, "--public-url", "https://other.example")
	n1 = c.nodes[0].startBootstrap(t)
	code, log = wrong.requireExit(t)
	require.Equal(t, exitLocal, code)
	require.Contains(t, log, "they must be the same")
	n2 = c.nodes[1].startBootstrap(t)
	n1.requireServing(t)
	n2.requireServing(t)
}
