package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// loadConfig reads settings from a command line, an environment and the text
// of a file; "" is no file.
func loadConfig(t testing.TB, arguments, environ []string, file string) (Options, Sources, error) {
	t.Helper()
	if file != "" {
		path := filepath.Join(t.TempDir(), "node.yaml")
		require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
		arguments = append(arguments, "--config="+path)
	}
	var o Options
	f := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.Flags(f)
	require.NoError(t, f.Parse(arguments))
	return Load(f, environ)
}

// base returns a source with the base name of its file.
func base(s Source) string {
	if s.Kind == FromFile {
		return filepath.Base(s.Where)
	}
	return s.String()
}

func TestConfigOrder(t *testing.T) {
	const file = "# first\nlisten: 127.0.0.1:3\nops-listen: 127.0.0.1:4\ndrain: 3s\nlog-level: debug\n"
	o, from, err := loadConfig(t,
		[]string{"--listen", "127.0.0.1:1", "--name", "n1"},
		[]string{"MINTMARK_LISTEN=127.0.0.1:2", "MINTMARK_OPS_LISTEN=127.0.0.1:5", "PATH=/bin", "MINTMARK_JOIN="}, file)
	require.NoError(t, err)
	for key, row := range map[string]struct {
		got, want any
		source    string
	}{
		KeyListen:        {o.Listen, "127.0.0.1:1", "flag --listen"},
		KeyName:          {o.Name, "n1", "flag --name"},
		KeyOpsListen:     {o.OpsListen, "127.0.0.1:5", "environment MINTMARK_OPS_LISTEN"},
		KeyDrain:         {o.Drain, 3 * time.Second, "node.yaml:4"},
		KeyLogLevel:      {o.LogLevel, "debug", "node.yaml:5"},
		KeyClusterListen: {o.ClusterListen, "127.0.0.1:8300", "default"},
		KeyJoin:          {o.Join, "", "default"},
	} {
		require.Equal(t, row.want, row.got, key)
		require.Equal(t, row.source, base(from[key]), key)
	}
	require.Len(t, from, len(o.Settings()), "every setting must have a source")
}

// TestConfigTypes: each source can set values of each type.
func TestConfigTypes(t *testing.T) {
	want := func(o Options) {
		t.Helper()
		require.Equal(t, []string{"n2=10.0.0.2:8300", "n3=10.0.0.3:8300"}, o.Peers)
		require.Equal(t, map[string]string{"n2": "10.0.0.2:8300", "n3": "10.0.0.3:8300"}, o.PeerAddresses())
		require.Equal(t, 1500*time.Millisecond, o.Drain)
		require.Equal(t, "debug", o.LogLevel)
		require.Equal(t, "https://api.example.com", o.PublicURL, "the slash at the end is removed")
	}
	o, _, err := loadConfig(t, []string{
		"--peer", "n2=10.0.0.2:8300", "--peer", "n3=10.0.0.3:8300", "--drain", "1.5s", "--log-level", "debug", "--public-url", "https://api.example.com/",
	}, nil, "")
	require.NoError(t, err)
	want(o)
	o, _, err = loadConfig(t, nil, []string{
		"MINTMARK_PEER=n2=10.0.0.2:8300, n3=10.0.0.3:8300,", "MINTMARK_DRAIN=1.5s", "MINTMARK_LOG_LEVEL=debug", "MINTMARK_PUBLIC_URL=https://api.example.com/",
	}, "")
	require.NoError(t, err)
	want(o)
	o, _, err = loadConfig(t, nil, nil, `
peer: [n2=10.0.0.2:8300, "n3=10.0.0.3:8300"]
drain: 1.5s
log-level: debug
public-url: https://api.example.com/
`)
	require.NoError(t, err)
	want(o)
}

func TestConfigFileFromTheEnvironment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "of-the-environment.yaml")
	require.NoError(t, os.WriteFile(path, []byte("name: n7\n"), 0o600))
	environ := []string{"MINTMARK_CONFIG=" + path}
	o, from, err := loadConfig(t, nil, environ, "")
	require.NoError(t, err)
	require.Equal(t, "n7", o.Name)
	require.Equal(t, path+":1", from[KeyName].String())

	o, _, err = loadConfig(t, nil, environ, "name: n8\n")
	require.NoError(t, err)
	require.Equal(t, "n8", o.Name, "--config overrides MINTMARK_CONFIG")
}

