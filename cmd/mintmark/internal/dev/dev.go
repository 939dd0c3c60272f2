package dev

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

//go:embed demo.yaml
var demoFixtures []byte

// Options are the flags of "mintmark dev".
type Options struct {
	Version           string // of this program
	Listen, OpsListen string // HOST:PORT
	PublicURL, AppURL string // origins; "": from Listen, and as PublicURL
	PlainHTTP         bool   // accept http outside the loopback
	DataDir           string
	Fixtures          string   // path of a YAML file; "": the demo's
	TrustedProxies    []string // addresses or networks
	TrustClock        bool     // accept the clock at a start without a check
	Verbose           bool

	// Documents is server.Config.Documents. It has no flag: only a test can give it.
	Documents web.Documents
}

// Command returns "mintmark dev" with what has no flag.
func Command(o Options) *cobra.Command {
	c := &cobra.Command{
		Use:   "dev",
		Short: "Run one durable node on this machine, with fixtures",
		Long: `Run one durable node on this machine, for people who try Mintmark or test
their own software against it. Without --fixtures it has a demo user, a demo
administrator and demo clients whose passwords and secrets everybody knows, so
it listens on the loopback only. It starts on no data but what it made itself,
and "mintmark serve" does not start on that.

When it is ready it prints one line of JSON on standard output; everything for
people goes to standard error.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return Run(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&o.Listen, "listen", "127.0.0.1:8080", "address of the API and the pages")
	f.StringVar(&o.OpsListen, "ops-listen", "127.0.0.1:0", "address of /livez and /readyz")
	f.StringVar(&o.PublicURL, "public-url", "", "address of the API as others reach it, and the issuer (default: from --listen)")
	f.StringVar(&o.AppURL, "app-url", "", "address of the pages as others reach them (default: the public URL)")
	f.BoolVar(&o.PlainHTTP, config.KeyPlainHTTP, false, config.PlainHTTPUsage)
	f.StringVar(&o.DataDir, "data-dir", defaultDataDir(), "folder of the data")
	f.StringVar(&o.Fixtures, "fixtures", "", "YAML file of users, clients and settings (default: the demo's)")
	f.StringArrayVar(&o.TrustedProxies, "trusted-proxy", nil, "address or network of a proxy in front, whose X-Forwarded-For is believed (repeatable)")
	f.BoolVar(&o.TrustClock, "trust-clock", false, config.TrustClockUsage)
	f.BoolVar(&o.Verbose, "verbose", false, "log what happens inside")
	return c
}

// demo reports whether the node has the demo's users and clients.
func (o Options) demo() bool { return o.Fixtures == "" }

// Ready is the line of JSON that a node writes when it serves.
type Ready struct {
	BaseURL string `json:"base_url"`
	AppURL  string `json:"app_url"`
	Issuer  string `json:"issuer"`
	OpsURL  string `json:"ops_url"`
}

// Run runs the node until ctx ends, or the terminal hangs up. When the node serves, it
// writes one line of JSON (Ready) to stdout, and how to get a first token to stderr.
func Run(ctx context.Context, o Options, stdout, stderr io.Writer) error {
	c, err := o.Config(stderr)
	if err != nil {
		return err
	}
	if !signal.Ignored(syscall.SIGHUP) { // nohup has it ignored
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP) // the terminal is gone
		defer stop()
	}
	s, err := server.Start(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			return nil // told to stop before there was anything to stop
		}
		return err
	}
	line, err := json.Marshal(Ready{
		BaseURL: s.Settings.BaseURL, AppURL: s.Settings.AppURL, Issuer: s.Settings.BaseURL,
		OpsURL: s.OpsURL(),
	})
	if err != nil {
		return err
	}
	printReady(stderr, s, o)
	fmt.Fprintf(stdout, "%s\n", line)
	return s.UntilStopped(ctx, 10*time.Second, func() { fmt.Fprintln(stderr, "mintmark: stopping") })
}

// Config returns the configuration of the node. It reads the fixtures and checks them as
// a whole before anything is started.
func (o Options) Config(stderr io.Writer) (server.Config, error) {
	level := slog.LevelWarn
	if o.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(stderr, config.HandlerOptions(level)))
	for _, l := range [][2]string{{"--listen", o.Listen}, {"--ops-listen", o.OpsListen}} {
		if err := config.CheckListen(l[1]); err != nil {
			return server.Config{}, fmt.Errorf("%s: %w", l[0], err)
		}
	}
	host, port, _ := net.SplitHostPort(o.Listen)
	trusted, err := proxy.Parse(o.TrustedProxies)
	if err != nil {
		return server.Config{}, fmt.Errorf("--trusted-proxy: %w", err)
	}
	var f *fixtures
	o.PublicURL, o.AppURL = strings.TrimSuffix(o.PublicURL, "/"), strings.TrimSuffix(o.AppURL, "/")
	if o.demo() {
		if !loopback(host) || !loopbackURL(o.PublicURL) || !loopbackURL(o.AppURL) {
			return server.Config{}, errors.New("the demo's passwords are known to everybody: stay on the loopback, or give --fixtures")
		}
		if port == "80" && o.PublicURL == "" {
			return server.Config{}, errors.New("--listen: port 80 would be the origin of the demo's own redirect URI http://127.0.0.1/callback")
		}
		f, err = ParseFixtures("demo.yaml", demoFixtures)
	} else {
		f, err = loadFixtures(o.Fixtures)
	}
	if err != nil {
		return server.Config{}, err
	}
	access := new(atomic.Bool)
	access.Store(true) // seen with --verbose only
	return server.Config{
		Version: o.Version,
		DataDir: o.DataDir, Listen: o.Listen, OpsListen: o.OpsListen, Proxies: trusted, TrustClock: o.TrustClock, Log: log, AccessLog: access, Documents: o.Documents,
		Key: config.KeySource{File: filepath.Join(o.DataDir, "cluster.key")},
		Settings: func(current ledger.Settings, listening string) (ledger.Settings, error) {
			wanted, err := o.settings(current, f, listening)
			if current.BaseURL != "" && wanted.BaseURL != current.BaseURL {
				log.Warn("issuer changed with the listener's address, earlier access tokens refused",
					"from", current.BaseURL, "to", wanted.BaseURL)
			}
			return wanted, err
		},
		Prepare: func(ctx context.Context, i *issuer.Issuer, passwords *credential.Hasher) error {
			return f.apply(ctx, fixtureDeps{
				Ledger: i, Secret: i.Secret, SecretOfSHA256: i.SecretOfSHA256, SecretOfHash: i.SecretOfHash, SecretDigests: i.SecretDigests, Declared: i.Declared, Passwords: passwords,
			})
		},
	}, nil
}

// settings completes the cluster's settings. An address from the command line that
// differs from the cluster's is an error, because it would invalidate every token. An
// address that only follows from --listen changes with it.
func (o Options) settings(s ledger.Settings, f *fixtures, listening string) (ledger.Settings, error) {
	given := func(flag, value, current string) error {
		if value != "" && current != "" && value != current {
			return fmt.Errorf("%s is %s, and the data in %s was made for %s: %w", flag, value, o.DataDir, current, server.ErrOtherAddress)
		}
		return nil
	}
	if err := errors.Join(given("--public-url", o.PublicURL, s.BaseURL), given("--app-url", o.AppURL, s.AppURL)); err != nil {
		return s, err
	}
	base := o.PublicURL
	switch {
	case base != "":
	case s.BaseURL != "" && !isOwnListenerURL(s.BaseURL, listening):
		base = s.BaseURL // somebody chose it with --public-url
	default:
		base = "http://" + reachable(listening)
	}
	app := o.AppURL
	switch {
	case app != "":
	case s.AppURL != "" && s.AppURL != s.BaseURL:
		app = s.AppURL
	default:
		app = base
	}
	if s.Audience == s.BaseURL || s.Audience == "" {
		s.Audience = base
	}
	s.BaseURL, s.AppURL, s.PlainHTTP = base, app, s.PlainHTTP || o.PlainHTTP
	for _, a := range [][2]string{{"--public-url", base}, {"--app-url", app}} {
		if ledger.PlainHTTP(a[1]) && !s.PlainHTTP {
			return s, fmt.Errorf("%s is %s: %w", a[0], a[1], config.ErrPlainHTTP)
		}
	}
	f.settings(&s)
	return s, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// loopbackURL reports whether an address is "" or on this machine.
func loopbackURL(address string) bool {
	u, err := url.Parse(address)
	return address == "" || err == nil && loopback(u.Hostname())
}

// reachable returns an address at which programs on this machine reach a listener; a
// listener on every address has no host.
func reachable(listening string) string {
	host, port, err := net.SplitHostPort(listening)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return listening
}

// isOwnListenerURL reports whether url came from a listener on the same host, on any port.
func isOwnListenerURL(url, listening string) bool {
	host, _, err := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	now, _, _ := net.SplitHostPort(reachable(listening))
	return err == nil && host == now
}

func defaultDataDir() string {
	if dir := os.Getenv("MINTMARK_DATA_DIR"); dir != "" {
		return dir
	}
	return ".data"
}
