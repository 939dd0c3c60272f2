package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
)

// Serving is the line of JSON that a node writes when it serves.
type Serving struct {
	Name           string `json:"name"`
	BaseURL        string `json:"base_url"`
	AppURL         string `json:"app_url"`
	Issuer         string `json:"issuer"`
	OpsURL         string `json:"ops_url"`
	ClusterAddress string `json:"cluster_address"`
	OperatorsURL   string `json:"operators_url,omitempty"`
}

// RunOptions are what Run needs.
type RunOptions struct {
	Version string // of this program
	Options config.Options
	From    config.Sources
	// Load loads the settings again.
	Load   func() (config.Options, config.Sources, error)
	Stdout io.Writer
	Stderr io.Writer // shows progress if it is a terminal
	Log    *slog.Logger
}

// Run runs a node until ctx ends or the node fails. When the node serves, it writes one
// line of JSON to r.Stdout. At SIGHUP it loads the settings again.
func Run(ctx context.Context, r RunOptions) error {
	o, log := r.Options, r.Log
	c, err := FromOptions(&o, r.Version, log)
	if err != nil {
		return err
	}
	c.Stderr = r.Stderr
	o.LogStart(log, r.From, r.Version)
	manager := newNotifier(log)
	alive, err := manager.keepAlive()
	if err != nil {
		return err
	}
	defer alive()
	defer context.AfterFunc(ctx, manager.stopping)()
	c.Waiting = manager.waiting
	hangups := reloader{current: o, load: r.Load, config: &c}
	defer onHangup(func() { manager.reloading(hangups.reload) })()
	s, err := Start(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			return nil // stopped before it was serving
		}
		return err
	}
	hangups.server.Store(s)
	if err := s.Metrics.CollectRaft(); err != nil {
		c.Log.Warn("raft metrics not exported", "error", err)
	}
	if err := s.Announce(r.Stdout); err != nil {
		return errors.Join(fmt.Errorf("announce addresses: %w", err), s.closeWithin(ctx, o.Drain+o.StopTimeout))
	}
	manager.serving(s.Settings.BaseURL)
	log.Info("node started", "name", s.Node.Name(), "base_url", s.Settings.BaseURL, "app_url", s.Settings.AppURL,
		"listen", s.PublicAddr.String(), "ops_listen", s.OpsAddr.String(), "cluster_listen", s.ClusterAddr.String())
	return s.UntilStopped(ctx, o.Drain+o.StopTimeout, func() {
		log.Info("node stop requested", "drain", o.Drain.String(), "stop_timeout", o.StopTimeout.String())
	})
}

// Announce writes the line of JSON that reports that the server serves. Its name is the
// one in the cluster.
func (s *Server) Announce(stdout io.Writer) error {
	var operators string
	if s.OperatorsAddr != nil {
		operators = "https://" + s.OperatorsAddr.String()
	}
	return json.NewEncoder(stdout).Encode(Serving{
		OperatorsURL: operators,
		Name:         s.Node.Name(), BaseURL: s.Settings.BaseURL, AppURL: s.Settings.AppURL, Issuer: s.Settings.BaseURL,
		OpsURL: s.OpsURL(), ClusterAddress: s.ClusterAddr.String(),
	})
}