// TestConfigOfTheInstalledNode: without a named settings file, the file of the installed
// node is read, unless another data folder is named.
func TestConfigOfTheInstalledNode(t *testing.T) {
	dir := t.TempDir()
	node := Installed{File: filepath.Join(dir, "mintmark.yaml"), DataDir: filepath.Join(dir, "data")}
	own := filepath.Join(dir, "own.yaml")
	require.NoError(t, os.WriteFile(own, []byte("name: own\n"), 0o600))
	load := func(args, environ []string) (string, string) {
		t.Helper()
		var into Options
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		into.Flags(flags)
		require.NoError(t, flags.Parse(args))
		o, from, err := LoadInstalled(flags, environ, node)
		require.NoError(t, err)
		require.Equal(t, o.Config != "", o.Named)
		return o.Config, base(from[KeyName])
	}
	file, _ := load(nil, nil)
	require.Empty(t, file, "the file of the installed node does not exist yet")
	require.NoError(t, os.WriteFile(node.File, []byte("name: installed\n"), 0o600))
	for _, test := range []struct {
		args, environ []string
		file, source  string
	}{
		{nil, nil, node.File, "mintmark.yaml:1"},
		{[]string{"--data-dir", node.DataDir + "/"}, nil, node.File, "mintmark.yaml:1"},
		{[]string{"--data-dir", ".data"}, nil, "", "default"},
		{nil, []string{"MINTMARK_DATA_DIR=.data"}, "", "default"},
		{[]string{"--config", own}, nil, own, "own.yaml:1"},
		{nil, []string{"MINTMARK_CONFIG=" + own}, own, "own.yaml:1"},
	} {
		file, source := load(test.args, test.environ)
		require.Equal(t, test.file, file, "%v %v", test.args, test.environ)
		require.Equal(t, test.source, source, "%v %v", test.args, test.environ)
	}
}

func TestConfigNameIsTheHosts(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	o, from, err := loadConfig(t, nil, nil, "")
	require.NoError(t, err)
	require.Equal(t, host, o.Name)
	require.Equal(t, "default", from[KeyName].String())
}

// TestConfigVariablesOfOthers: some variables that begin with MINTMARK are neither
// settings nor mistakes.
func TestConfigVariablesOfOthers(t *testing.T) {
	_, _, err := loadConfig(t, nil, []string{
		"MINTMARK_CLUSTER_KEY=whatever", "MINTMARK_TEST_RUN_AS=x", "MINTMARKER=x", "=C:=x", "none",
		// Kubernetes sets these variables for services named mintmark and mintmark-ops.
		"MINTMARK_SERVICE_HOST=10.0.0.1", "MINTMARK_SERVICE_PORT=8080", "MINTMARK_SERVICE_PORT_API=8080",
		"MINTMARK_PORT=tcp://10.0.0.1:8080", "MINTMARK_PORT_8080_TCP=tcp://10.0.0.1:8080",
		"MINTMARK_PORT_8080_TCP_ADDR=10.0.0.1", "MINTMARK_OPS_SERVICE_HOST=10.0.0.2", "MINTMARK_OPS_PORT=tcp://10.0.0.2:8081",
	}, "")
	require.NoError(t, err)
}

