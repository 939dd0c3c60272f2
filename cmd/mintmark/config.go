package main

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// serveOptions are the settings of one node: what "mintmark serve" is told by
// flags, by the environment and by a file. They are read once, checked as a
// whole, and not changed after. What the whole cluster must agree on is in the
// replicated settings instead (ledger.Settings).
type serveOptions struct {
	Config string // YAML file that the others may come from; "" for none

	DataDir string // holds the key of the cluster, the log and the admin socket
	Name    string // of this node, for people; default: the host name
	named   bool   // Name is not the default

	Listen        string // of the API and the pages
	OpsListen     string // of /livez, /readyz and /metrics
	ClusterListen string // of other nodes
	Advertise     string // where other nodes reach ClusterListen; "": at that address
	Peers         []string
	Join          string // a node of the cluster to join at the first start; "": none
	TokenFile     string // with the token of "mintmark cluster invite"

	PublicURL string // an origin without a slash at the end; "": the cluster's
	AppURL    string // likewise; "": the cluster's
	PlainHTTP bool   // see ledger.Settings

	ClusterKeyFile string // "": MINTMARK_CLUSTER_KEY, a systemd credential, or DIR/cluster.key
	TrustedProxies []string
	FeedSecrets    string // "": no feed of revocations

	Upstream       upstreamOptions
	PasswordSignIn bool // false: with Upstream only

	OTLPEndpoint string // where traces are sent; "": there are none

	TrustClock bool // accept the clock at a start without any check

	Drain       time.Duration // from "not ready" to the first refused connection
	StopTimeout time.Duration // then, for what is still being answered
	LogFormat   string        // text or json
	Verbose     bool

	level *slog.LevelVar // of the log; a reload changes it
}

func defaultServeOptions() serveOptions {
	return serveOptions{
		DataDir:       ".data",
		Listen:        "127.0.0.1:8080",
		OpsListen:     "127.0.0.1:8081",
		ClusterListen: "127.0.0.1:8300",

		PasswordSignIn: true,

		Drain:       time.Second,
		StopTimeout: 10 * time.Second,
		LogFormat:   logText,
	}
}

// The keys of settings that are spoken of by name. A key is spelt the same as
// a flag and in a file; MINTMARK_DATA_DIR is data-dir in the environment.
const (
	keyConfig         = "config"
	keyDataDir        = "data-dir"
	keyName           = "name"
	keyListen         = "listen"
	keyOpsListen      = "ops-listen"
	keyClusterListen  = "cluster-listen"
	keyAdvertise      = "advertise"
	keyPeer           = "peer"
	keyJoin           = "join"
	keyTokenFile      = "token-file"
	keyPublicURL      = "public-url"
	keyAppURL         = "app-url"
	keyPlainHTTP      = "plain-http"
	keyClusterKeyFile = "cluster-key-file"
	keyTrustedProxy   = "trusted-proxy"
	keyFeedSecrets    = "feed-secrets"
	keyOTLPEndpoint   = "otlp-endpoint"
	keyTrustClock     = "trust-clock"
	keyDrain          = "drain"
	keyStopTimeout    = "stop-timeout"
	keyLogFormat      = "log-format"
	keyVerbose        = "verbose"
)

const aboutPlainHTTP = "accept http in --public-url and --app-url outside the loopback: passwords, cookies, codes and secrets can be read and changed on the way"

const trustClockUsage = "accept the clock at a start without any check; for a machine whose clock is kept right by something the kernel does not know of"

// A configSetting is one of the options with its key. The type that value
// points to is the type that is expected wherever the setting comes from:
// string, []string, time.Duration or bool.
type configSetting struct {
	key   string
	value any
	usage string
}

// settings are all of them, in the order in which they are shown.
func (o *serveOptions) settings() []configSetting {
	return slices.Concat([]configSetting{
		{keyConfig, &o.Config, "YAML `FILE` of these settings; flags and environment go before it"},
		{keyDataDir, &o.DataDir, "`DIR` of the cluster's key, the log and the admin socket"},
		{keyName, &o.Name, "this node's `NAME`, as it was invited; another is refused (default: whatever that is, at first the host name)"},
		{keyListen, &o.Listen, "`HOST:PORT` of the API and the pages"},
		{keyOpsListen, &o.OpsListen, "`HOST:PORT` of /livez, /readyz and /metrics"},
		{keyClusterListen, &o.ClusterListen, "`HOST:PORT` for the other nodes"},
		{keyAdvertise, &o.Advertise, "`HOST:PORT` where other nodes reach --cluster-listen (default: that address)"},
		{keyPeer, &o.Peers, "`NAME=HOST:PORT` where a node is reached from here, instead of what it advertises (repeatable)"},
		{keyJoin, &o.Join, "`HOST:PORT` of a node whose cluster is joined at the first start"},
		{keyTokenFile, &o.TokenFile, "`FILE` with the token for --join"},
		{keyPublicURL, &o.PublicURL, "`URL` of the API as others reach it, and the issuer; must equal the cluster's"},
		{keyAppURL, &o.AppURL, "`URL` of the pages as others reach them; must equal the cluster's"},
		{keyPlainHTTP, &o.PlainHTTP, aboutPlainHTTP},
		{keyClusterKeyFile, &o.ClusterKeyFile, "`FILE` with the cluster's key (default: cluster.key in the data folder)"},
		{keyTrustedProxy, &o.TrustedProxies, "address or network (`CIDR`) of a proxy in front, whose X-Forwarded-For is believed (repeatable)"},
		{keyFeedSecrets, &o.FeedSecrets, "`FILE` of the resource servers that may read what was revoked, as \"mintmark feed add\" makes it (default: nobody may)"},
	}, o.signInSettings(), []configSetting{
		{keyOTLPEndpoint, &o.OTLPEndpoint, "`URL` of an OpenTelemetry collector (OTLP over HTTP) that traces are sent to (default: none are made)"},
		{keyTrustClock, &o.TrustClock, trustClockUsage},
		{keyDrain, &o.Drain, "how long a stopping node still answers after /readyz says no"},
		{keyStopTimeout, &o.StopTimeout, "how long a stopping node then waits for what it is still answering"},
		{keyLogFormat, &o.LogFormat, "`FORMAT` of the log on standard error: text or json"},
		{keyVerbose, &o.Verbose, "log what happens inside"},
	})
}

// flags declares the flags, with the defaults. What they are set to is read by
// loadServeOptions, which knows what goes before what.
func (o *serveOptions) flags(f *pflag.FlagSet) {
	*o = defaultServeOptions()
	for _, s := range o.settings() {
		switch v := s.value.(type) {
		case *string:
			f.StringVar(v, s.key, *v, s.usage)
		case *[]string:
			f.StringArrayVar(v, s.key, *v, s.usage)
		case *time.Duration:
			durationVar(f, v, s.key, *v, s.usage)
		case *bool:
			f.BoolVar(v, s.key, *v, s.usage)
		}
	}
}

// peerAddresses are the options --peer, by name. They have been checked.
func (o *serveOptions) peerAddresses() map[string]string {
	m := make(map[string]string, len(o.Peers))
	for _, p := range o.Peers {
		name, address, _ := strings.Cut(p, "=")
		m[name] = address
	}
	return m
}
