package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/bench"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/progress"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) benchCommand() *cobra.Command {
	return group("bench", "Measure how many requests a server answers, and how soon", m.benchRefresh(), m.benchExchange(), m.benchIntrospect())
}

// A benchRun has the flags of a measurement.
type benchRun struct {
	m           *management
	load        bench.Load
	clientsFile string
	grants      int
	introspect  bool // the load is introspections
	yes         bool
}

func (m *management) benchRefresh() *cobra.Command {
	b := benchRun{m: m, load: bench.Load{Request: bench.Refresh}}
	c := command("refresh", "Measure refreshes", func(cmd *cobra.Command, _ []string) error { return b.run(cmd) })
	c.Long = `Measure how many refreshes a second a server answers, and how long they take.

Without --clients this makes a user and a client of its own on the node of
--data-dir, has the user sign in and allow the client once for each grant, and
deletes both at the end. The audit trail keeps what was done. --yes confirms
that.

With --clients it uses grants that exist, on any server. The file has an object of
JSON a line, with client_id, client_secret and refresh_token, and only its owner
may read it. Each refresh spends a token, so the file is written again at the end:
if that is prevented, its tokens are spent, and presenting one ends its grant.

By default each connection begins a request when the one before is answered
(a closed loop). With --rate requests begin at that rate, whether the server keeps
up or not (an open loop), and time that a request had to wait for its connection
counts. Generator and server on one machine share its processors.`
	c.Flags().StringVar(&b.clientsFile, "clients", "", "file of clients and refresh tokens, which is written again")
	c.Flags().IntVar(&b.grants, "grants", 0, "how many grants to make with --yes (default: one a connection)")
	config.DurationVar(c.Flags(), &b.load.Warmup, "warmup", 2*time.Second, "for how long to load before that")
	b.flags(c)
	return c
}

func (m *management) benchExchange() *cobra.Command {
	b := benchRun{m: m, load: bench.Load{Request: bench.Exchange, Once: true}}
	c := command("exchange", "Measure exchanges of codes", func(cmd *cobra.Command, _ []string) error { return b.run(cmd) })
	c.Long = `Measure how many codes a second a server exchanges for tokens, and how long that
takes.

A code can be exchanged once. This makes a user and a client of its own on the node of
--data-dir, has the user sign in and allow the client once for each code, exchanges the
codes, and deletes both at the end. The audit trail keeps what was done. --yes confirms
that. The measurement ends with the last code; one user may allow at most 2,000 in a day.`
	c.Flags().IntVar(&b.grants, "grants", 1000, "how many codes to make and exchange")
	b.flags(c)
	return c
}

func (m *management) benchIntrospect() *cobra.Command {
	b := benchRun{m: m, load: bench.Load{Request: bench.Introspect}, introspect: true}
	c := command("introspect", "Measure introspections of access tokens", func(cmd *cobra.Command, _ []string) error { return b.run(cmd) })
	c.Long = `Measure how many introspections of access tokens a second a server answers, and how long
they take.

This makes a user, a client and a resource server of its own on the node of --data-dir, has
the user sign in and allow the client once for each token, introspects the tokens as the
resource server, and deletes all three at the end. The audit trail keeps what was done. --yes
confirms that. Where no other resource server is registered, requests whose parameter resource
names none are refused meanwhile, instead of ignoring it: do not run it there while others use
the cluster.`
	c.Flags().IntVar(&b.grants, "grants", 0, "how many access tokens to make (default: one a connection)")
	config.DurationVar(c.Flags(), &b.load.Warmup, "warmup", 2*time.Second, "for how long to load before that")
	b.flags(c)
	return c
}

// makes names what the command makes on the node and deletes at the end.
func (b *benchRun) makes() string {
	if b.introspect {
		return "a user, a client and a resource server"
	}
	return "a user and a client"
}

// plan is what --yes confirms.
func (b *benchRun) plan() string {
	return "make " + b.makes() + " on the node, and delete them afterwards"
}

// flags declares the flags of every measurement.
func (b *benchRun) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&b.load.URLs, "url", nil, "origin of the API (repeat for more nodes; default: the cluster's)")
	confirmFlag(c, &b.yes, b.plan())
	f.IntVar(&b.load.Connections, "connections", 64, "how many connections make requests at the same time")
	f.Float64Var(&b.load.Rate, "rate", 0, "requests a second that begin, 0 for a closed loop")
	config.DurationVar(f, &b.load.Duration, "duration", 10*time.Second, "for how long to measure")
}

// maxBenchGrants is how often one user may allow a client in a day.
const maxBenchGrants = 2000

