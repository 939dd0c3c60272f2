package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/bench"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/keys"
)

// killRounds is how often the server is killed under load.
const killRounds = 100

// TestKillUnderLoad kills the server with SIGKILL under load, restarts it, and finds
// everything that it had acknowledged. A round without a request in flight at the kill
// proves nothing and is repeated. The program is built without the race detector, which
// would make each start several times slower.
func TestKillUnderLoad(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "mintmark")
	require.NoError(t, testkit.GoBuild(".", "-o", binary, "."))
	const clients = 8
	fixtures, seeded, _ := seed(t, dir, clients)
	data := filepath.Join(dir, "data")
	latest := make([]string, clients) // the last token that each client received
	copy(latest, seeded)

	refreshes, voids := int64(0), 0
	for round := 0; round < killRounds; {
		p, r := startDevAs(t, exec.Command(binary), data, fixtures)
		address := hostOf(r.BaseURL)

		// Whatever request was in flight at the kill, the last acknowledged token is
		// accepted: it is either due, or its successor's response was lost.
		for n := range latest {
			w, err := dial(address)
			require.NoError(t, err)
			status, body, err := w.post("/v2/auth/oauth2/token", refreshForm(latest[n]))
			require.NoError(t, err)
			require.Equal(t, 200, status, "round %d, client %d: %s", round, n, body)
			latest[n], _ = bench.RefreshTokenIn(body)
			require.NoError(t, w.conn.Close())
		}

		var inFlight, done atomic.Int64
		var wait sync.WaitGroup
		for n := range latest {
			wait.Go(func() {
				w, err := dial(address)
				if err != nil {
					return
				}
				defer w.conn.Close()
				for {
					inFlight.Add(1)
					status, body, err := w.post("/v2/auth/oauth2/token", refreshForm(latest[n]))
					if err != nil || status != 200 {
						return // killed: a response that was not complete is not acknowledged
					}
					inFlight.Add(-1)
					latest[n], _ = bench.RefreshTokenIn(body)
					done.Add(1)
				}
			})
		}
		enough := int64(clients * (1 + rand.IntN(20)))
		for done.Load() < enough {
			time.Sleep(100 * time.Microsecond) // wait until the load has completed that many refreshes
		}
		bit := inFlight.Load() > 0
		p.Kill()
		wait.Wait()
		refreshes += done.Load()
		if !bit {
			voids++
			require.Less(t, voids, killRounds, "too many rounds without a request in flight")
			continue
		}
		round++
	}
	t.Logf("%d kills, %d refreshes acknowledged, %d void rounds, nothing lost", killRounds, refreshes, voids)
}

func refreshForm(token string) string {
	return "grant_type=refresh_token&client_id=bench-app&client_secret=bench-secret&refresh_token=" + token
}

