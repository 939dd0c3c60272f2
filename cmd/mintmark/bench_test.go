package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
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
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/bench"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/endpoint"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// runAs makes this test binary run as a program: the real main or the ceiling.
const runAs = "MINTMARK_TEST_RUN_AS"

// runFiltered runs the real main without the system calls that the systemd unit refuses.
// It is implemented on Linux.
var runFiltered = func() error { return errors.ErrUnsupported }

func TestMain(m *testing.M) {
	switch os.Getenv(runAs) {
	case "mintmark":
		if step := os.Getenv(killAt); step != "" {
			root := rootCommand()
			root.SetErr(killedAt(step))
			os.Exit(cli.Execute(context.Background(), root))
		}
		main()
	case "filtered":
		fmt.Fprintln(os.Stderr, runFiltered())
		os.Exit(1)
	case "ceiling":
		fmt.Fprintln(os.Stderr, runCeiling(os.Getenv("MINTMARK_DATA_DIR")))
		os.Exit(1)
	}
	var err error
	if described, err = testkit.Describe(endpoint.OpenAPI("https://api.example.com", "https://app.example.com")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// described is the description of the API, by which the answers to all clients are verified.
var described *testkit.Description

// self returns a command that runs this binary as a program.
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
	return startDevAs(t, self(t, "mintmark", dataDir), dataDir, fixtures)
}

// startDevAs is startDev with another way to execute main.
func startDevAs(t testing.TB, c *exec.Cmd, dataDir, fixtures string) (p *testkit.Process, r dev.Ready) {
	t.Helper()
	c.Args = append(c.Args, "dev", "--listen", "127.0.0.1:0", "--data-dir", dataDir, "--fixtures", fixtures)
	p, line := startProcess(t, c)
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

// seed makes a data folder with live grants and returns a refresh token of each. It
// proposes the same commands as real requests, without HTTP.
func seed(t testing.TB, dir string, grants int) (fixtures string, tokens []string, heap uint64) {
	return seedWith(t, dir, grants, redeem)
}

// seedCodes is seed for grants whose code was not redeemed, and returns the codes.
func seedCodes(t testing.TB, dir string, grants int) (fixtures string, codes []string) {
	fixtures, codes, _ = seedWith(t, dir, grants, func(_ testing.TB, _ *issuer.Issuer, code string) string { return code })
	return fixtures, codes
}

// seedWith is seed with a function that is called with each code.
func seedWith(t testing.TB, dir string, grants int, then func(testing.TB, *issuer.Issuer, string) string) (fixtures string, tokens []string, heap uint64) {
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
				seedUser(t, s.Issuer, u, tokens[u*perUser:min((u+1)*perUser, grants)], then)
			}
		})
	}
	for u := range (grants + perUser - 1) / perUser {
		users <- u
	}
	close(users)
	wait.Wait()
	for countEvents(s.Issuer.View()) > ledger.MaxEvents {
		time.Sleep(time.Second) // the sweep of the audit trail may be running
	}
	require.NoError(t, s.Node.Snapshot())
	heap = liveHeap()
	require.NoError(t, s.Close(context.WithoutCancel(t.Context())))
	s = nil
	return fixtures, tokens, heap - liveHeap()
}

func countEvents(v ledger.View) (n int) {
	for range v.Events() {
		n++
	}
	return n
}

