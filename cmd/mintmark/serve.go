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

	"github.com/mintmark-auth/mintmark/issuer/ledger"
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
			o, _, err := loadServeOptions(c.Flags(), os.Environ())
			if err != nil {
				return err
			}
			return runServe(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	o := defaultServeOptions()
	o.flags(c.Flags())
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

func runServe(ctx context.Context, o serveOptions, stdout, stderr io.Writer) error {
	c, err := o.server(stderr)
	if err != nil {
		return err
	}
	s, err := start(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			return nil // told to stop before there was anything to stop
		}
		return err
	}
	if err := s.metrics.collectRaft(); err != nil {
		c.Log.Warn("raft's own metrics are not told", "error", err)
	}
	if err := s.announce(stdout); err != nil {
		return err
	}
	return s.untilStopped(ctx, o.Drain+o.StopTimeout, stderr)
}

// announce tells programs that the server is ready, under the name that the
// cluster has for it.
func (s *server) announce(stdout io.Writer) error {
	return json.NewEncoder(stdout).Encode(serving{
		Name: s.node.Name(), BaseURL: s.settings.BaseURL, AppURL: s.settings.AppURL, Issuer: s.settings.BaseURL,
		OpsURL: "http://" + s.opsAddr.String(), ClusterAddress: s.clusterListener.Addr().String(),
	})
}

// server turns the options into a configuration.
func (o *serveOptions) server(stderr io.Writer) (serverConfig, error) {
	trusted, err := parseProxies(o.TrustedProxies)
	if err != nil {
		return serverConfig{}, err
	}
	provider, err := o.Upstream.config()
	if err != nil {
		return serverConfig{}, err
	}
	readers, err := readersFrom(o.FeedSecrets, os.Getenv)
	if err != nil {
		return serverConfig{}, err
	}
	level := &slog.HandlerOptions{Level: slog.LevelInfo}
	if o.Verbose {
		level.Level = slog.LevelDebug
	}
	var h slog.Handler = slog.NewTextHandler(stderr, level)
	if o.LogFormat == "json" {
		h = slog.NewJSONHandler(stderr, level)
	}
	log := slog.New(h)
	return serverConfig{
		DataDir: o.DataDir, Listen: o.Listen, OpsListen: o.OpsListen, Proxies: trusted,
		Key: keySourceOf(o.ClusterKeyFile, o.DataDir, os.Getenv),
		Cluster: &clusterConfig{
			Name: o.Name, Named: o.named, Listen: o.ClusterListen, Advertise: o.Advertise, Peers: o.peerAddresses(),
			Join: o.Join, TokenFile: o.TokenFile,
		},
		Upstream: provider, NoPasswords: !o.PasswordSignIn, Readers: readers,
		Settings: o.agree, PublicURL: o.PublicURL, AppURL: o.AppURL, Drain: o.Drain, Log: log,
		Traces: newTracing(o.OTLPEndpoint, o.Name, trusted, log),
	}, nil
}

// agree refuses a node whose flags differ from the cluster's settings: which of
// them is right can't be known, and the wrong one would make every token
// worthless.
func (o *serveOptions) agree(s ledger.Settings, _ string) (ledger.Settings, error) {
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
