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

// A remoteServer is a server on another machine, and what authenticates the operator there.
type remoteServer struct{ url, caFile, tokenFile, certFile, keyFile string }

// options returns the flags, by name, with their variables and what they are.
func (r *remoteServer) options() []struct {
	flag, variable, usage string
	value                 *string
} {
	return []struct {
		flag, variable, usage string
		value                 *string
	}{
		{"server", config.EnvServer, "`URL` of a server on another machine, instead of --data-dir: see \"mintmark docs remote\"", &r.url},
		{"server-ca-file", config.EnvServerCAFile, "`FILE` with the authority of the server's certificate (default: those of the system)", &r.caFile},
		{"token-file", config.EnvServerTokenFile, "`FILE` with an operator token for --server", &r.tokenFile},
		{"cert-file", config.EnvServerCertFile, "`FILE` with a certificate of the operators' authority for --server", &r.certFile},
		{"key-file", config.EnvServerKeyFile, "`FILE` with the private key of --cert-file", &r.keyFile},
	}
}

// register adds the flags to a command and those below it. Their defaults are in the
// environment.
func (r *remoteServer) register(c *cobra.Command) {
	for _, o := range r.options() {
		c.PersistentFlags().StringVar(o.value, o.flag, os.Getenv(o.variable), o.usage+" ("+o.variable+")")
		if o.flag != "server" {
			_ = c.MarkPersistentFlagFilename(o.flag)
		}
	}
}

// dial returns a Caller of the server.
func (r *remoteServer) dial() (*admin.Caller, error) {
	s := admin.RemoteServer{URL: strings.TrimSuffix(r.url, "/")}
	switch {
	case (r.tokenFile == "") == (r.certFile == "") || (r.certFile == "") != (r.keyFile == ""):
		return nil, errors.New("--server needs either --token-file, or --cert-file and --key-file")
	case r.tokenFile != "":
		token, err := readSecret(nil, r.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("read operator token: %w", err)
		}
		s.Token = token
	default:
		pair, err := readKeyPair(r.certFile, r.keyFile)
		if err != nil {
			return nil, fmt.Errorf("read operator certificate: %w", err)
		}
		s.Certificate = pair
	}
	if r.caFile != "" {
		text, err := os.ReadFile(r.caFile)
		if err != nil {
			return nil, fmt.Errorf("read authority of the server: %w", err)
		}
		s.Authority = x509.NewCertPool()
		if !s.Authority.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("read authority of the server: %s has no certificate", r.caFile)
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
	local, remote := cmd.Flags().Changed("data-dir"), cmd.Flags().Changed("server")
	switch {
	case local && remote:
		return nil, errors.New("give --data-dir or --server, not both")
	case m.server.url != "" && !local:
		return m.server.dial()
	}
	return admin.NewCaller(m.dataDir)
}

// localCommands are the commands that refuse --server. Those that ask the node (true)
// refuse the variable too: they would ask another node than the one that is meant.
var localCommands = map[string]bool{
	"bench exchange":         true,
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
		if cmd.Flags().Changed("server") || asks && m.server.url != "" && !cmd.Flags().Changed("data-dir") {
			return fmt.Errorf("%s: %w", cmd.CommandPath(), admin.ErrLocalOnly)
		}
		return run(cmd, args)
	}
}
