package server

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/telemetry"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/upstream"
)

// FromOptions returns the configuration of a node with these settings. It reads the files
// that they name.
func FromOptions(o *config.Options, version string, log *slog.Logger) (Config, error) {
	trusted, err := proxy.Parse(o.TrustedProxies)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", config.KeyTrustedProxy, err)
	}
	provider, err := providerConfig(&o.Upstream)
	if err != nil {
		return Config{}, err
	}
	public, err := OpenCertificate(config.KeyListen, o.TLS, os.Getenv)
	if err != nil {
		return Config{}, err
	}
	ops, err := OpenCertificate(config.KeyOpsListen, o.OpsTLS, os.Getenv)
	if err != nil {
		return Config{}, err
	}
	operators, err := OpenOperators(o, os.Getenv)
	if err != nil {
		return Config{}, err
	}
	access := new(atomic.Bool)
	access.Store(o.AccessLog)
	return Config{
		Operators: operators,
		Version:   version, TLS: public, OpsTLS: ops,
		DataDir: o.DataDir, Listen: o.Listen, OpsListen: o.OpsListen, Proxies: trusted,
		Key: config.FindKey(o.ClusterKeyFile, o.DataDir, os.Getenv),
		Cluster: &Cluster{
			Name: o.Name, Named: o.Named, Listen: o.ClusterListen, Advertise: o.Advertise, Peers: o.PeerAddresses(),
			Join: o.Join, TokenFile: o.TokenFile,
		},
		Backups:  Backups{Dir: o.BackupDir, Every: o.BackupEvery, Keep: o.BackupKeep},
		Upstream: provider, NoPasswords: !o.PasswordSignIn,
		Settings:  func(s ledger.Settings, _ string) (ledger.Settings, error) { return checkSettings(o, s) },
		PublicURL: o.PublicURL, AppURL: o.AppURL, PlainHTTP: o.PlainHTTP, Drain: o.Drain, TrustClock: o.TrustClock,
		Log:       log,
		AccessLog: access, LogLevel: o.Level(), OpsDebug: o.OpsDebug,
		Traces: telemetry.NewTracing(o.OTLPEndpoint, o.Name, version, log),
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

// checkSettings returns an error if the node's flags differ from the cluster's settings: it
// can't be known which are right, and wrong ones would invalidate every token.
func checkSettings(o *config.Options, s ledger.Settings) (ledger.Settings, error) {
	if s.BaseURL == "" {
		return s, ErrNoSettings
	}
	same := func(key, value, current string) error {
		if value != "" && value != current {
			return fmt.Errorf("%s is %s here and %s in the cluster: %w", key, value, current, ErrOtherAddress)
		}
		return nil
	}
	return s, errors.Join(same(config.KeyPublicURL, o.PublicURL, s.BaseURL), same(config.KeyAppURL, o.AppURL, s.AppURL))
}
