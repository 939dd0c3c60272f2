package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

const secureHost = "auth.example"

// writePair writes a self-signed certificate for auth.example and its key into a folder.
func writePair(t testing.TB, dir string, serial int64, expires time.Time) config.TLSFiles {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: secureHost}, DNSNames: []string{secureHost},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: expires, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	f := config.TLSFiles{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	require.NoError(t, os.WriteFile(f.Cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	require.NoError(t, os.WriteFile(f.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return f
}

// poolOf returns a pool with the certificate in a file.
func poolOf(t testing.TB, file string) *x509.CertPool {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(text))
	return pool
}

// startSecure starts a server with TLS on both listeners, in a cluster with https
// addresses. It also returns the address of the public listener.
func startSecure(t *testing.T, files config.TLSFiles, change ...func(*server.Config)) (ts *testServer, address string) {
	t.Helper()
	ts = startTestServer(t, t.TempDir(), fixtureText, func(c *server.Config) {
		var err error
		c.TLS, err = server.OpenCertificate(config.KeyListen, files, os.Getenv)
		require.NoError(t, err)
		c.OpsTLS, err = server.OpenCertificate(config.KeyOpsListen, files, os.Getenv)
		require.NoError(t, err)
		complete := c.Settings
		c.Settings = func(current ledger.Settings, listening string) (ledger.Settings, error) {
			address = listening
			wanted, err := complete(current, listening)
			wanted.BaseURL, wanted.AppURL, wanted.Audience = "https://"+secureHost, "https://"+secureHost, "https://"+secureHost
			return wanted, err
		}
		for _, f := range change {
			f(c)
		}
	})
	return ts, address
}

// secureClient returns a client that connects to address under the name of the
// certificate.
func secureClient(address string, conf *tls.Config, http2 bool) *http.Client {
	conf.ServerName = secureHost
	c := noRedirects(nil)
	c.Transport = testkit.Verified(&http.Transport{
		TLSClientConfig: conf, ForceAttemptHTTP2: http2,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	})
	return c
}

// TestTLS: the listeners accept TLS 1.2 and 1.3 with HTTP/1.1 and HTTP/2.
func TestTLS(t *testing.T) {
	t.Parallel()
	files := writePair(t, t.TempDir(), 1, time.Now().Add(90*24*time.Hour))
	ts, address := startSecure(t, files)
	pool := poolOf(t, files.Cert)
	get := func(c *http.Client, url string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		require.NoError(t, err)
		response, err := c.Do(r)
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			require.NoError(t, response.Body.Close())
		}
		return response, err
	}
	for _, http2 := range []bool{false, true} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			for url, at := range map[string]string{"https://" + secureHost + oauth.PathJWKS: address, "https://" + secureHost + "/readyz": ts.s.OpsAddr.String()} {
				r, err := get(secureClient(at, &tls.Config{RootCAs: pool, MinVersion: version, MaxVersion: version}, http2), url)
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, r.StatusCode)
				require.Equal(t, http2, r.ProtoMajor == 2, r.Proto)
				require.Equal(t, version, r.TLS.Version)
			}
		}
	}
	_, err := get(secureClient(address, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, false), "https://"+secureHost+"/")
	require.ErrorContains(t, err, "protocol version")

	// A client that asks for another name gets the same certificate and can reject it.
	other, err := tls.Dial("tcp", address, &tls.Config{ServerName: "other.example", InsecureSkipVerify: true})
	require.NoError(t, err)
	require.Equal(t, []string{secureHost}, other.ConnectionState().PeerCertificates[0].DNSNames)
	require.NoError(t, other.Close())

	require.True(t, strings.HasPrefix(ts.s.OpsURL(), "https://"))
	require.Contains(t, ts.scrape(), fmt.Sprintf("mintmark_tls_certificate_expiry_timestamp_seconds{listener=\"listen\"} %g\n", float64(certificateIn(t, files.Cert).NotAfter.Unix())))
	require.Contains(t, ts.scrape(), `mintmark_tls_certificate_expiry_timestamp_seconds{listener="ops-listen"}`)
}

func certificateIn(t testing.TB, file string) *x509.Certificate {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	block, _ := pem.Decode(text)
	c, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	return c
}

