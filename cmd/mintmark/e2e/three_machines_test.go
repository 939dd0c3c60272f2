package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// domain is the public name of the nodes in install.md.
const domain = "auth.example.com"

// An operator follows the documents on one machine: every command is a line of one of them.
type operator struct {
	t           testing.TB
	dir         string   // where the commands run
	environment []string // variables that the documents export
}

// guide reads a document.
func guide(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, docs, name))
	require.NoError(t, err)
	return string(text)
}

// run runs lines of a document with other values in the place of the document's: pairs of
// old and new. It returns what they print.
func (o *operator) run(document, lines string, values ...string) string {
	o.t.Helper()
	require.Contains(o.t, guide(o.t, document), lines, document)
	ctx, cancel := context.WithTimeout(o.t.Context(), testkit.Limit)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", strings.NewReplacer(values...).Replace(lines))
	// The time limit ends the programs that bash has started, too.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.Dir, c.Env = o.dir, slices.Concat(testkit.CleanEnv(), []string{"PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH")}, o.environment)
	var remarks bytes.Buffer
	c.Stderr = &remarks
	out, err := c.Output()
	require.NoError(o.t, err, "%s: %s\nprinted:\n%s%s", document, lines, out, &remarks)
	return string(out)
}

func (o *operator) write(name, text string) {
	o.t.Helper()
	require.NoError(o.t, os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o600))
}

// here documents of a block in a document.
var hereDocument = regexp.MustCompile(`(?s)<<'?(EOF|END)'?\n(.*?)\n(?:EOF|END)\n`)

// A site is the machines of one operator, who is on the first of them.
type site struct {
	operator
	authority *x509.CertPool
	operators string // address of the operators' listener of n1
	started   []*testkit.Node
}

// start starts a machine with the file that install.md shows for the second node of three,
// and the lines for the operators' listener of remote.md. A machine without a token has no
// cluster to join.
func (s *site) start(name, token string) *testkit.Node {
	s.t.Helper()
	n := testkit.NewNode(s.t, s.dir, name, testkit.Program(binary, testkit.Limit))
	_, block, _ := strings.Cut(guide(s.t, "install.md"), "cat > .scratch/direct.yaml ")
	settings := hereDocument.FindStringSubmatch(block)
	require.NotNil(s.t, settings)
	text := settings[2] + "\n"
	etc := filepath.Join(s.dir, name+".etc")
	require.NoError(s.t, os.Mkdir(etc, 0o700))
	for name, from := range map[string]string{"tls.crt": "server.pem", "tls.key": "server.key"} {
		pair, err := os.ReadFile(filepath.Join(s.dir, from))
		require.NoError(s.t, err)
		require.NoError(s.t, os.WriteFile(filepath.Join(etc, name), pair, 0o600))
	}
	if token == "" {
		text = regexp.MustCompile(`(?m)^(join|token-file): .*\n`).ReplaceAllString(text, "")
	} else {
		require.NoError(s.t, os.WriteFile(filepath.Join(etc, "token"), []byte(token), 0o600))
		text = strings.ReplaceAll(text, "10.0.0.1:8300", s.started[0].Raft)
	}
	operators := clustertest.Address(s.t)
	if s.operators == "" {
		s.operators = operators
	}
	text += "operators-listen: " + operators + "\noperators-tls-cert-file: /etc/mintmark/tls.crt\noperators-tls-key-file: /etc/mintmark/tls.key\n"
	text = strings.NewReplacer("name: n2", "name: "+name, "/var/lib/mintmark", n.Dir, "/etc/mintmark", etc,
		"/var/backups/mintmark", filepath.Join(s.dir, name+".backups"),
		"10.0.0.2:443", n.Public, "10.0.0.2:8081", n.Ops, "10.0.0.2:8300", n.Raft).Replace(text)
	require.NotContains(s.t, text, "10.0.0.")
	s.write(name+".yaml", text)
	require.NoError(s.t, n.Launch(exec.Command(binary, "serve", "--config", filepath.Join(s.dir, name+".yaml"))))
	s.started = append(s.started, n)
	return n
}

// waits until a node without a cluster can be asked.
func (s *site) waits(n *testkit.Node) {
	s.t.Helper()
	require.True(s.t, testkit.Until(testkit.Limit, func() bool {
		return strings.Contains(n.Process().LogText(), "belongs to no cluster yet")
	}), n.Process().LogText())
}

