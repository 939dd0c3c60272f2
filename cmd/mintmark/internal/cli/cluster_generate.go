package cli

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/packaging"
	"github.com/mintmark-auth/mintmark/keys"
)

const aboutGenerate = `Make the folders of a cluster's first nodes, without asking anybody: for those
who put files on machines rather than have nodes join one another.

OUT gets one folder for each node, of mode 0700. It is the data folder of that
node: the cluster's key, the node's id and key, the list of all nodes, and a
config.yaml. Copy each to its machine, as the folder that --data-dir names, and
start all:

  mintmark serve --config /var/lib/mintmark/config.yaml

The nodes wait until all of them run, and then bootstrap the cluster. Then
delete OUT, but keep cluster.key in a safe place: whoever loses it loses every
key that is sealed under it.

A generated folder is for one life of a node. A node that lost its data and is
given its folder again has forgotten what it voted for and acknowledged, so the
others refuse it. Take a new node in its place: mintmark cluster replace.

With systemd, on each machine with the folder of its node (n1 here):

  useradd --system --user-group --home-dir /var/lib/mintmark --shell /usr/sbin/nologin mintmark
  install -d -o mintmark -g mintmark -m 0700 /var/lib/mintmark
  cp -r n1/. /var/lib/mintmark && chown -R mintmark:mintmark /var/lib/mintmark
  mintmark unit --config /var/lib/mintmark/config.yaml > /etc/systemd/system/mintmark.service
  systemctl enable --now mintmark`

// generateOptions are the flags of "cluster generate".
type generateOptions struct {
	nodes             []string // NAME=HOST:PORT
	publicURL, appURL string
	plainHTTP         bool
	out, dataDir      string
	listen, opsListen string
	proxies           []string
}

// generatedCluster lists what "cluster generate" wrote.
type generatedCluster struct {
	Out   string          `json:"out"`
	Nodes []generatedNode `json:"nodes"`
}

type generatedNode struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Folder  string `json:"folder"`
}

func (m *management) clusterGenerate() *cobra.Command {
	g := generateOptions{}
	c := command("generate", "Make the folders of the nodes of a new cluster (static bootstrap)", func(cmd *cobra.Command, _ []string) error {
		if err := m.checkOutput(); err != nil {
			return err
		}
		cmd.SilenceUsage = true
		made, err := g.generate()
		if err != nil {
			return err
		}
		return m.show(cmd, made, func(p *printer) {
			for _, n := range made.Nodes {
				p.line("%s  %s  %s", n.Name, n.Address, n.Folder)
			}
			if g.loopbackOnly() {
				p.remark("warning: the API will listen on %s, where no proxy on another machine reaches it: see --listen, --ops-listen and --trusted-proxy", g.listen)
			}
			p.remark("copy each folder to its machine as %s, start all nodes, then delete %s; keep cluster.key in a safe place", g.dataDir, made.Out)
		})
	})
	c.Long = aboutGenerate + "\n\nFor Kubernetes:\n\n" + indented(packaging.Manifests())
	f, o := c.Flags(), config.Default()
	f.StringArrayVar(&g.nodes, "node", nil, "`NAME=HOST:PORT` of a node, and where the others will reach it (3, 5 or 7 times)")
	f.StringVar(&g.publicURL, "public-url", "", "address of the API as others reach it, and the issuer: for good")
	f.StringVar(&g.appURL, "app-url", "", "address of the pages as others reach them (default: the public URL)")
	f.BoolVar(&g.plainHTTP, config.KeyPlainHTTP, false, config.PlainHTTPUsage)
	f.StringVar(&g.out, "out", "", "`DIR` to make, with a folder for each node")
	f.StringVar(&g.dataDir, "data-dir", packagedDataDir, "`DIR` on the nodes' machines that the folder will be")
	f.StringVar(&g.listen, "listen", o.Listen, "`HOST:PORT` of the API and the pages, on each machine")
	f.StringVar(&g.opsListen, "ops-listen", o.OpsListen, "`HOST:PORT` of /livez, /readyz and /metrics, on each machine")
	f.StringArrayVar(&g.proxies, "trusted-proxy", nil, "address or network (`CIDR`) of the proxy in front of all nodes, whose X-Forwarded-For is believed (repeatable)")
	for _, name := range []string{"node", "public-url", "out"} {
		_ = c.MarkFlagRequired(name)
	}
	return c
}

