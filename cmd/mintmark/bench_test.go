package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// runAs makes this test binary a program: the real main, or the ceiling.
const runAs = "MINTMARK_TEST_RUN_AS"

func TestMain(m *testing.M) {
	switch os.Getenv(runAs) {
	case "mintmark":
		if step := os.Getenv(killAt); step != "" {
			root := rootCommand()
			root.SetErr(killedAt(step))
			os.Exit(cli.Execute(context.Background(), root))
		}
		main()
	case "ceiling":
		fmt.Fprintln(os.Stderr, runCeiling(os.Getenv("MINTMARK_DATA_DIR")))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// self is this binary, started again as a program.
func self(t testing.TB, as, dataDir string, arguments ...string) *exec.Cmd {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(path, arguments...)
	c.Env = append(os.Environ(), runAs+"="+as, "MINTMARK_DATA_DIR="+dataDir)
	return c
}

// startProcess returns the process and its first line of output.
func startProcess(t testing.TB, c *exec.Cmd) (p *testkit.Process, line string) {
	t.Helper()
	p, err := testkit.Start(c, filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	line, err = p.FirstLine(testkit.Limit)
	require.NoError(t, err)
	return p, line
}

// startDev starts the real main as "mintmark dev".
func startDev(t testing.TB, dataDir, fixtures string) (p *testkit.Process, r dev.Ready) {
	t.Helper()
	p, line := startProcess(t, self(t, "mintmark", dataDir, "dev", "--listen", "127.0.0.1:0", "--data-dir", dataDir, "--fixtures", fixtures))
	require.NoError(t, json.Unmarshal([]byte(line), &r), line)
	return p, r
}

func hostOf(url string) string { return strings.TrimPrefix(url, "http://") }

const benchFixtures = `
users:
  - {id: u-bench, username: bench, password: bench-password}
clients:
  - {id: bench-app, name: Bench, owner: bench, redirect_uris: ["http://127.0.0.1:9999/callback"], scopes: [PROFILE_READ, BOOKING_READ], secrets: [bench-secret]}
`

// seed makes a data folder with live grants and returns a refresh token of
// each. It proposes the commands of real requests, without their HTTP.
func seed(t testing.TB, dir string, grants int) (fixtures string, tokens []string, heap uint64) {
	t.Helper()
	fixtures = filepath.Join(dir, "fixtures.yaml")
	require.NoError(t, os.WriteFile(fixtures, []byte(benchFixtures), 0o600))
	o := dev.Options{Listen: "127.0.0.1:0", OpsListen: "127.0.0.1:0", DataDir: filepath.Join(dir, "data"), Fixtures: fixtures}
	c, err := o.Config(io.Discard)
	require.NoError(t, err)
	c.Log = slog.New(slog.DiscardHandler)
	s, err := server.Start(t.Context(), c)
	require.NoError(t, err)
	tokens = make([]string, grants)
	const perUser = 20
	var wait sync.WaitGroup
	users := make(chan int)
	for range 4 * runtime.NumCPU() * 8 {
		wait.Go(func() {
			for u := range users {
				seedUser(t, s.Issuer, u, tokens[u*perUser:min((u+1)*perUser, grants)])
			}
		})
	}
	for u := range (grants + perUser - 1) / perUser {
		users <- u
	}
	close(users)
	wait.Wait()
	for len(slices.Collect(s.Issuer.View().Events())) > ledger.MaxEvents {
		time.Sleep(100 * time.Millisecond) // the sweep of the audit trail is on its way
	}
	require.NoError(t, s.Node.Snapshot())
	heap = liveHeap()
	require.NoError(t, s.Close(context.WithoutCancel(t.Context())))
	s = nil
	return fixtures, tokens, heap - liveHeap()
}

// liveHeap is what the collector can't free.
func liveHeap() uint64 {
	var m runtime.MemStats
	for range 3 { // finalizers may hold on to something for a round
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// seedUser makes a user, signs in, allows the client and redeems each code.
func seedUser(t testing.TB, i *issuer.Issuer, n int, tokens []string) {
	propose := func(c command.Command) ledger.Outcome {
		o, _, err := i.Propose(t.Context(), c)
		for errors.Is(err, cluster.ErrUnavailable) && !errors.Is(err, cluster.ErrUnknown) {
			o, _, err = i.Propose(t.Context(), c) // a busy machine
		}
		if err != nil || o.Refusal != nil {
			panic(fmt.Sprintf("%T: %v %v", c, err, o.Refusal))
		}
		return o
	}
	id := fmt.Sprintf("u-%d", n)
	propose(&ledger.PutUser{ID: id, Username: "user" + strconv.Itoa(n), Password: "x"})
	session := sha256.Sum256([]byte(id))
	propose(&ledger.SignIn{Session: session, User: id, VerifiedHash: sha256.Sum256([]byte("x"))})
	for k := range tokens {
		var grant ledger.GrantID
		_, _ = rand.Read(grant[:])
		o := propose(&ledger.Allow{
			Actor: ledger.Actor{Session: session}, User: id, Grant: grant, Revision: 1,
			Request: oauth.AuthorizationRequest{ClientID: "bench-app", RedirectURI: callback, Scope: "PROFILE_READ BOOKING_READ"},
		})
		code, err := i.Code(t.Context(), o.Issued, 0)
		if err != nil {
			panic(err)
		}
		request := oauth.TokenRequest{
			GrantType: oauth.AuthorizationCode, Client: oauth.ClientCredentials{ID: "bench-app", Secret: "bench-secret"},
			Code: code.Reveal(), RedirectURI: callback,
		}
		response, err := i.Token(t.Context(), request)
		for errors.Is(err, cluster.ErrUnavailable) && !errors.Is(err, cluster.ErrUnknown) {
			response, err = i.Token(t.Context(), request)
		}
		if err != nil {
			panic(err)
		}
		tokens[k] = strings.Clone(response.RefreshToken)
	}
}

// BenchmarkRefresh measures the refresh grant beside its ceiling: rounds in
// turn, in one run, on the same machine, by the same generator, which is that of
// "mintmark bench". The ratio is the median of those of neighbours, since machines are
// faster and slower by the minute.
func BenchmarkRefresh(b *testing.B) {
	for _, grants := range []int{200, 100_000} {
		b.Run(fmt.Sprintf("grants=%d", grants), func(b *testing.B) {
			dir := b.TempDir()
			fixtures, tokens, _ := seed(b, dir, grants)
			top, topAddress := startProcess(b, self(b, "ceiling", dir))
			server, r := startDev(b, filepath.Join(dir, "data"), fixtures)
			for _, conns := range []int{64, 16, 1} {
				b.Run(fmt.Sprintf("connections=%d", conns), func(b *testing.B) {
					besideCeiling(b, top, topAddress, server, hostOf(r.BaseURL), tokens, conns)
				})
			}
			b.Logf("the ceiling made (signatures, fsyncs, records): %s", countsOf(b, topAddress))
		})
	}
}

// besideCeiling measures refreshes at a server and at the ceiling in turn.
func besideCeiling(b *testing.B, top *testkit.Process, topAddress string, server *testkit.Process, address string, tokens []string, conns int) {
	const round = 3 * time.Second
	measure := func(p *testkit.Process, address string, tokens []string) (perSecond, cpu float64) {
		before, began := cpuOf(b, p.PID()), time.Now()
		n, _ := loadAll(b, []string{address}, tokens, conns, round, 0)
		return float64(n) / time.Since(began).Seconds(), float64((cpuOf(b, p.PID()) - before).Microseconds()) / float64(n)
	}
	dummy := slices.Repeat([]string{strings.Repeat("x", 80)}, conns)
	var rates, cpus, topRates, topCPUs, ofRate, ofCPU []float64
	for b.Loop() {
		for range 5 {
			topRate, topCPU := measure(top, topAddress, dummy)
			rate, cpu := measure(server, address, tokens)
			topRates, topCPUs = append(topRates, topRate), append(topCPUs, topCPU)
			rates, cpus = append(rates, rate), append(cpus, cpu)
			ofRate, ofCPU = append(ofRate, rate/topRate), append(ofCPU, cpu/topCPU)
		}
	}
	b.ReportMetric(median(rates), "refreshes/s")
	b.ReportMetric(median(topRates), "ceiling/s")
	b.ReportMetric(median(ofRate), "of-ceiling")
	b.ReportMetric(median(cpus), "cpu-µs/refresh")
	b.ReportMetric(median(topCPUs), "ceiling-cpu-µs")
	b.ReportMetric(median(ofCPU), "cpu-of-ceiling")
	b.ReportMetric(float64(residentOf(b, server.PID()))/1e6, "MB-resident")
	b.Logf("rounds: %.2f", ofRate)
}

// countsOf are what a ceiling did.
func countsOf(b *testing.B, address string) string {
	counts, err := http.Get("http://" + address + "/counts")
	require.NoError(b, err)
	defer counts.Body.Close()
	text, err := io.ReadAll(counts.Body)
	require.NoError(b, err)
	return string(text)
}

func median(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	return s[len(s)/2]
}

// BenchmarkStartUp measures from exec to the line that says "ready", on an
// empty folder, and the memory of the idle process.
func BenchmarkStartUp(b *testing.B) {
	var times []float64
	var resident int64
	for b.Loop() {
		dir := b.TempDir()
		fixtures := filepath.Join(dir, "fixtures.yaml")
		require.NoError(b, os.WriteFile(fixtures, []byte("users: []\n"), 0o600))
		p, _ := startDev(b, filepath.Join(dir, "data"), fixtures)
		times = append(times, float64(p.TimeToFirstLine().Milliseconds()))
		resident = residentOf(b, p.PID())
		p.Kill()
	}
	b.ReportMetric(median(times), "ms-to-ready")
	b.ReportMetric(float64(resident)/1e6, "MB-idle")
}

// benchGrants is a million, or what MINTMARK_TEST_BENCH_GRANTS says.
func benchGrants(b *testing.B) int {
	text := os.Getenv("MINTMARK_TEST_BENCH_GRANTS")
	if text == "" {
		return 1_000_000
	}
	grants, err := strconv.Atoi(text)
	require.NoError(b, err)
	return grants
}

// BenchmarkMillion measures what a large state costs: the heap of a live
// grant, a restart from the snapshot, refreshes meanwhile, and a restart after
// a kill under full load.
func BenchmarkMillion(b *testing.B) {
	grants := benchGrants(b)
	for b.Loop() {
		dir := b.TempDir()
		fixtures, tokens, heap := seed(b, dir, grants)
		b.ReportMetric(float64(heap)/float64(grants), "heap-B/grant")

		p, r := startDev(b, filepath.Join(dir, "data"), fixtures)
		b.ReportMetric(p.TimeToFirstLine().Seconds(), "s-restart-from-snapshot")
		n := load(b, hostOf(r.BaseURL), tokens, 5*time.Second)
		b.ReportMetric(float64(n)/5, "refreshes/s")
		b.ReportMetric(float64(residentOf(b, p.PID()))/float64(grants), "resident-B/grant")

		// Load until it breaks off, and kill in the middle of it.
		broken := make(chan struct{})
		go func() {
			defer close(broken)
			_, _ = tryLoad([]string{hostOf(r.BaseURL)}, tokens, connections, 40*time.Second, 0)
		}()
		time.Sleep(35 * time.Second) // one snapshot and more is taken under the load
		p.Kill()
		<-broken
		p, _ = startDev(b, filepath.Join(dir, "data"), fixtures)
		b.ReportMetric(p.TimeToFirstLine().Seconds(), "s-restart-after-kill")
		p.Kill()
	}
}