// TestNothingSecretIsWritten runs the whole flow, with failures, at the most verbose log
// level. It then searches the log and every file of the data folder for every secret.
func TestNothingSecretIsWritten(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "fixtures.yaml")
	require.NoError(t, os.WriteFile(file, []byte(fixtureText), 0o600))
	var log testkit.Buffer
	o := dev.Options{Listen: "127.0.0.1:0", OpsListen: "127.0.0.1:0", DataDir: filepath.Join(dir, "data"), Fixtures: file, Verbose: true}
	c, err := o.Config(&log)
	require.NoError(t, err)
	s, err := server.Start(t.Context(), c)
	require.NoError(t, err)
	ts := &testServer{t: t, s: s, dir: dir, Base: s.Settings.BaseURL, App: s.Settings.AppURL}
	t.Cleanup(ts.close)

	secrets := map[string]string{
		"a client secret": "cal-app-secret", "a second secret": generatedSecret, "a revoked secret": "old-secret",
		"a password": "correct horse", "a wrong secret": "wrong-secret-marker", "a wrong password": "wrong-password-marker",
		"a code verifier": verifierText, "a garbage code": "garbage-code-marker", "a garbage token": "garbage-token-marker",
	}
	b := ts.browser()
	in := b.get(good("cal-app"))
	b.submit(in, "password", "username", "alice", "password", "wrong-password-marker")
	to := b.allow("alice", good("cal-app", "code_challenge", challenge(verifierText)))
	app, err := url.Parse(ts.App)
	require.NoError(t, err)
	for _, cookie := range b.client.Jar.Cookies(app) {
		id, _, _ := strings.Cut(cookie.Value, ".")
		secrets["the cookie "+cookie.Name] = id
	}
	code := to.Query().Get("code")
	secrets["a code"] = code
	ts.exchange("cal-app", "garbage-code-marker")
	ts.form("grant_type", "authorization_code", "code", code, "redirect_uri", callback, "client_id", "cal-app", "client_secret", "wrong-secret-marker")
	first := tokensOf(t, ts.exchange("cal-app", code, "code_verifier", verifierText))
	ts.refresh("cal-app", "garbage-token-marker")
	second := tokensOf(t, ts.refresh("cal-app", first.Refresh))
	ts.me(second.Access)
	ts.me("garbage-token-marker")
	third := tokensOf(t, ts.refresh("cal-app", second.Refresh))
	ts.refresh("cal-app", first.Refresh) // reuse
	ts.request("GET", "/v2/me?access_token="+third.Access, "")
	for n, token := range []tokens{first, second, third} {
		secrets[fmt.Sprint("access token ", n)] = strings.Split(token.Access, ".")[2]
		secrets[fmt.Sprint("refresh token ", n)] = token.Refresh
	}
	require.NoError(t, ts.s.Node.Snapshot())

	// The private keys in plain form.
	key, err := keys.ReadClusterKey(filepath.Join(o.DataDir, "cluster.key"))
	require.NoError(t, err)
	for row := range ts.s.Issuer.View().Keys() {
		plain, err := key.Open("mintmark/"+string(row.Purpose)+"/"+row.ID, row.Sealed)
		require.NoError(t, err)
		secrets["the private part of key "+row.ID] = string(plain)
	}
	text, err := os.ReadFile(filepath.Join(o.DataDir, "cluster.key"))
	require.NoError(t, err)
	secrets["the cluster key"] = strings.TrimSpace(string(text))
	ts.close()

	scan := func(where string, content []byte) {
		for what, secret := range secrets {
			require.NotEmpty(t, secret, what)
			require.False(t, bytes.Contains(content, []byte(secret)), "%s is in %s", what, where)
			sum := sha256.Sum256([]byte(secret))
			require.False(t, bytes.Contains(content, sum[:]) && !strings.Contains(what, "cookie"), "the bare digest of %s is in %s", what, where)
		}
	}
	scan("the log lines", log.Bytes())
	files, control := 0, 0
	require.NoError(t, filepath.WalkDir(filepath.Join(o.DataDir, "raft"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		scan(path, content)
		files++
		if bytes.Contains(content, []byte("Calendar App")) {
			control++
		}
		return nil
	}))
	require.Greater(t, files, 2, "log, stable store and snapshot")
	require.GreaterOrEqual(t, control, 2, "control: the scan finds public text in log and snapshot")
}

// TestStopAnswersWhatRuns: a stop by an operator loses no acknowledged request, and the
// data opens again.
func TestStopAnswersWhatRuns(t *testing.T) {
	dir := t.TempDir()
	fixtures, seeded, _ := seed(t, dir, 1)
	p, r := startDev(t, filepath.Join(dir, "data"), fixtures)
	w, err := dial(hostOf(r.BaseURL))
	require.NoError(t, err)
	status, body, err := w.post("/v2/auth/oauth2/token", refreshForm(seeded[0]))
	require.NoError(t, err)
	require.Equal(t, 200, status)
	token, _ := bench.RefreshTokenIn(body)
	require.NoError(t, p.Stop(syscall.SIGINT, testkit.Limit))

	_, r = startDev(t, filepath.Join(dir, "data"), fixtures)
	w, err = dial(hostOf(r.BaseURL))
	require.NoError(t, err)
	status, body, err = w.post("/v2/auth/oauth2/token", refreshForm(token))
	require.NoError(t, err)
	require.Equal(t, 200, status, string(body))
}