// loopbackOnly reports whether the nodes run on several machines and would each serve only
// its own machine.
func (g *generateOptions) loopbackOnly() bool {
	if !isLoopback(g.listen) {
		return false
	}
	return slices.ContainsFunc(g.nodes, func(n string) bool {
		_, address, _ := strings.Cut(n, "=")
		return !isLoopback(address)
	})
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// generate writes all folders or, after an error, none.
func (g *generateOptions) generate() (made generatedCluster, err error) {
	options, err := g.options()
	if err != nil {
		return made, err
	}
	if err := requireEmpty(g.out); err != nil {
		return made, err
	}
	parent := filepath.Dir(filepath.Clean(g.out))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return made, err
	}
	draft, err := os.MkdirTemp(parent, ".mintmark-generate-") // mode 0700
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(draft)) }()
	if err := g.write(draft, options); err != nil {
		return made, err
	}
	if err := os.Remove(g.out); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return made, err
	}
	if err := os.Rename(draft, g.out); err != nil {
		return made, err
	}
	made.Out = g.out
	for _, o := range options {
		made.Nodes = append(made.Nodes, generatedNode{o.Name, o.Advertise, filepath.Join(g.out, o.Name)})
	}
	return made, nil
}

// requireEmpty returns an error for a folder that is not empty: it may have the keys of a
// cluster.
func requireEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--out: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("--out: there is something in %s already", dir)
	}
	return nil
}

// options returns the settings of each node, checked as "serve" checks them.
func (g *generateOptions) options() ([]config.Options, error) {
	from := config.Sources{}
	for _, key := range []string{config.KeyName, config.KeyClusterListen, config.KeyAdvertise} {
		from[key] = config.Source{Kind: config.FromFlag, Where: "--node"}
	}
	for _, key := range []string{config.KeyDataDir, config.KeyListen, config.KeyOpsListen, config.KeyPublicURL, config.KeyAppURL, config.KeyTrustedProxy} {
		from[key] = config.Source{Kind: config.FromFlag, Where: "--" + key}
	}
	var list []config.Options
	for _, n := range g.nodes {
		name, address, _ := strings.Cut(n, "=")
		o := config.Default()
		o.DataDir, o.Name, o.Advertise, o.ClusterListen = g.dataDir, name, address, listenAddress(address)
		o.Listen, o.OpsListen, o.PublicURL, o.AppURL = g.listen, g.opsListen, g.publicURL, g.appURL
		o.PlainHTTP, o.TrustedProxies = g.plainHTTP, g.proxies
		if err := o.Check(from); err != nil {
			return nil, fmt.Errorf("node %q: %w", name, err)
		}
		if o.PublicURL == "" {
			return nil, config.SettingError(config.KeyPublicURL, from, "expected "+config.ExpectedOrigin)
		}
		list = append(list, o)
	}
	return list, nil
}

// listenAddress is where a node listens that others reach at an address: its port,
// whatever the machine's own address is called. Who reaches it by loopback needs
// no other way in.
func listenAddress(address string) string {
	if isLoopback(address) {
		return address
	}
	_, port, _ := net.SplitHostPort(address)
	return ":" + port
}

func isLoopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func (g *generateOptions) write(dir string, options []config.Options) error {
	key, err := keys.NewClusterKey(rand.Reader)
	if err != nil {
		return err
	}
	var nodes []member.InitialNode
	for _, o := range options {
		node := filepath.Join(dir, o.Name)
		if err := os.Mkdir(node, 0o700); err != nil {
			return err
		}
		if err := key.WriteFile(filepath.Join(node, "cluster.key")); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(node, "config.yaml"), g.config(&o), 0o600); err != nil {
			return err
		}
		nodes = append(nodes, member.InitialNode{Dir: filepath.Join(node, "raft"), Name: o.Name, Address: o.Advertise})
	}
	return member.StaticBootstrap(nodes, keySealer{key}, time.Now())
}

// config returns the text of a node's config.yaml.
func (g *generateOptions) config(o *config.Options) []byte {
	text := "# Made by mintmark cluster generate; mintmark config example has every setting.\n"
	for _, s := range []struct {
		key   string
		value any
	}{
		{config.KeyDataDir, o.DataDir},
		{config.KeyName, o.Name},
		{config.KeyListen, o.Listen},
		{config.KeyOpsListen, o.OpsListen},
		{config.KeyClusterListen, o.ClusterListen},
		{config.KeyAdvertise, o.Advertise},
		{config.KeyPublicURL, o.PublicURL},
		{config.KeyAppURL, o.AppURL},
		{config.KeyPlainHTTP, o.PlainHTTP},
		{config.KeyTrustedProxy, o.TrustedProxies},
	} {
		if list, ok := s.value.([]string); s.value == "" || s.value == false || ok && len(list) == 0 {
			continue
		}
		quoted, _ := json.Marshal(s.value) // which is YAML, too
		text += s.key + ": " + string(quoted) + "\n"
	}
	return []byte(text)
}

// A keySealer seals under a key that no server has yet.
type keySealer struct{ key keys.ClusterKey }

func (k keySealer) Seal(context string, plain []byte) ([]byte, error) {
	return k.key.Seal(rand.Reader, context, plain)
}

func (k keySealer) Open(context string, sealed []byte) ([]byte, error) {
	return k.key.Open(context, sealed)
}