// client sends requests for any host to the first of the addresses that takes the connection,
// as clients do with the A records of a name, and verifies the certificate for the domain.
func (s *site) client(addresses ...string) *http.Client {
	return &http.Client{Timeout: 20 * time.Second, Transport: testkit.Verified(&http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: s.authority, ServerName: domain},
		DialContext: func(ctx context.Context, network, _ string) (c net.Conn, err error) {
			for _, address := range addresses {
				if c, err = (&net.Dialer{}).DialContext(ctx, network, address); err == nil {
					return c, nil
				}
			}
			return nil, err
		},
	})}
}

// scrape returns the samples of a node's metrics as Prometheus stores them, and its up.
func (s *site) scrape(n *testkit.Node) map[string]float64 {
	s.t.Helper()
	labels := fmt.Sprintf("instance=%q,job=%q", n.Ops, "mintmark")
	up := "up{" + labels + "}"
	r, err := s.client(n.Ops).Get("https://" + domain + "/metrics")
	if err != nil {
		return map[string]float64{up: 0}
	}
	defer r.Body.Close()
	require.Equal(s.t, http.StatusOK, r.StatusCode)
	samples := map[string]float64{up: 1}
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, "mintmark_") {
			continue
		}
		end := strings.LastIndexByte(line, ' ')
		value, err := strconv.ParseFloat(line[end+1:], 64)
		require.NoError(s.t, err, line)
		name, others, _ := strings.Cut(strings.TrimSuffix(line[:end], "}"), "{")
		samples[name+"{"+strings.TrimSuffix(labels+","+others, ",")+"}"] = value
	}
	require.NoError(s.t, lines.Err())
	return samples
}

// scrapeAll is a scrape of all targets of Prometheus.
func (s *site) scrapeAll(nodes ...*testkit.Node) map[string]float64 {
	s.t.Helper()
	all := map[string]float64{}
	for _, n := range nodes {
		for series, value := range s.scrape(n) {
			all[series] = value
		}
	}
	return all
}

// alerts are those of the shipped rules that are about a node that does not answer.
var alerts = []string{"MintmarkOutage", "MintmarkNodeDown", "MintmarkNotReady", "MintmarkNoLeader", "MintmarkMemberUnreachable"}

// requireAlerts evaluates the rules by promtool. The samples of each scrape are those of five
// minutes, one scrape after the other; at the end of its time the firing alerts are those that
// are wanted: for each name the instances.
func (s *site) requireAlerts(rules string, scrapes []map[string]float64, wanted []map[string][]string) {
	s.t.Helper()
	const each = 20 // samples: five minutes of one each 15 s
	type object = map[string]any
	all := map[string]string{}
	for i, samples := range scrapes {
		for series := range samples {
			if _, ok := all[series]; !ok {
				all[series] = strings.TrimSpace(strings.Repeat(fmt.Sprintf("_x%d ", each), i))
			}
		}
		for series, values := range all {
			if value, ok := samples[series]; ok {
				all[series] = fmt.Sprintf("%s %sx%d", values, strconv.FormatFloat(value, 'f', -1, 64), each-1)
			} else if i > 0 {
				all[series] = fmt.Sprintf("%s stale _x%d", values, each-1)
			}
		}
	}
	var input, expected []object
	for series, values := range all {
		input = append(input, object{"series": series, "values": strings.TrimSpace(values)})
	}
	for i, firing := range wanted {
		for _, name := range alerts {
			list := []object{}
			for _, instance := range firing[name] {
				list = append(list, object{"exp_labels": object{"severity": "page", "job": "mintmark", "instance": instance}})
			}
			expected = append(expected, object{"eval_time": fmt.Sprintf("%dm45s", 5*i+4), "alertname": name, "exp_alerts": list})
		}
	}
	text, err := json.Marshal(object{"rule_files": []string{"rules.yaml"}, "evaluation_interval": "15s", "tests": []object{
		{"interval": "15s", "input_series": input, "alert_rule_test": expected},
	}})
	require.NoError(s.t, err)
	s.write("alerts.yaml", string(text))
	// The texts of the alerts are not compared.
	s.write("rules.yaml", regexp.MustCompile(`(?m)^        annotations:\n(?:          .*\n)+`).ReplaceAllString(rules, ""))
	testkit.Output(s.t, s.dir, nil, installed(s.t, "promtool"), "test", "rules", "alerts.yaml")
}

