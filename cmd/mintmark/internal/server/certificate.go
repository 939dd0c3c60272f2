package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
)

// certificatePollInterval is how often a running node checks whether the files have
// changed. Polling also finds a mounted secret that is replaced by a symbolic link to
// another folder, which a watch of the file does not.
const certificatePollInterval = 2 * time.Second

// maxCertificateFile is the longest file of a certificate chain or a key, in bytes.
const maxCertificateFile = 1 << 20

// A Certificate is the TLS certificate of a listener, from two files that are read again
// when they change.
type Certificate struct {
	listener    string // key of the setting with its address, for the log and the metrics
	files       config.TLSFiles
	credentials string // folder of a service manager's credentials, or ""
	current     atomic.Pointer[keyPair]

	mu      sync.Mutex     // guards the fields below
	read    [2]os.FileInfo // of the files that were read last; nil after an error
	failure string         // the last error; "" after a success
	logged  bool           // failure was logged
	warned  int            // how many of the thresholds of warnAfter the present pair has passed
}

type keyPair struct {
	tls.Certificate
	begins, expires time.Time // of the certificate of the chain that expires first
}

// OpenCertificate reads the files. It returns nil if there are none. listener is the key
// of the setting with the listener's address.
func OpenCertificate(listener string, files config.TLSFiles, getenv func(string) string) (*Certificate, error) {
	if files == (config.TLSFiles{}) {
		return nil, nil
	}
	c := &Certificate{listener: listener, files: files, credentials: getenv("CREDENTIALS_DIRECTORY")}
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// load reads the files. After an error the previous pair stays.
func (c *Certificate) load() error {
	c.read = [2]os.FileInfo{}
	cert, certInfo, err := readPEM(c.files.Cert, nil)
	if err != nil {
		return fmt.Errorf("read TLS certificate: %w", err)
	}
	key, keyInfo, err := readPEM(c.files.Key, func(f *os.File) error {
		return config.RequirePrivate(f, "TLS private key", c.credentials)
	})
	if err != nil {
		return fmt.Errorf("read TLS private key: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("parse TLS certificate %s and private key %s: %w", c.files.Cert, c.files.Key, err)
	}
	next := keyPair{Certificate: pair}
	for _, der := range pair.Certificate {
		one, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Errorf("parse TLS certificate %s: %w", c.files.Cert, err)
		}
		if next.expires.IsZero() || one.NotAfter.Before(next.expires) {
			next.begins, next.expires = one.NotBefore, one.NotAfter
		}
	}
	c.current.Store(&next)
	c.read, c.warned = [2]os.FileInfo{certInfo, keyInfo}, 0
	return nil
}

// readPEM reads a file that passes check. The info is older than the content, so a later
// write is noticed.
func readPEM(path string, check func(*os.File) error) ([]byte, os.FileInfo, error) {
	f, err := os.Open(path)
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

// reload reads the files again if one of them has changed, and logs each error once. A
// change of two files is seen between them, so with settled set to false an error is
// logged only if the next call finds it too.
func (c *Certificate) reload(log *slog.Logger, settled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unchanged() {
		return
	}
	err := c.load()
	if err == nil {
		c.failure, c.logged = "", false
		log.Info("TLS certificate reloaded", "listener", c.listener, "file", c.files.Cert, "expires", c.expires().UTC().Format(time.RFC3339))
		return
	}
	if again := err.Error() == c.failure; !again {
		c.failure, c.logged = err.Error(), false
		if !settled {
			return
		}
	}
	if !c.logged {
		c.logged = true
		log.Error("TLS certificate not reloaded", "listener", c.listener, "error", err)
	}
}

// unchanged reports whether the files are those that were read last. c.mu is held.
func (c *Certificate) unchanged() bool {
	for i, path := range []string{c.files.Cert, c.files.Key} {
		was := c.read[i]
		now, err := os.Stat(path)
		if err != nil || was == nil || !os.SameFile(now, was) || now.Size() != was.Size() ||
			!now.ModTime().Equal(was.ModTime()) || now.Mode() != was.Mode() {
			return false
		}
	}
	return true
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
	c.mu.Lock()
	defer c.mu.Unlock()
	pair := c.current.Load()
	passed := 0
	for _, w := range warnAfter {
		if pair.expires.Sub(now) <= min(w.left, pair.expires.Sub(pair.begins)/w.share) {
			passed++
		}
	}
	if passed <= c.warned {
		return
	}
	c.warned = passed
	attrs := []any{"listener", c.listener, "file", c.files.Cert, "expires", pair.expires.UTC().Format(time.RFC3339)}
	if passed == len(warnAfter) {
		log.Error("TLS certificate expired", attrs...)
		return
	}
	log.Warn("TLS certificate expires soon", attrs...)
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
				s.config.Operators.reloadAuthority(s.config.Log)
			case <-ctx.Done():
				again.Stop()
				return
			}
		}
	})
}