func TestConfigMistakes(t *testing.T) {
	const pasted = "c2VjcmV0LXRoYXQtd2FzLXBhc3RlZC1oZXJl"
	for name, row := range map[string]struct {
		environ []string
		file    string
		want    []string
	}{
		"unknown key":         {nil, "listen: 127.0.0.1:1\nops-lisen: x\n", []string{`node.yaml:2: unknown key "ops-lisen": is ops-listen meant?`}},
		"underscores":         {nil, "data_dir: x\n", []string{`unknown key "data_dir": is data-dir meant?`}},
		"nested":              {nil, "cluster:\n  listen: x\n", []string{`node.yaml:1: unknown key "cluster.listen": is cluster-listen meant?`}},
		"dotted":              {nil, "\ncluster.listen: x\n", []string{`node.yaml:2: unknown key "cluster.listen": is cluster-listen meant?`}},
		"far from any":        {nil, "zzzzzzzzzzz: x\n", []string{`unknown key "zzzzzzzzzzz"`}},
		"file in the file":    {nil, "config: x\n", []string{`unknown key "config"`}},
		"key in the file":     {nil, "cluster-key: " + pasted + "\n", []string{`unknown key "cluster-key"`}},
		"twice":               {nil, "listen: 127.0.0.1:1\nname: n\nlisten: 127.0.0.1:2\n", []string{"the key in line 1 is repeated in line 3"}},
		"two documents":       {nil, "name: n\n---\nname: m\n", []string{"more than one YAML document"}},
		"no mapping":          {nil, pasted + "\n", []string{"node.yaml: not a YAML mapping"}},
		"no YAML":             {nil, "name: [" + pasted + "\n", []string{"node.yaml: not valid YAML near line "}},
		"an alias":            {nil, "name: *" + pasted + "\n", []string{"node.yaml: not valid YAML"}},
		"number for text":     {nil, "name: 4711\n", []string{"name (", "node.yaml:1): expected a text"}},
		"nothing for text":    {nil, "join:\n", []string{"join (", "node.yaml:1): expected a text"}},
		"map for text":        {nil, "listen: {host: " + pasted + "}\n", []string{"listen (", "node.yaml:1): expected a text"}},
		"number for duration": {nil, "drain: 5\n", []string{"drain (", "node.yaml:1): expected a duration"}},
		"text for duration":   {nil, "drain: " + pasted + "\n", []string{"expected a duration"}},
		"text for list":       {nil, "trusted-proxy: 10.0.0.0/8\n", []string{"node.yaml:1): expected a list of texts"}},
		"numbers for list":    {nil, "peer: [1]\n", []string{"expected a list of texts"}},
		"map for list":        {nil, "peer: {n2: \"" + pasted + "\"}\n", []string{"expected a list of texts"}},
		"text for yes or no":  {nil, "trust-clock: \"yes\"\n", []string{"trust-clock (", "expected true or false"}},
		"unknown variable":    {[]string{"MINTMARK_CLUSTER_LISTN=" + pasted}, "", []string{"unknown variable MINTMARK_CLUSTER_LISTN in the environment: is MINTMARK_CLUSTER_LISTEN meant?"}},
		"unknown and empty":   {[]string{"MINTMARK_LISTENN="}, "", []string{"is MINTMARK_LISTEN meant?"}},
		"key's name mistyped": {[]string{"MINTMARK_CLUSTERKEY=" + pasted}, "", []string{"is MINTMARK_CLUSTER_KEY meant?"}},
		"small letters":       {[]string{"MINTMARK_listen=x"}, "", []string{"unknown variable MINTMARK_listen", "MINTMARK_LISTEN"}},
		"dashes":              {[]string{"MINTMARK_OPS-LISTEN=x"}, "", []string{"is MINTMARK_OPS_LISTEN meant?"}},
		"a port":              {[]string{"MINTMARK_PORT=8080"}, "", []string{"unknown variable MINTMARK_PORT in the environment"}},
		"wrong in variables":  {[]string{"MINTMARK_DRAIN=" + pasted, "MINTMARK_TRUST_CLOCK=" + pasted}, "", []string{"drain (environment MINTMARK_DRAIN): expected a duration", "trust-clock (environment MINTMARK_TRUST_CLOCK): expected true or false"}},
		"all at once":         {[]string{"MINTMARK_X=1"}, "y: 1\ndrain: 1\n", []string{"MINTMARK_X", `"y"`, "drain ("}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := loadConfig(t, nil, row.environ, row.file)
			require.Error(t, err)
			for _, want := range row.want {
				require.ErrorContains(t, err, want)
			}
			require.NotContains(t, err.Error(), pasted)
			require.NotContains(t, err.Error(), pasted[:8], "not even the beginning of a secret may be repeated")
		})
	}
}

func TestConfigFileThatIsMissingOrLong(t *testing.T) {
	_, _, err := loadConfig(t, []string{"--config", filepath.Join(t.TempDir(), "none.yaml")}, nil, "")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, _, err = loadConfig(t, nil, nil, strings.Repeat("#", maxFile+1))
	require.ErrorContains(t, err, "longer than")
	_, _, err = loadConfig(t, nil, nil, "# nothing set\n")
	require.NoError(t, err)
	_, _, err = loadConfig(t, nil, nil, "~\n")
	require.NoError(t, err)
}

// FuzzConfigFile: an accepted file gives valid options.
func FuzzConfigFile(f *testing.F) {
	f.Add([]byte(Example))
	f.Add([]byte("peer: [n2=h:1]\ncluster-listen: ':1'\nadvertise: a:1\n"))
	f.Add([]byte("a: &a {b: *a}\n<<: [x]\n? [1]\n: 2\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed, err := parseFile("f", text, keyNames(KeyConfig))
		if err != nil {
			return
		}
		o := Default()
		defaults, err := defaultLayer(&o)
		require.NoError(t, err)
		from, err := o.assign([]layer{defaults, parsed})
		if err != nil || o.Check(from) != nil {
			return
		}
		require.NotEmpty(t, o.DataDir)
		require.Len(t, o.PeerAddresses(), len(o.Peers))
		require.NoError(t, o.Check(from), "checked options stay valid")
	})
}