// TestThreeMachines: with the documents alone an operator gets from three machines to a healthy
// cluster behind TLS, manages its clients from a laptop by a file, gets an alert when a node
// dies, replaces the node, finds out why a client was refused, and restores a backup.
func TestThreeMachines(t *testing.T) {
	s := &site{operator: operator{t: t, dir: t.TempDir()}}
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, ".scratch"), 0o700))
	s.environment = []string{"MINTMARK_DATA_DIR=" + filepath.Join(s.dir, "n1")}

	// Certificates of an authority of the operator's own, for the domain and for operators.
	_, authority, _ := strings.Cut(guide(t, "remote.md"), "( cd .scratch/remote\n")
	authority, _, _ = strings.Cut(authority, "openssl req -x509 -CA ca.pem -CAkey ca.key -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 7")
	s.run("remote.md", authority, "DNS:localhost", "DNS:"+domain+",DNS:localhost")
	pem, err := os.ReadFile(filepath.Join(s.dir, "ca.pem"))
	require.NoError(t, err)
	s.authority = x509.NewCertPool()
	require.True(t, s.authority.AppendCertsFromPEM(pem))

	// Three machines, joined by tokens.
	n1 := s.start("n1", "")
	s.waits(n1)
	s.run("packages.md", "mintmark cluster init --public-url https://auth.example.com")
	invite := func(name string) *testkit.Node {
		return s.start(name, s.run("install.md", "mintmark cluster invite --name n2", "n2", name))
	}
	n2, n3 := invite("n2"), invite("n3")
	const healthy = "until mintmark cluster status --voters 3 > .scratch/status; do sleep 1; done\ncat .scratch/status"
	require.Contains(t, s.run("operate.md", healthy), "3 of 3 nodes answer")
	s.run("install.md", "install -m 600 .scratch/one/cluster.key .scratch/copy-of-cluster.key", ".scratch/one", n1.Dir)
	s.run("operate.md", "mintmark user add ada --admin > .scratch/password.txt")
	password, err := os.ReadFile(filepath.Join(s.dir, ".scratch", "password.txt"))
	require.NoError(t, err)

	// A laptop, with a token and nothing of the cluster.
	s.run("remote.md", "mintmark operator token add --data-dir n1 ci --scope read,clients --lifetime 90d > ci.token")
	laptop := &operator{t: t, dir: t.TempDir(), environment: []string{
		"MINTMARK_SERVER=https://localhost:" + s.operators[strings.LastIndexByte(s.operators, ':')+1:],
		"MINTMARK_SERVER_CA_FILE=ca.pem", "MINTMARK_SERVER_TOKEN_FILE=ci.token",
	}}
	require.Contains(t, guide(t, "remote.md"), "export MINTMARK_SERVER=https://localhost:18483 MINTMARK_SERVER_CA_FILE=ca.pem MINTMARK_SERVER_TOKEN_FILE=ci.token\n")
	token, err := os.ReadFile(filepath.Join(s.dir, "ci.token"))
	require.NoError(t, err)
	laptop.write("ca.pem", string(pem))
	laptop.write("ci.token", string(token))
	sum := strings.TrimSpace(laptop.run("apply.md", "SUM=$(mintmark secret generate cal-app.secret)", "SUM=$(mintmark secret generate cal-app.secret)", "mintmark secret generate cal-app.secret"))
	secret, err := os.ReadFile(filepath.Join(laptop.dir, "cal-app.secret"))
	require.NoError(t, err)
	const entry = `clients:
  - id: cal-app
    name: Calendar App
    owner: ada
    redirect_uris: ["https://cal.example/callback"]
    scopes: [PROFILE_READ, BOOKING_READ]
    secret_sha256: $SUM
`
	require.Contains(t, guide(t, "apply.md"), entry)
	laptop.write("clients.yaml", strings.ReplaceAll(entry, "$SUM", sum))
	require.Contains(t, laptop.run("apply.md", "mintmark apply -f clients.yaml --dry-run || test $? = 6"), "1 to add, 0 to change, 0 to remove")
	laptop.run("apply.md", "mintmark apply -f clients.yaml --yes")
	require.Contains(t, laptop.run("apply.md", "mintmark apply -f clients.yaml --dry-run\n"), "0 to add, 0 to change, 0 to remove, 1 unchanged")

	// The client is in use at another node.
	const redirect = "https://cal.example/callback"
	ada := newPerson(t, "ada", strings.TrimSpace(string(password)))
	ada.client.Transport = s.client(n2.Public).Transport
	code := ada.decide(authorizeURL(&server{AppURL: "https://" + domain}, "cal-app", redirect, "scope", "BOOKING_READ"), "allow").Query().Get("code")
	app := testkit.App{ID: "cal-app", Secret: strings.TrimSpace(string(secret)), HTTP: s.client(n3.Public, n1.Public, n2.Public)}
	redeem := func(grant url.Values) testkit.Tokens {
		t.Helper()
		a, err := app.Redeem(t.Context(), "https://"+domain, grant)
		require.NoError(t, err)
		tokens, err := a.Tokens()
		require.NoError(t, err)
		return tokens
	}
	tokens := redeem(testkit.CodeGrant(code, redirect))

	// A node dies. The others know of it, the client goes on, and Prometheus alerts.
	s.run("monitor.md", "mintmark metrics rules > .scratch/mintmark.yaml")
	rules, err := os.ReadFile(filepath.Join(s.dir, ".scratch", "mintmark.yaml"))
	require.NoError(t, err)
	scrapes := []map[string]float64{s.scrapeAll(n1, n2, n3)}
	n3.Kill()
	reachable := func(n *testkit.Node) float64 {
		return s.scrape(n)[fmt.Sprintf("mintmark_cluster_members_reachable{instance=%q,job=%q}", n.Ops, "mintmark")]
	}
	require.True(t, testkit.Until(testkit.Limit, func() bool { return reachable(n1) == 2 && reachable(n2) == 2 }))
	require.True(t, testkit.Until(testkit.Limit, func() bool {
		a, err := app.Redeem(t.Context(), "https://"+domain, testkit.RefreshGrant(tokens.Refresh))
		if err != nil {
			return false
		}
		next, err := a.Tokens()
		if err == nil {
			tokens = next
		}
		return err == nil
	}))
	scrapes = append(scrapes, s.scrapeAll(n1, n2, n3))

	// It is replaced, and the alert ends when Prometheus has the new target.
	s.run("operate.md", "mintmark cluster replace n3 --name n4 > .scratch/n4.token")
	token, err = os.ReadFile(filepath.Join(s.dir, ".scratch", "n4.token"))
	require.NoError(t, err)
	n4 := s.start("n4", string(token))
	require.Contains(t, s.run("operate.md", healthy), "3 of 3 nodes answer")
	require.True(t, testkit.Until(testkit.Limit, func() bool { return reachable(n1) == 3 && reachable(n2) == 3 && reachable(n4) == 3 }))
	scrapes = append(scrapes, s.scrapeAll(n1, n2, n4))
	s.requireAlerts(string(rules), scrapes, []map[string][]string{
		{}, {"MintmarkNodeDown": {n3.Ops}, "MintmarkMemberUnreachable": {n1.Ops, n2.Ops}}, {},
	})

	// An application is refused, and the laptop finds out why.
	wrong := testkit.App{ID: app.ID, Secret: app.Secret + "x", HTTP: s.client(n4.Public)}
	refused, err := wrong.Redeem(t.Context(), "https://"+domain, testkit.RefreshGrant(tokens.Refresh))
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, refused.Status)
	cause := laptop.run("operate.md", "mintmark explain ERROR_ID", "ERROR_ID", refused.JSON(t)["error_id"].(string))
	require.Contains(t, cause, "cal-app")
	require.Contains(t, cause, "secret")

	// All nodes are lost. A backup and the journals are elsewhere; the cluster also makes
	// backups by itself.
	require.True(t, testkit.Until(testkit.Limit, func() bool {
		made, err := filepath.Glob(filepath.Join(s.dir, "n?.backups", "mintmark-n?-*.backup"))
		return err == nil && len(made) > 0
	}))
	s.run("backup.md", "mintmark cluster backup save .scratch/backup\nmintmark cluster backup inspect .scratch/backup\n")
	s.run("backup.md", "mintmark cluster backup journal .scratch/journal")
	for _, n := range []*testkit.Node{n1, n2, n4} {
		n.Kill()
		require.NoError(t, os.RemoveAll(n.Dir))
	}
	r1 := s.start("r1", "")
	s.waits(r1)
	s.environment = []string{"MINTMARK_DATA_DIR=" + r1.Dir}
	s.run("disaster.md", "install -m 600 .scratch/copy-of-cluster.key-2 .scratch/r1/cluster.key", "copy-of-cluster.key-2", "copy-of-cluster.key", ".scratch/r1", r1.Dir)
	s.run("disaster.md", "mintmark cluster backup restore .scratch/backup --journal .scratch/journal --dry-run")
	s.run("disaster.md", "mintmark cluster backup restore .scratch/backup --journal .scratch/journal\nmintmark cluster status --voters 1\n")
	app.HTTP = s.client(r1.Public)
	redeem(testkit.RefreshGrant(tokens.Refresh))
}
