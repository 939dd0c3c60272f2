package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/telemetry"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/upstream"
)

func serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run a node of a cluster",
		Long: `Run a node of a cluster of one, three or five.

A node whose data folder is empty waits until "mintmark cluster init" makes it
the first of a new cluster, or joins one with --join and --token-file. After
that it needs neither. Every setting may come from a flag, from the environment
(MINTMARK_…) or from a file (--config); see "mintmark config example".

When it is ready it prints one line of JSON on standard output; everything for
people goes to standard error.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			load := func() (config.Options, config.Sources, error) { return config.Load(c.Flags(), os.Environ()) }
			o, from, err := load()
			log := o.Logger(c.ErrOrStderr())
			slog.SetDefault(log) // for what a library writes by itself
			if err == nil {
				err = runServe(c.Context(), o, from, load, c.OutOrStdout(), log)
			}
			if err != nil && o.LogFormat == config.LogJSON {
				log.Error("node failed", "error", err)
				return errLogged{err}
			}
			return err
		},
	}
	o := config.Default()
	o.Flags(c.Flags())
	return c
}

// serving is the line of JSON that programs wait for.
type serving struct {
	Name           string `json:"name"`
	BaseURL        string `json:"base_url"`
	AppURL         string `json:"app_url"`
	Issuer         string `json:"issuer"`
	OpsURL         string `json:"ops_url"`
	ClusterAddress string `json:"cluster_address"`
}

func runServe(ctx context.Context, o config.Options, from config.Sources, load func() (config.Options, config.Sources, error), stdout io.Writer, log *slog.Logger) error {
	c, err := configOf(&o, log)
	if err != nil {
		return err
	}
	o.LogStart(log, from, version)
	hangups := reloader{current: o, load: load, config: &c}
	defer onHangup(hangups.reload)()
	s, err := start(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			return nil // told to stop before there was anything to stop
		}
		return err
	}
	hangups.server.Store(s)
	if err := s.metrics.CollectRaft(); err != nil {
		c.Log.Warn("raft metrics not exported", "error", err)
	}
	if err := s.announce(stdout); err != nil {
		return err
	}
	log.Info("node serving", "name", s.node.Name(), "base_url", s.settings.BaseURL, "app_url", s.settings.AppURL,
		"listen", s.publicAddr.String(), "ops_listen", s.opsAddr.String(), "cluster_listen", s.clusterListener.Addr().String())
	return s.untilStopped(ctx, o.Drain+o.StopTimeout, func() { log.Info("node stopping", "drain", o.Drain.String(), "stop_timeout", o.StopTimeout.String()) })
}

// announce tells programs that the server is ready, under the name that the
// cluster has for it.
func (s *server) announce(stdout io.Writer) error {
	return json.NewEncoder(stdout).Encode(serving{
		Name: s.node.Name(), BaseURL: s.settings.BaseURL, AppURL: s.settings.AppURL, Issuer: s.settings.BaseURL,
		OpsURL: "http://" + s.opsAddr.String(), ClusterAddress: s.clusterListener.Addr().String(),
	})
}

// configOf returns the configuration of the node with these options.
func configOf(o *config.Options, log *slog.Logger) (serverConfig, error) {
	trusted, err := proxy.Parse(o.TrustedProxies)
	if err != nil {
		return serverConfig{}, fmt.Errorf("--trusted-proxy: %w", err)
	}
	provider, err := providerConfig(&o.Upstream)
	if err != nil {
		return serverConfig{}, err
	}
	readers, err := openReadersFile(o.FeedSecrets, os.Getenv)
	if err != nil {
		return serverConfig{}, err
	}
	return serverConfig{
		DataDir: o.DataDir, Listen: o.Listen, OpsListen: o.OpsListen, Proxies: trusted,
		Key: config.FindKey(o.ClusterKeyFile, o.DataDir, os.Getenv),
		Cluster: &clusterConfig{
			Name: o.Name, Named: o.Named, Listen: o.ClusterListen, Advertise: o.Advertise, Peers: o.PeerAddresses(),
			Join: o.Join, TokenFile: o.TokenFile,
		},
		Upstream: provider, NoPasswords: !o.PasswordSignIn, Readers: readers,
		Settings: func(s ledger.Settings, _ string) (ledger.Settings, error) { return checkSettings(o, s) }, PublicURL: o.PublicURL, AppURL: o.AppURL, PlainHTTP: o.PlainHTTP, Drain: o.Drain, TrustClock: o.TrustClock,
		Log:    log,
		Traces: telemetry.NewTracing(o.OTLPEndpoint, o.Name, version, trusted, log),
	}, nil
}

// providerConfig returns the configuration of the upstream provider, nil if there is none.
func providerConfig(o *config.Upstream) (*upstream.Config, error) {
	if o.Issuer == "" {
		return nil, nil
	}
	secret, err := o.Secret(os.Getenv)
	if err != nil {
		return nil, err
	}
	return &upstream.Config{
		Issuer: o.Issuer, Name: o.Name, ClientID: o.ClientID, ClientSecret: secret, Scopes: o.Scopes,
		AdminClaim: o.AdminClaim, AdminValue: o.AdminValue, AdminEmails: o.AdminEmails,
	}, nil
}

// checkSettings refuses a node whose flags differ from the cluster's settings: which of
// them is right can't be known, and the wrong one would make every token
// worthless.
func checkSettings(o *config.Options, s ledger.Settings) (ledger.Settings, error) {
	if s.BaseURL == "" {
		return s, errNoSettings
	}
	same := func(flag, value, current string) error {
		if value != "" && value != current {
			return fmt.Errorf("%s is %s here and %s in the cluster: they must be the same", flag, value, current)
		}
		return nil
	}
	return s, errors.Join(same("--public-url", o.PublicURL, s.BaseURL), same("--app-url", o.AppURL, s.AppURL))
}

// errLogged is an error that was logged already. main does not print it again, so
// that standard error has nothing but JSON if the log is JSON.
type errLogged struct{ error }

func (e errLogged) Unwrap() error { return e.error }
