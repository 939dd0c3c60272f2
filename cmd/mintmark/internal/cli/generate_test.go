package cli

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/packaging"
	"github.com/mintmark-auth/mintmark/keys"
)

func TestGenerateOnTheCommandLine(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a", "b")
	args := []string{
		"cluster", "generate", "--node", "n1=10.0.0.1:8300", "--node", "n2=n2.example:8301", "--node", "n3=127.0.0.3:8302",
		"--public-url", "https://id.example/", "--listen", ":8080", "--trusted-proxy", "10.0.0.9", "--out", out,
	}
	r := runLine(t, args...)
	require.Equal(t, ExitOK, r.Code, r.Err)
	require.Equal(t, 3, strings.Count(r.Out, "\n"))
	require.Contains(t, r.Out, "n2  n2.example:8301  "+filepath.Join(out, "n2"))
	require.Contains(t, r.Err, "then delete "+out)

	// Only the owner may read the files. All nodes have the same cluster key.
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

	r = runLine(t, args...)
	require.Equal(t, ExitLocal, r.Code)
	require.Contains(t, r.Err, "something in "+out+" already")
	r = runLine(t, append(args, "--out", filepath.Join(t.TempDir(), "json"), "-o", "json")...)
	require.Equal(t, ExitOK, r.Code, r.Err)
	var made generatedCluster
	require.NoError(t, json.Unmarshal([]byte(r.Out), &made))
	require.Equal(t, "10.0.0.1:8300", made.Nodes[0].Address)
}

// TestGenerateSaysWhoCanReachTheAPI: the command warns if the API would listen on a
// loopback address, which a proxy on another machine can't reach.
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
			r := runLine(t, append([]string{
				"cluster", "generate", "--public-url", "https://id.example", "--out", filepath.Join(t.TempDir(), "out"),
			}, row.args...)...)
			require.Equal(t, ExitOK, r.Code, r.Err)
			require.Equal(t, row.warns, strings.Contains(r.Err, warning), r.Err)
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
			r := runLine(t, append([]string{
				"cluster", "generate", "--public-url", "https://id.example", "--out", filepath.Join(dir, "out"),
			}, row.args...)...)
			require.Equal(t, ExitLocal, r.Code)
			require.Contains(t, r.Err, row.want)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left, "no incomplete files must be left")
		})
	}
}

// TestGenerateNamesWhatExists: the program accepts the commands in the help and in the
// manifests.
func TestGenerateNamesWhatExists(t *testing.T) {
	help := runLine(t, "cluster", "generate", "--help").Out
	unit := regexp.MustCompile(`(?m)^  mintmark (unit .*) > `).FindStringSubmatch(help)
	require.NotNil(t, unit)
	require.Contains(t, runLine(t, strings.Fields(unit[1])...).Out, "\nExecStart=/usr/local/bin/mintmark serve --config /var/lib/mintmark/config.yaml ")

	var set struct {
		Spec struct {
			Replicas int
			Template struct {
				Spec struct {
					Containers []struct {
						Args []string
						Env  []struct {
							Name, Value string
						}
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
	_, last, ok := strings.Cut(packaging.Manifests(), "kind: StatefulSet")
	last, _, _ = strings.Cut(last, "\n---\n")
	require.True(t, ok)
	require.NoError(t, yamlv3.Unmarshal([]byte("kind: StatefulSet"+last), &set))
	require.Equal(t, 3, set.Spec.Replicas)
	container := set.Spec.Template.Spec.Containers[0]
	require.Equal(t, []string{"serve", "--config", "/etc/mintmark/mintmark.yaml"}, container.Args)
	var environment []string
	for _, v := range container.Env {
		environment = append(environment, v.Name+"="+strings.ReplaceAll(cmp.Or(v.Value, "mintmark-1"), "$(MINTMARK_NAME)", "mintmark-1"))
	}
	var o config.Options
	f := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.Flags(f)
	require.NoError(t, f.Parse([]string{"--config", filepath.Join("..", "..", "packaging", "kustomize", "overlay", "mintmark.yaml")}))
	o, _, err := config.Load(f, environment)
	require.NoError(t, err)
	require.Equal(t, "mintmark-1", o.Name)
	require.Equal(t, "mintmark-1.mintmark-nodes:8300", o.Advertise)
	require.Equal(t, packagedDataDir, o.DataDir)
	ready := container.Ready
	require.Greater(t, o.Drain/2, time.Duration(ready.Period*ready.Failures)*time.Second, "the readiness probe must fail before a drained node stops")

	// The command in the comment of the manifests, as a shell reads it.
	_, command, ok := strings.Cut(packaging.Manifests(), "#   mintmark ")
	require.True(t, ok)
	command, _, _ = strings.Cut(command, "#   for")
	words := strings.Fields(strings.NewReplacer("\\\n", " ", "#", " ").Replace(command))
	words[slices.Index(words, "generated")] = filepath.Join(t.TempDir(), "generated")
	require.Equal(t, ExitOK, runLine(t, words...).Code)
	require.Contains(t, words, "mintmark-1="+o.Advertise)
	for _, p := range container.Ports {
		require.Contains(t, []int{8080, 8081, 8300}, p.Port)
	}
}