func (b *benchRun) check() error {
	switch {
	case b.clientsFile != "" && b.yes:
		return errors.New("--clients and --yes exclude each other")
	case b.clientsFile != "" && len(b.load.URLs) == 0:
		return errors.New("--clients needs --url")
	case b.load.Connections < 1:
		return errors.New("--connections must be at least 1")
	case b.grants < 0 || b.grants > maxBenchGrants:
		return fmt.Errorf("--grants must be from 1 to %d", maxBenchGrants)
	case b.load.Rate < 0:
		return errors.New("--rate must not be negative")
	case b.load.Duration <= 0 || b.load.Warmup < 0:
		return errors.New("--duration must be positive and --warmup not negative")
	}
	return b.m.checkOutput()
}

func (b *benchRun) run(cmd *cobra.Command) error {
	if err := b.check(); err != nil {
		return err
	}
	if b.clientsFile == "" {
		if err := confirm(cmd, b.yes, b.plan()); err != nil {
			return err
		}
	}
	ctx, end, err := b.prepare(cmd)
	if err != nil {
		return err
	}
	stop := b.startProgress(cmd)
	result, err := b.load.Run(ctx)
	stop()
	if err := errors.Join(err, end()); err != nil {
		return err
	}
	return b.m.show(cmd, result, func(p *printer) { printResult(p, &result) })
}

// prepare gets the clients. The caller must call end after the measurement.
func (b *benchRun) prepare(cmd *cobra.Command) (ctx context.Context, end func() error, err error) {
	ctx = cmdContext(cmd)
	if b.clientsFile != "" {
		end, err = b.readClients()
		return ctx, end, err
	}
	caller, err := b.m.open(cmd)
	if err != nil {
		return ctx, nil, err
	}
	settings, err := admin.ShowSettings.Call(ctx, caller, admin.SettingsQuery{})
	if err != nil {
		caller.Close()
		return ctx, nil, err
	}
	origin := map[string]string{}
	for _, s := range settings.Settings {
		origin[s.Key] = s.Value
	}
	if len(b.load.URLs) == 0 {
		b.load.URLs = []string{origin["base_url"]}
	}
	grants := b.grants
	if grants == 0 {
		grants = min(b.load.Connections, maxBenchGrants)
	}
	cmd.PrintErrf("making %s, and %d grants\n", b.makes(), grants)
	seed, err := bench.NewSeed(ctx, caller, bench.SeedOptions{
		Base: b.load.URLs[0], App: origin["app_url"], Grants: grants, Redeem: !b.load.Once, Introspect: b.introspect,
	})
	if err != nil {
		caller.Close()
		return ctx, nil, err
	}
	b.load.Clients = seed.Clients
	return ctx, func() error {
		defer caller.Close()
		return seed.Remove(ctx)
	}, nil
}

// readClients reads the file of clients. end writes it again.
func (b *benchRun) readClients() (end func() error, err error) {
	f, err := os.Open(b.clientsFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if err := config.RequirePrivate(f, "clients", ""); err != nil {
		return nil, err
	}
	if b.load.Clients, err = bench.ReadClients(f); err != nil {
		return nil, err
	}
	end = func() error { return bench.WriteClients(b.clientsFile, b.load.Clients) }
	return end, end() // before tokens are spent: the file must be writable
}

// startProgress shows the progress of a measurement. The caller must call stop.
func (b *benchRun) startProgress(cmd *cobra.Command) (stop func()) {
	all, began := b.load.Warmup+b.load.Duration, time.Now()
	p := progress.Start(progress.Options{Out: cmd.ErrOrStderr(), What: "measuring", Total: all.Milliseconds(), Plain: true})
	b.load.Progress = func(answered, failed int64) {
		p.Set(time.Since(began).Milliseconds(), all.Milliseconds(), fmt.Sprintf("%d requests/s, %d failed", answered, failed))
	}
	return p.Stop
}

func printResult(p *printer, r *bench.Result) {
	loop := "closed loop"
	if r.Rate > 0 {
		loop = fmt.Sprintf("%g requests/s begun", r.Rate)
	}
	ms := func(v float64) string { return fmt.Sprintf("%.1f ms", v) }
	failures := property{name: "Failed"}
	for _, text := range slices.Sorted(maps.Keys(r.Failures)) {
		failures.values = append(failures.values, fmt.Sprintf("%d: %s", r.Failures[text], text))
	}
	p.properties(
		singleValue("Server", strings.Join(r.URLs, " ")),
		singleValue("Load", fmt.Sprintf("%d connections, %d grants, %s", r.Connections, r.Clients, loop)),
		singleValue("Answered", fmt.Sprintf("%d in %.1f s: %.0f requests/s", r.Requests, r.Seconds, r.PerSecond)),
		singleValue("Latency p50", ms(r.Latency.P50)),
		singleValue("Latency p90", ms(r.Latency.P90)),
		singleValue("Latency p99", ms(r.Latency.P99)),
		singleValue("Latency p99.9", ms(r.Latency.P999)),
		singleValue("Latency max", ms(r.Latency.Max)),
		failures,
	)
}