// TestPlainRequestsToTLS: a plain request for a page is redirected to the cluster's own
// address, never to another one. All other plain requests are refused without a redirect.
func TestPlainRequestsToTLS(t *testing.T) {
	t.Parallel()
	files := writePair(t, t.TempDir(), 1, time.Now().Add(90*24*time.Hour))
	_, address := startSecure(t, files)
	const app = "https://" + secureHost
	for text, location := range map[string]string{
		"GET / HTTP/1.1\r\nHost: x":                                  app + "/",
		"HEAD /account HTTP/1.1\r\nHost: x":                          app + "/account",
		"GET " + good("cal-app") + " HTTP/1.1\r\nHost: evil.example": app + good("cal-app"),
		"GET //evil.example/%2e%2e?a=b HTTP/1.1\r\nHost: x":          app + "//evil.example/%2e%2e?a=b",
		"GET http://evil.example HTTP/1.1\r\nHost: evil.example":     app + "/",
		"GET http://evil.example@x/a?https://b HTTP/1.1\r\nHost: x":  app + "/a?https://b",
		"GET /x HTTP/1.0": app + "/x",
		"GET " + oauth.PathMe + " HTTP/1.1\r\nHost: x":                      "",
		"GET " + oauth.PathJWKS + " HTTP/1.1\r\nHost: x":                    "",
		"GET /v2%2fme HTTP/1.1\r\nHost: x":                                  "",
		"POST /auth/sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: 0":       "",
		"OPTIONS * HTTP/1.1\r\nHost: x":                                     "",
		"PRI * HTTP/2.0\r\n\r\nSM":                                          "",
		"HELLO":                                                             "",
		"GET evil.example HTTP/1.1\r\nHost: x":                              "",
		"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 40e3): "",
	} {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = io.WriteString(c, text+"\r\n\r\n")
		require.NoError(t, err)
		method, _, _ := strings.Cut(text, " ")
		answer, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
		require.NoError(t, err, text)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err, text)
		require.Equal(t, location, answer.Header.Get("Location"), text)
		require.Equal(t, map[bool]int{true: http.StatusBadRequest, false: http.StatusMovedPermanently}[location == ""], answer.StatusCode, text)
		require.Empty(t, answer.Header.Get("Strict-Transport-Security"), "RFC 6797 §7.2")
		require.True(t, answer.Close)
		_, err = c.Read(make([]byte, 1))
		require.Error(t, err, "%s: %s", text, body)
		require.NoError(t, c.Close())
	}

	// The client receives the refusal of a POST with a secret although it is still
	// sending the body.
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer c.Close()
	_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n%s", oauth.PathToken, strings.Repeat("x", 30000))
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, answer.StatusCode)
	require.Empty(t, answer.Header.Get("Location"))
	_, err = io.WriteString(c, strings.Repeat("x", 30000))
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
}

// TestSlowHandshake: a connection that begins a handshake or a plain request and does not
// complete it is closed.
func TestSlowHandshake(t *testing.T) {
	t.Parallel()
	_, address := startSecure(t, writePair(t, t.TempDir(), 1, time.Now().Add(90*24*time.Hour)))
	for _, begin := range []string{"", "\x16\x03\x01", "GET / HTTP/1.1\r\n"} {
		t.Run(begin, func(t *testing.T) {
			t.Parallel()
			c, err := net.Dial("tcp", address)
			require.NoError(t, err)
			defer c.Close()
			_, err = io.WriteString(c, begin)
			require.NoError(t, err)
			require.NoError(t, c.SetReadDeadline(time.Now().Add(30*time.Second)))
			_, err = io.Copy(io.Discard, c)
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
		})
	}
}