// liveHeap returns the size of the heap that the collector can't free.
func liveHeap() uint64 {
	var m runtime.MemStats
	for range 3 { // finalizers may keep objects alive for a round
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// seedUser makes a user, signs in and allows the client once for each token.
func seedUser(t testing.TB, i *issuer.Issuer, n int, tokens []string, then func(testing.TB, *issuer.Issuer, string) string) {
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
		tokens[k] = then(t, i, code.Reveal())
	}
}

// redeem exchanges a code for the first refresh token of its grant.
func redeem(t testing.TB, i *issuer.Issuer, code string) string {
	request := oauth.TokenRequest{
		GrantType: oauth.AuthorizationCode, Client: oauth.ClientCredentials{ID: "bench-app", Secret: "bench-secret"},
		Code: code, RedirectURI: callback,
	}
	response, err := i.Token(t.Context(), request)
	for errors.Is(err, cluster.ErrUnavailable) && !errors.Is(err, cluster.ErrUnknown) {
		response, err = i.Token(t.Context(), request)
	}
	if err != nil {
		panic(err)
	}
	return strings.Clone(response.RefreshToken)
}

// BenchmarkRefresh compares the refresh grant with its ceiling. The two run alternately
// in one process run, on the same machine and with the load generator of "mintmark
// bench". The ratio is the median over neighbouring rounds, since the speed of a machine
// varies from minute to minute.
func BenchmarkRefresh(b *testing.B) {
	for _, grants := range []int{200, 100_000} {
		b.Run(fmt.Sprintf("grants=%d", grants), func(b *testing.B) {
			dir := b.TempDir()
			fixtures, tokens, _ := seed(b, dir, grants)
			top, topAddress := startProcess(b, self(b, "ceiling", dir))
			server, r := startDev(b, filepath.Join(dir, "data"), fixtures)
			clients := benchClients(tokens)
			for _, conns := range []int{64, 16, 1} {
				b.Run(fmt.Sprintf("connections=%d", conns), func(b *testing.B) {
					besideCeiling(b, &contender{top, topAddress, bench.Refresh, dummies(conns)},
						&contender{server, hostOf(r.BaseURL), bench.Refresh, clients}, conns, func() {})
				})
			}
			b.Logf("the ceiling made (signatures, fsyncs, records): %s", countsOf(b, topAddress))
		})
	}
}

// A contender is a process under load.
type contender struct {
	process *testkit.Process
	address string
	request bench.Request
	clients []bench.Client
}

// measure loads the process. It returns the requests per second and the processor time of
// each request in microseconds.
func (c *contender) measure(b *testing.B, conns int) (perSecond, cpu float64) {
	const round = 3 * time.Second
	before, began := cpuOf(b, c.process.PID()), time.Now()
	l := bench.Load{URLs: []string{"http://" + c.address}, Request: c.request, Clients: c.clients, Connections: conns, Duration: round}
	r, err := l.Run(b.Context())
	require.NoError(b, err)
	require.Empty(b, r.Failures)
	return float64(r.Requests) / time.Since(began).Seconds(), float64((cpuOf(b, c.process.PID()) - before).Microseconds()) / float64(r.Requests)
}

// besideCeiling measures a server and its ceiling alternately.
func besideCeiling(b *testing.B, top, server *contender, conns int, next func()) {
	var rates, cpus, topRates, topCPUs, ofRate, ofCPU []float64
	for b.Loop() {
		for range 5 {
			next()
			topRate, topCPU := top.measure(b, conns)
			rate, cpu := server.measure(b, conns)
			topRates, topCPUs = append(topRates, topRate), append(topCPUs, topCPU)
			rates, cpus = append(rates, rate), append(cpus, cpu)
			ofRate, ofCPU = append(ofRate, rate/topRate), append(ofCPU, cpu/topCPU)
		}
	}
	b.ReportMetric(median(rates), "requests/s")
	b.ReportMetric(median(topRates), "ceiling/s")
	b.ReportMetric(median(ofRate), "of-ceiling")
	b.ReportMetric(median(cpus), "cpu-µs/request")
	b.ReportMetric(median(topCPUs), "ceiling-cpu-µs")
	b.ReportMetric(median(ofCPU), "cpu-of-ceiling")
	b.ReportMetric(float64(residentOf(b, server.process.PID()))/1e6, "MB-resident")
	b.Logf("rounds: %.2f", ofRate)
}

// dummies returns clients for a ceiling, which accepts any client.
func dummies(n int) []bench.Client {
	return benchClients(slices.Repeat([]string{strings.Repeat("x", 80)}, n))
}

// BenchmarkExchange compares the exchange of a code with the ceiling of a refresh: both
// parse a form, commit one record and sign one token.
func BenchmarkExchange(b *testing.B) {
	const rounds, perRound = 5, 45_000 // more than are exchanged in a round
	dir := b.TempDir()
	fixtures, codes := seedCodes(b, dir, rounds*perRound)
	topProcess, topAddress := startProcess(b, self(b, "ceiling", dir))
	process, r := startDev(b, filepath.Join(dir, "data"), fixtures)
	top := contender{topProcess, topAddress, bench.Refresh, dummies(connections)}
	server := contender{process, hostOf(r.BaseURL), exchange, nil}
	besideCeiling(b, &top, &server, 16, func() {
		require.NotEmpty(b, codes, "no codes left: run with -benchtime 1x")
		server.clients, codes = benchClients(codes[:perRound]), codes[perRound:]
	})
}

// exchange exchanges the code stored in a client's refresh token field.
func exchange(c *bench.Conn, client *bench.Client) (status int, err error) {
	status, _, err = c.Post(oauth.PathToken, "grant_type=authorization_code&client_id=bench-app&client_secret=bench-secret&redirect_uri="+
		url.QueryEscape(callback)+"&code="+client.RefreshToken)
	return status, err
}

// BenchmarkReads compares read-only requests with a bare handler that writes the same
// headers and bytes.
func BenchmarkReads(b *testing.B) {
	dir := b.TempDir()
	fixtures, tokens, _ := seed(b, dir, 20)
	topProcess, topAddress := startProcess(b, self(b, "ceiling", dir))
	process, r := startDev(b, filepath.Join(dir, "data"), fixtures)
	access := accessToken(b, r.BaseURL, tokens[0])
	for _, read := range []struct{ path, token string }{{oauth.PathJWKS, ""}, {oauth.PathMetadata, ""}, {oauth.PathMe, access}} {
		b.Run(strings.Trim(strings.ReplaceAll(read.path, "/", "-"), "-"), func(b *testing.B) {
			get := func(path string) bench.Request {
				return func(c *bench.Conn, _ *bench.Client) (int, error) {
					status, _, err := c.Get(path, read.token)
					return status, err
				}
			}
			setBare(b, topAddress, r.BaseURL+read.path, read.token)
			top := contender{topProcess, topAddress, get("/bare"), dummies(connections)}
			server := contender{process, hostOf(r.BaseURL), get(read.path), dummies(connections)}
			besideCeiling(b, &top, &server, connections, func() {})
		})
	}
}

// accessToken returns an access token from a refresh.
func accessToken(b *testing.B, base, refresh string) string {
	b.Helper()
	answer, err := http.PostForm(base+oauth.PathToken, url.Values{
		"grant_type": {"refresh_token"}, "client_id": {"bench-app"}, "client_secret": {"bench-secret"}, "refresh_token": {refresh},
	})
	require.NoError(b, err)
	defer answer.Body.Close()
	var t struct {
		Access string `json:"access_token"`
	}
	require.NoError(b, json.NewDecoder(answer.Body).Decode(&t))
	require.NotEmpty(b, t.Access)
	return t.Access
}

// setBare makes a ceiling answer with the response of a URL.
func setBare(b *testing.B, ceiling, from, token string) {
	b.Helper()
	q, err := http.NewRequest(http.MethodGet, from, nil)
	require.NoError(b, err)
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(q)
	require.NoError(b, err)
	defer answer.Body.Close()
	require.Equal(b, http.StatusOK, answer.StatusCode)
	response := bareResponse{Header: answer.Header}
	response.Body, err = io.ReadAll(answer.Body)
	require.NoError(b, err)
	response.Header.Del("Date") // net/http adds it
	text, err := json.Marshal(response)
	require.NoError(b, err)
	put, err := http.NewRequest(http.MethodPut, "http://"+ceiling+"/bare", bytes.NewReader(text))
	require.NoError(b, err)
	done, err := http.DefaultClient.Do(put)
	require.NoError(b, err)
	require.NoError(b, done.Body.Close())
	require.Equal(b, http.StatusOK, done.StatusCode)
}

// countsOf returns the counters of a ceiling.
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

// BenchmarkStartUp measures the time from exec to the line "ready" on an empty folder,
// and the memory of the idle process.
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

// benchGrants returns MINTMARK_TEST_BENCH_GRANTS, by default a million.
func benchGrants(b *testing.B) int {
	text := os.Getenv("MINTMARK_TEST_BENCH_GRANTS")
	if text == "" {
		return 1_000_000
	}
	grants, err := strconv.Atoi(text)
	require.NoError(b, err)
	return grants
}

// BenchmarkMillion measures the cost of a large state: the heap of a live grant, a
// restart from the snapshot, refreshes meanwhile, and a restart after a kill under full
// load.
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

		// Apply load until it fails, and kill the process in the middle.
		broken := make(chan struct{})
		go func() {
			defer close(broken)
			_, _ = tryLoad([]string{hostOf(r.BaseURL)}, tokens, connections, 40*time.Second, 0)
		}()
		time.Sleep(35 * time.Second) // long enough for at least one snapshot under load
		p.Kill()
		<-broken
		p, _ = startDev(b, filepath.Join(dir, "data"), fixtures)
		b.ReportMetric(p.TimeToFirstLine().Seconds(), "s-restart-after-kill")
		p.Kill()
	}
}
