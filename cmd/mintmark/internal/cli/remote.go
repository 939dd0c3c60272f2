package cli

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// remoteUsage has the usage of the flags of config.RemoteServer.
var remoteUsage = map[string]string{
	"server":         "`URL` of a server on another machine, instead of --data-dir: see \"mintmark docs remote\"",
	"server-ca-file": "`FILE` with the authority of the server's certificate (default: those of the system)",
	"token-file":     "`FILE` with an operator token for --server",
	"cert-file":      "`FILE` with a certificate of the operators' authority for --server",
	"key-file":       "`FILE` with the private key of --cert-file",
}

// registerServer adds the flags of the server to a command and those below it.
func (m *management) registerServer(c *cobra.Command) {
	for _, o := range m.server.Options() {
		c.PersistentFlags().StringVar(o.Value, o.Key, "", remoteUsage[o.Key]+" ("+o.Variable+")")
		if o.Value != &m.server.URL {
			_ = c.MarkPersistentFlagFilename(o.Key)
		}
	}
}

// remote returns the server that a command asks; its URL is "" for the node on this machine.
// A node that is named by a flag, or by a variable where the server is not, overrides the
// settings of the server.
func (m *management) remote(cmd *cobra.Command) (config.RemoteServer, error) {
	if cmd.Flags().Lookup("server") == nil || cmd.Flags().Changed("data-dir") && m.server.URL == "" {
		return config.RemoteServer{}, nil
	}
	if m.server.URL == "" && os.Getenv(config.EnvServer) == "" && os.Getenv(config.Variable(config.KeyDataDir)) != "" {
		return config.RemoteServer{}, nil
	}
	r, err := config.LoadRemote(m.server)
	if err != nil {
		err = fmt.Errorf("read settings of the server: %w", err)
	}
	return r, err
}

// dial returns a Caller of a server. The token may be in the standard input of cmd.
func dial(cmd *cobra.Command, r config.RemoteServer) (*admin.Caller, error) {
	s := admin.RemoteServer{URL: strings.TrimSuffix(r.URL, "/")}
	switch {
	case (r.TokenFile == "") == (r.CertFile == "") || (r.CertFile == "") != (r.KeyFile == ""):
		return nil, errors.New("--server needs either --token-file, or --cert-file and --key-file")
	case r.TokenFile != "":
		token, err := readSecret(cmd, r.TokenFile)
		if err != nil {
			return nil, fmt.Errorf("read operator token: %w", err)
		}
		s.Token = token
	default:
		pair, err := readKeyPair(r.CertFile, r.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("read operator certificate: %w", err)
		}
		s.Certificate = pair
	}
	if r.CAFile != "" {
		text, err := os.ReadFile(r.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read authority of the server: %w", err)
		}
		s.Authority = x509.NewCertPool()
		if !s.Authority.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("read authority of the server: %s has no certificate", r.CAFile)
		}
	}
	return admin.NewRemoteCaller(s)
}

func readKeyPair(certFile, keyFile string) (*tls.Certificate, error) {
	f, err := os.Open(keyFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if err := config.RequirePrivate(f, "private key", os.Getenv("CREDENTIALS_DIRECTORY")); err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	return &pair, err
}

// caller returns a Caller of the node on this machine, or of the server on another.
func (m *management) caller(cmd *cobra.Command) (*admin.Caller, error) {
	if cmd.Flags().Changed("data-dir") && cmd.Flags().Changed("server") {
		return nil, errors.New("give --data-dir or --server, not both")
	}
	r, err := m.remote(cmd)
	if err != nil {
		return nil, err
	}
	if r.URL != "" {
		return dial(cmd, r)
	}
	return admin.NewCaller(m.dataDir)
}

// localCommands are the commands that refuse --server. Those that are true call the local
// node, so they also refuse a server that comes from the environment or a file.
var localCommands = map[string]bool{
	"bench exchange":         true,
	"bench introspect":       true,
	"bench refresh":          true,
	"cluster backup inspect": false,
	"cluster backup restore": true,
	"cluster generate":       false,
	"cluster init":           true,
	"cluster invite":         true,
	"cluster recover":        true,
	"cluster replace":        true,
	"keys new-cluster-key":   false,
	"keys rewrap":            true,
	"operator token add":     true,
}

// refuseServer has the commands below c that are in localCommands refuse a server.
func (m *management) refuseServer(c *cobra.Command, path string) {
	for _, below := range c.Commands() {
		m.refuseServer(below, path+" "+below.Name())
	}
	asks, local := localCommands[path]
	if !local {
		return
	}
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		refused := cmd.Flags().Changed("server")
		if asks && !refused {
			r, err := m.remote(cmd)
			if err != nil {
				return err
			}
			refused = r.URL != ""
		}
		if refused {
			return fmt.Errorf("%s: %w", cmd.CommandPath(), admin.ErrLocalOnly)
		}
		return run(cmd, args)
	}
}