// TestCertificateReload: under load a node takes over each new pair without a failed
// request. The files are replaced first by switching a symbolic link and then in place.
// For a broken pair it logs one error and keeps the old pair.
func TestCertificateReload(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	pair := func(serial int64) string {
		dir := filepath.Join(root, fmt.Sprint("pair-", serial))
		require.NoError(t, os.Mkdir(dir, 0o700))
		writePair(t, dir, serial, time.Now().Add(90*24*time.Hour))
		return dir
	}
	// The kubelet's layout of a mounted secret: tls.crt -> ..data/tls.crt, ..data -> a
	// folder.
	mount := filepath.Join(root, "mount")
	require.NoError(t, os.Mkdir(mount, 0o700))
	swap := func(to string) {
		link := filepath.Join(mount, "..new")
		require.NoError(t, os.Symlink(to, link))
		require.NoError(t, os.Rename(link, filepath.Join(mount, "..data")))
	}
	swap(pair(1))
	for _, name := range []string{"tls.crt", "tls.key"} {
		require.NoError(t, os.Symlink(filepath.Join("..data", name), filepath.Join(mount, name)))
	}
	var log testkit.Buffer
	files := config.TLSFiles{Cert: filepath.Join(mount, "tls.crt"), Key: filepath.Join(mount, "tls.key")}
	_, address := startSecure(t, files, func(c *server.Config) {
		c.OpsTLS, c.Log = nil, slog.New(slog.NewTextHandler(&log, nil))
	})

	var serial, failed atomic.Int64
	var clients sync.WaitGroup
	stop := make(chan struct{})
	for i := range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				c := secureClient(address, &tls.Config{InsecureSkipVerify: true}, i%2 == 0)
				for range 5 { // several requests on one connection
					r, err := c.Get("https://" + secureHost + oauth.PathJWKS)
					if err != nil || r.StatusCode != http.StatusOK {
						failed.Add(1)
						t.Errorf("request during a reload failed: %v %v", r, err)
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					_ = r.Body.Close()
					if i == 0 {
						serial.Store(r.TLS.PeerCertificates[0].SerialNumber.Int64())
					}
				}
				c.CloseIdleConnections()
			}
		})
	}
	serves := func(n int64) {
		t.Helper()
		require.Eventually(t, func() bool { return serial.Load() == n }, 20*time.Second, 10*time.Millisecond)
	}
	serves(1)
	swap(pair(2))
	serves(2)

	broken := pair(3)
	require.NoError(t, os.WriteFile(filepath.Join(broken, "tls.crt"), []byte("no certificate"), 0o600))
	swap(broken)
	logged := func() int { return strings.Count(log.String(), "TLS certificate not reloaded") }
	require.Eventually(t, func() bool { return logged() == 1 }, 20*time.Second, 10*time.Millisecond)
	exposed := pair(4)
	require.NoError(t, os.Chmod(filepath.Join(exposed, "tls.key"), 0o644))
	swap(exposed)
	require.Eventually(t, func() bool { return logged() == 2 }, 20*time.Second, 10*time.Millisecond)
	require.Contains(t, log.String(), config.ErrExposed.Error())
	require.EqualValues(t, 2, serial.Load())

	expired := writePair(t, t.TempDir(), 7, time.Now().Add(-time.Minute))
	swap(filepath.Dir(expired.Cert))
	require.Eventually(t, func() bool { return logged() == 3 }, 20*time.Second, 10*time.Millisecond)
	require.Contains(t, log.String(), "the certificate has expired, and the one in use has not")
	require.EqualValues(t, 2, serial.Load())

	// The files are written in place, with a pause between them.
	swap(pair(5))
	serves(5)
	sixth := pair(6)
	for _, name := range []string{"tls.crt", "tls.key"} {
		text, err := os.ReadFile(filepath.Join(sixth, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(mount, name), text, 0o600))
	}
	serves(6)
	close(stop)
	clients.Wait()
	require.Zero(t, failed.Load())
	require.Equal(t, 3, logged(), log.String())
}

// TestOpenCertificate: a node does not start with an unusable pair.
func TestOpenCertificate(t *testing.T) {
	good := writePair(t, t.TempDir(), 1, time.Now().Add(time.Hour))
	other := writePair(t, t.TempDir(), 2, time.Now().Add(time.Hour))
	open := func(f config.TLSFiles) error {
		_, err := server.OpenCertificate(config.KeyListen, f, os.Getenv)
		return err
	}
	require.NoError(t, open(good))
	require.NoError(t, open(config.TLSFiles{}))
	require.ErrorContains(t, open(config.TLSFiles{Cert: good.Cert, Key: other.Key}), "private key")
	require.ErrorContains(t, open(config.TLSFiles{Cert: good.Key, Key: good.Key}), "parse TLS certificate")
	require.ErrorIs(t, open(config.TLSFiles{Cert: good.Cert + "x", Key: good.Key}), os.ErrNotExist)
	require.NoError(t, os.Chmod(good.Key, 0o640))
	require.ErrorIs(t, open(good), config.ErrExposed)
}

// TestClientAddressUnderTLS: the client address comes from a trusted proxy that connects
// with TLS.
func TestClientAddressUnderTLS(t *testing.T) {
	t.Parallel()
	files := writePair(t, t.TempDir(), 1, time.Now().Add(90*24*time.Hour))
	var log testkit.Buffer
	_, address := startSecure(t, files, func(c *server.Config) {
		var err error
		c.Proxies, err = proxy.Parse([]string{"127.0.0.1"})
		require.NoError(t, err)
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+secureHost+oauth.PathToken, strings.NewReader(
		encode("grant_type", "refresh_token", "refresh_token", "x", "client_id", "cal-app", "client_secret", "wrong")))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Forwarded-For", "198.51.100.7")
	require.Equal(t, http.StatusUnauthorized, do(t, secureClient(address, &tls.Config{RootCAs: poolOf(t, files.Cert)}, true), r).Status)
	require.Contains(t, log.String(), "security.address=198.51.100.7")
}
