package main

import (
	"context"
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
	"syscall"
	"time"

	_ "embed"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

//go:embed demo.yaml
var demoFixtures []byte

// devOptions are the flags of mintmark dev.
type devOptions struct {
	listen, opsListen string
	publicURL, appURL string
	plainHTTP         bool
	dataDir, fixtures string
	trustedProxies    []string
	feedSecrets       string
	trustClock        bool
	verbose           bool
	embeddedFixtures  bool
}

func devCommand() *cobra.Command {
	var o devOptions
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
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.embeddedFixtures = o.fixtures == ""
			return runDev(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:8080", "address of the API and the pages")
	f.StringVar(&o.opsListen, "ops-listen", "127.0.0.1:0", "address of /livez and /readyz")
	f.StringVar(&o.publicURL, "public-url", "", "address of the API as others reach it, and the issuer (default: from --listen)")
	f.StringVar(&o.appURL, "app-url", "", "address of the pages as others reach them (default: the public URL)")
	f.BoolVar(&o.plainHTTP, config.KeyPlainHTTP, false, config.PlainHTTPUsage)
	f.StringVar(&o.dataDir, "data-dir", defaultDataDir(), "folder of the data")
	f.StringVar(&o.fixtures, "fixtures", "", "YAML file of users, clients and settings (default: the demo's)")
	f.StringArrayVar(&o.trustedProxies, "trusted-proxy", nil, "address or network of a proxy in front, whose X-Forwarded-For is believed (repeatable)")
	f.StringVar(&o.feedSecrets, "feed-secrets", "", "file of the resource servers that may read what was revoked, as \"mintmark feed add\" makes it")
	f.BoolVar(&o.trustClock, "trust-clock", false, config.TrustClockUsage)
	f.BoolVar(&o.verbose, "verbose", false, "log what happens inside")
	return c
}

// ready is the line of JSON that programs wait for.
type ready struct {
	BaseURL string `json:"base_url"`
	AppURL  string `json:"app_url"`
	Issuer  string `json:"issuer"`
	OpsURL  string `json:"ops_url"`
}

func runDev(ctx context.Context, o devOptions, stdout, stderr io.Writer) error {
	c, err := o.server(stderr)
	if err != nil {
		return err
	}
	if !signal.Ignored(syscall.SIGHUP) { // nohup has it ignored
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP) // the terminal is gone
		defer stop()
	}
	s, err := start(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			return nil // told to stop before there was anything to stop
		}
		return err
	}
	line, err := json.Marshal(ready{
		BaseURL: s.settings.BaseURL, AppURL: s.settings.AppURL, Issuer: s.settings.BaseURL,
		OpsURL: "http://" + s.opsAddr.String(),
	})
	if err != nil {
		return err
	}
	printReady(stderr, s.settings, o)
	fmt.Fprintf(stdout, "%s\n", line)
	return s.untilStopped(ctx, 10*time.Second, func() { fmt.Fprintln(stderr, "mintmark: stopping") })
}

// server turns the flags into a configuration. Fixtures are read and checked
// as a whole before anything is started.
func (o devOptions) server(stderr io.Writer) (serverConfig, error) {
	level := slog.LevelWarn
	if o.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(stderr, config.HandlerOptions(level)))
	host, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return serverConfig{}, fmt.Errorf("--listen: %w", err)
	}
	trusted, err := proxy.Parse(o.trustedProxies)
	if err != nil {
		return serverConfig{}, fmt.Errorf("--trusted-proxy: %w", err)
	}
	readers, err := openReadersFile(o.feedSecrets, os.Getenv)
	if err != nil {
		return serverConfig{}, err
	}
	var f *fixtures
	o.publicURL, o.appURL = strings.TrimSuffix(o.publicURL, "/"), strings.TrimSuffix(o.appURL, "/")
	if o.embeddedFixtures {
		if !loopback(host) || !loopbackURL(o.publicURL) || !loopbackURL(o.appURL) {
			return serverConfig{}, errors.New("the demo's passwords are known to everybody: stay on the loopback, or give --fixtures")
		}
		f, err = parseFixtures("demo.yaml", demoFixtures)
	} else {
		f, err = loadFixtures(o.fixtures)
	}
	if err != nil {
		return serverConfig{}, err
	}
	return serverConfig{
		DataDir: o.dataDir, Listen: o.listen, OpsListen: o.opsListen, Proxies: trusted, Readers: readers, TrustClock: o.trustClock, Log: log,
		Key: config.KeySource{File: filepath.Join(o.dataDir, "cluster.key")},
		Settings: func(current ledger.Settings, listening string) (ledger.Settings, error) {
			wanted, err := o.settings(current, f, listening)
			if current.BaseURL != "" && wanted.BaseURL != current.BaseURL {
				log.Warn("the issuer changes with --listen: access tokens issued before are refused from now on",
					"from", current.BaseURL, "to", wanted.BaseURL)
			}
			return wanted, err
		},
		Prepare: func(ctx context.Context, i *issuer.Issuer, passwords *credential.Hasher) error {
			return f.apply(ctx, fixtureDeps{
				Ledger: i, Secret: i.Secret, Declared: i.Declared, Passwords: passwords,
			})
		},
	}, nil
}

// settings are the cluster's, completed. An address that was given on the
// command line and differs from the cluster's is refused: it would make every
// token that was issued worthless. One that only follows from --listen moves.
func (o devOptions) settings(s ledger.Settings, f *fixtures, listening string) (ledger.Settings, error) {
	given := func(flag, value, current string) error {
		if value != "" && current != "" && value != current {
			return fmt.Errorf("%s is %s, and the data in %s was made for %s: start with that, or with another --data-dir",
				flag, value, o.dataDir, current)
		}
		return nil
	}
	if err := errors.Join(given("--public-url", o.publicURL, s.BaseURL), given("--app-url", o.appURL, s.AppURL)); err != nil {
		return s, err
	}
	base := o.publicURL
	switch {
	case base != "":
	case s.BaseURL != "" && !isOwnListenerURL(s.BaseURL, listening):
		base = s.BaseURL // somebody chose it with --public-url
	default:
		base = "http://" + reachable(listening)
	}
	app := o.appURL
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
	s.BaseURL, s.AppURL, s.PlainHTTP = base, app, s.PlainHTTP || o.plainHTTP
	for _, a := range [][2]string{{"--public-url", base}, {"--app-url", app}} {
		if ledger.PlainHTTP(a[1]) && !s.PlainHTTP {
			return s, fmt.Errorf("%s is %s: expected %s", a[0], a[1], config.ExpectedHTTPS)
		}
	}
	f.settings(&s)
	return s, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// loopbackURL reports whether an address, where one is given, stays on this
// machine.
func loopbackURL(address string) bool {
	u, err := url.Parse(address)
	return address == "" || err == nil && loopback(u.Hostname())
}

// reachable is an address of a listener that a program on this machine can
// call: one that listens everywhere has no host of its own.
func reachable(listening string) string {
	host, port, err := net.SplitHostPort(listening)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return listening
}

// isOwnListenerURL reports whether url is what a listener on the same host gave it,
// whatever its port was then.
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
