package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
)

// certificatePollInterval is how often a running node checks whether the files have
// changed.
const certificatePollInterval = 2 * time.Second

// maxCertificateFile is the longest file of a certificate chain or a key, in bytes.
const maxCertificateFile = 1 << 20

// A Certificate is the TLS certificate of a listener, from two files that are read again
// when they change.
type Certificate struct {
	listener    string // key of the setting with its address, for the log and the metrics
	files       config.TLSFiles
	credentials string // folder of a service manager's credentials, or ""
	watched     watchedFiles
	now         func() time.Time
	current     atomic.Pointer[keyPair]
}

type keyPair struct {
	tls.Certificate
	begins, expires time.Time // of the certificate of the chain that expires first
	warned          int       // how many of the thresholds of warnAfter have passed; owned by watchCertificates
}

// OpenCertificate reads the files. It returns nil if there are none. listener is the key
// of the setting with the listener's address.
func OpenCertificate(listener string, files config.TLSFiles, getenv func(string) string) (*Certificate, error) {
	if files == (config.TLSFiles{}) {
		return nil, nil
	}
	c := &Certificate{listener: listener, files: files, credentials: getenv("CREDENTIALS_DIRECTORY"), now: time.Now}
	c.watched = watchedFiles{paths: []string{files.Cert, files.Key}, read: c.read}
	if err := c.watched.open(); err != nil {
		return nil, err
	}
	return c, nil
}

// errCertificateExpired reports a new certificate that clients would refuse, while they
// accept the present one.
var errCertificateExpired = errors.New("the certificate has expired, and the one in use has not")

// read is watchedFiles.read.
func (c *Certificate) read() ([]os.FileInfo, error) {
	cert, certInfo, err := readPEM(c.files.Cert, nil)
	if err != nil {
		return nil, fmt.Errorf("read TLS certificate: %w", err)
	}
	key, keyInfo, err := readPEM(c.files.Key, func(f *os.File) error {
		return config.RequirePrivate(f, "TLS private key", c.credentials)
	})
	if err != nil {
		return nil, fmt.Errorf("read TLS private key: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("parse TLS certificate %s and private key %s: %w", c.files.Cert, c.files.Key, err)
	}
	next := keyPair{Certificate: pair}
	for _, der := range pair.Certificate {
		one, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, fmt.Errorf("parse TLS certificate %s: %w", c.files.Cert, err)
		}
		if next.expires.IsZero() || one.NotAfter.Before(next.expires) {
			next.begins, next.expires = one.NotBefore, one.NotAfter
		}
	}
	if now, used := c.now(), c.current.Load(); used != nil && !next.expires.After(now) && used.expires.After(now) {
		return nil, fmt.Errorf("use TLS certificate %s: %w", c.files.Cert, errCertificateExpired)
	}
	c.current.Store(&next)
	return []os.FileInfo{certInfo, keyInfo}, nil
}

// readPEM reads a file that passes check. The info is older than the content, so a later
// write is noticed.
func readPEM(path string, check func(*os.File) error) ([]byte, os.FileInfo, error) {
	f, err := config.OpenRegular(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil && check != nil {
		err = check(f)
	}
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxCertificateFile))
	return text, info, err
}

// reload reads the files again if one of them has changed: see watchedFiles.
func (c *Certificate) reload(log *slog.Logger, settled bool) {
	switch reloaded, err := c.watched.reload(settled); {
	case err != nil:
		log.Error("TLS certificate not reloaded", "listener", c.listener, "error", err)
	case reloaded:
		log.Info("TLS certificate reloaded", "listener", c.listener, "file", c.files.Cert, "expires", c.expires().UTC().Format(time.RFC3339))
	}
}

// expires returns when the certificate, or another one of its chain, expires.
func (c *Certificate) expires() time.Time { return c.current.Load().expires }

// warnAfter are the remaining times at which a warning is logged, with the share of the
// certificate's lifetime if that is shorter: a certificate of 90 days is renewed when it
// has 30 left, one of six days cannot be.
var warnAfter = []struct {
	left  time.Duration
	share time.Duration // divisor of the lifetime
}{{30 * 24 * time.Hour, 3}, {7 * 24 * time.Hour, 12}, {0, 1 << 40}}

// warn logs a warning when the certificate will expire soon or has expired, once for each
// of warnAfter.
func (c *Certificate) warn(now time.Time, log *slog.Logger) {
	pair := c.current.Load()
	passed := 0
	for _, w := range warnAfter {
		if pair.expires.Sub(now) <= min(w.left, pair.expires.Sub(pair.begins)/w.share) {
			passed++
		}
	}
	if passed <= pair.warned {
		return
	}
	pair.warned = passed
	attrs := []any{"listener", c.listener, "file", c.files.Cert, "expires", pair.expires.UTC().Format(time.RFC3339)}
	if passed == len(warnAfter) {
		log.Error("TLS certificate expired", attrs...)
		return
	}
	log.Warn("TLS certificate not renewed yet", attrs...)
}

// config returns the configuration of the listener: TLS 1.2 and 1.3 with the defaults of
// crypto/tls. A client that asks for another name gets the certificate too, and decides.
func (c *Certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &c.current.Load().Certificate, nil },
	}
}

// certificates returns those that the node has.
func (c *Config) certificates() (all []*Certificate) {
	for _, one := range []*Certificate{c.TLS, c.OpsTLS} {
		if one != nil {
			all = append(all, one)
		}
	}
	if c.Operators != nil {
		all = append(all, c.Operators.TLS)
	}
	return all
}

// tlsExpires is cluster.Config.TLSExpires.
func (s *Server) tlsExpires() (at time.Time) {
	if s.config.TLS != nil {
		at = s.config.TLS.expires()
	}
	return at
}

// watchCertificates reloads the certificates when their files change, and warns before
// they expire, until the server stops.
func (s *Server) watchCertificates() {
	all := s.config.certificates()
	if len(all) == 0 {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stopCertificates = stop
	s.certificateTasks.Go(func() {
		for again := time.NewTicker(certificatePollInterval); ; {
			for _, c := range all {
				c.warn(s.config.Now(), s.config.Log)
			}
			select {
			case <-again.C:
				for _, c := range all {
					c.reload(s.config.Log, false)
				}
				s.config.Operators.reloadAuthority(s.config.Log, false)
			case <-ctx.Done():
				again.Stop()
				return
			}
		}
	})
}
