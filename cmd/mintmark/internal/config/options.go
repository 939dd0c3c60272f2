package config

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Options are the settings of one node, from flags, environment and file. They are
// read once, checked as a whole and not changed afterwards; only LogLevel and AccessLog
// follow a reload.
type Options struct {
	Config string // path of a YAML file with the other settings; "" for none

	DataDir string // folder of the cluster's key, the log and the admin socket
	Name    string // name of this node; default: the host name
	Named   bool   // Name was given: a member with another name is an error

	Listen        string // HOST:PORT of the API and the pages
	OpsListen     string // HOST:PORT of /livez, /readyz and /metrics
	ClusterListen string // HOST:PORT for other nodes
	TLS, OpsTLS   TLSFiles
	Advertise     string // HOST:PORT at which other nodes reach ClusterListen; "": that address
	Peers         []string
	Join          string // HOST:PORT of a member, to join its cluster at the first start; "": none
	TokenFile     string // file with the join token, set if Join is

	PublicURL string // origin without a trailing slash; "": the cluster's
	AppURL    string // origin of the pages, likewise
	PlainHTTP bool   // accept http outside the loopback; see ledger.Settings

	ClusterKeyFile string // "": MINTMARK_CLUSTER_KEY, a systemd credential, or DIR/cluster.key
	TrustedProxies []string

	Upstream       Upstream
	PasswordSignIn bool // false: users sign in with Upstream only

	BackupDir   string        // folder of this node's scheduled backups
	BackupEvery time.Duration // between two of them; 0: none are made
	BackupKeep  int           // how many stay in BackupDir

	OTLPEndpoint string // URL of the collector of traces; "": no traces

	OperatorsListen string // HOST:PORT for operators on other machines; "" for none
	OperatorsTLS    TLSFiles
	OperatorsCAFile string // authority of the certificates of operators; "": they need tokens

	TrustClock bool // accept the clock at a start without a check

	Drain       time.Duration // from "not ready" to the first refused connection
	StopTimeout time.Duration // after Drain, for the requests still in progress
	LogFormat   string        // LogText or LogJSON
	LogLevel    string        // debug, info, warn or error
	AccessLog   bool          // write a line for each request
	OpsDebug    bool          // serve profiles and the level of the log on OpsListen

	level *slog.LevelVar // level of the log; a reload changes it
}

// TLSFiles are the files of a listener's certificate and private key in PEM; "" for a
// listener without TLS.
type TLSFiles struct{ Cert, Key string }

// Default returns the settings without flags, environment and file.
func Default() Options {
	return Options{
		DataDir:       ".data",
		Listen:        "127.0.0.1:8080",
		OpsListen:     "127.0.0.1:8081",
		ClusterListen: "127.0.0.1:8300",

		PasswordSignIn: true,

		BackupKeep: 7,

		Drain:       time.Second,
		StopTimeout: 10 * time.Second,
		LogFormat:   LogText,
		LogLevel:    "info",
		AccessLog:   true,
	}
}

// Keys of settings. The key data-dir is the flag --data-dir, the key data-dir of a
// file, and the variable MINTMARK_DATA_DIR.
const (
	KeyConfig         = "config"
	KeyDataDir        = "data-dir"
	KeyName           = "name"
	KeyListen         = "listen"
	KeyOpsListen      = "ops-listen"
	KeyTLSCertFile    = "tls-cert-file"
	KeyTLSKeyFile     = "tls-key-file"
	KeyOpsTLSCertFile = "ops-tls-cert-file"
	KeyOpsTLSKeyFile  = "ops-tls-key-file"
	KeyClusterListen  = "cluster-listen"
	KeyAdvertise      = "advertise"
	KeyPeer           = "peer"
	KeyJoin           = "join"
	KeyTokenFile      = "token-file"
	KeyPublicURL      = "public-url"
	KeyAppURL         = "app-url"
	KeyPlainHTTP      = "plain-http"
	KeyClusterKeyFile = "cluster-key-file"
	KeyTrustedProxy   = "trusted-proxy"
	KeyBackupDir      = "backup-dir"
	KeyBackupEvery    = "backup-every"
	KeyBackupKeep     = "backup-keep"
	KeyOTLPEndpoint   = "otlp-endpoint"
	KeyTrustClock     = "trust-clock"

	KeyOperatorsListen      = "operators-listen"
	KeyOperatorsTLSCertFile = "operators-tls-cert-file"
	KeyOperatorsTLSKeyFile  = "operators-tls-key-file"
	KeyOperatorsCAFile      = "operators-ca-file"

	KeyDrain       = "drain"
	KeyStopTimeout = "stop-timeout"
	KeyLogFormat   = "log-format"
	KeyLogLevel    = "log-level"
	KeyAccessLog   = "access-log"
	KeyOpsDebug    = "ops-debug"
)

// PlainHTTPUsage explains --plain-http wherever there is such a flag.
const PlainHTTPUsage = "accept http in --public-url and --app-url outside the loopback: passwords, cookies, codes and secrets can be read and changed on the way"

// TrustClockUsage explains --trust-clock wherever there is such a flag.
const TrustClockUsage = "accept the clock at a start without any check; for a machine whose clock is kept right by something the kernel does not know of"

// A Setting is one of the options with its key. Value points to the option: a
// *string, *[]string, *time.Duration, *int or *bool.
type Setting struct {
	Key   string
	Value any
	usage string
}

// Settings returns all settings, in the order in which they are shown. Their values
// point into o.
func (o *Options) Settings() []Setting {
	return slices.Concat([]Setting{
		{KeyConfig, &o.Config, "YAML `FILE` of these settings; flags and environment override it"},
		{KeyDataDir, &o.DataDir, "`DIR` of the cluster's key, the log and the admin socket"},
		{KeyName, &o.Name, "this node's `NAME`, as it was invited; a different one is refused (default: the name that it has, at first the host name)"},
		{KeyListen, &o.Listen, "`HOST:PORT` of the API and the pages"},
		{KeyTLSCertFile, &o.TLS.Cert, "`FILE` with the certificate chain of --listen in PEM, read again when it changes (default: no TLS)"},
		{KeyTLSKeyFile, &o.TLS.Key, "`FILE` with the private key of --tls-cert-file in PEM"},
		{KeyOpsListen, &o.OpsListen, "`HOST:PORT` of /livez, /readyz and /metrics"},
		{KeyOpsTLSCertFile, &o.OpsTLS.Cert, "`FILE` with the certificate chain of --ops-listen in PEM, read again when it changes (default: no TLS)"},
		{KeyOpsTLSKeyFile, &o.OpsTLS.Key, "`FILE` with the private key of --ops-tls-cert-file in PEM"},
		{KeyClusterListen, &o.ClusterListen, "`HOST:PORT` for the other nodes"},
		{KeyAdvertise, &o.Advertise, "`HOST:PORT` at which other nodes reach --cluster-listen (default: that address)"},
		{KeyPeer, &o.Peers, "`NAME=HOST:PORT` at which this node reaches another, instead of its advertised address (repeatable)"},
		{KeyJoin, &o.Join, "`HOST:PORT` of a node whose cluster is joined at the first start"},
		{KeyTokenFile, &o.TokenFile, "`FILE` with the token for --join"},
		{KeyPublicURL, &o.PublicURL, "`URL` of the API as others reach it, and the issuer; must equal the cluster's"},
		{KeyAppURL, &o.AppURL, "`URL` of the pages as others reach them; must equal the cluster's"},
		{KeyPlainHTTP, &o.PlainHTTP, PlainHTTPUsage},
		{KeyClusterKeyFile, &o.ClusterKeyFile, "`FILE` with the cluster's key (default: cluster.key in the data folder)"},
		{KeyTrustedProxy, &o.TrustedProxies, "address or network (`CIDR`) of a proxy in front, whose X-Forwarded-For is used (repeatable)"},
	}, o.signInSettings(), []Setting{
		{KeyBackupDir, &o.BackupDir, "`DIR` of the scheduled backups that this node makes if the cluster chooses it"},
		{KeyBackupEvery, &o.BackupEvery, "time between two scheduled backups, the same on all nodes; 0s for none"},
		{KeyBackupKeep, &o.BackupKeep, "`COUNT` of scheduled backups that stay in backup-dir"},
		{KeyOTLPEndpoint, &o.OTLPEndpoint, "`URL` of an OpenTelemetry collector (OTLP over HTTP) for traces (default: no traces)"},
		{KeyOperatorsListen, &o.OperatorsListen, "`HOST:PORT` for operators on other machines, over TLS (default: none)"},
		{KeyOperatorsTLSCertFile, &o.OperatorsTLS.Cert, "`FILE` with the certificate chain of --operators-listen in PEM, read again when it changes"},
		{KeyOperatorsTLSKeyFile, &o.OperatorsTLS.Key, "`FILE` with the private key of --operators-tls-cert-file in PEM"},
		{KeyOperatorsCAFile, &o.OperatorsCAFile, "`FILE` with the authority of operators' certificates in PEM, never the cluster's, read again when it changes (default: operators need tokens)"},
		{KeyTrustClock, &o.TrustClock, TrustClockUsage},
		{KeyDrain, &o.Drain, "how long a stopping node still answers after /readyz fails"},
		{KeyStopTimeout, &o.StopTimeout, "how long a stopping node then waits for requests in progress"},
		{KeyLogFormat, &o.LogFormat, "`FORMAT` of the log on standard error: text or json"},
		{KeyLogLevel, &o.LogLevel, "least `LEVEL` of the log: debug, info, warn or error"},
		{KeyAccessLog, &o.AccessLog, "whether the log has a line for each request to --listen"},
		{KeyOpsDebug, &o.OpsDebug, "serve /debug/pprof/ and /debug/log-level on --ops-listen"},
	})
}

// Flags declares a flag for each setting, with its default. Load reads them.
func (o *Options) Flags(f *pflag.FlagSet) {
	*o = Default()
	for _, s := range o.Settings() {
		switch v := s.Value.(type) {
		case *string:
			f.StringVar(v, s.Key, *v, s.usage)
		case *[]string:
			f.StringArrayVar(v, s.Key, *v, s.usage)
		case *time.Duration:
			DurationVar(f, v, s.Key, *v, s.usage)
		case *int:
			f.IntVar(v, s.Key, *v, s.usage)
		case *bool:
			f.BoolVar(v, s.Key, *v, s.usage)
		}
	}
}

// PeerAddresses returns the addresses of Peers by node name. Check has verified them.
func (o *Options) PeerAddresses() map[string]string {
	m := make(map[string]string, len(o.Peers))
	for _, p := range o.Peers {
		name, address, _ := strings.Cut(p, "=")
		m[name] = address
	}
	return m
}
