package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
)

// serverConfig is all that a running server is made of. Tests start the same
// server that main starts.
type serverConfig struct {
	DataDir   string
	Listen    string // of the API and the pages
	OpsListen string // of /livez and /readyz

	// Settings completes what the cluster has, or refuses it, when the
	// server's own addresses are known and before anything is served.
	Settings func(current ledger.Settings, listening string) (ledger.Settings, error)
	// Prepare runs before anything is served: it applies fixtures.
	Prepare func(ctx context.Context, i *issuer.Issuer, passwords *credential.Hasher) error

	// Proxies are the peers whose X-Forwarded-For is believed.
	Proxies proxies

	Log *slog.Logger
	// Now is the clock that stamps commands and that tokens run out by.
	// Default: time.Now.
	Now func() time.Time
}

// A server is one running node with its listeners.
type server struct {
	config   serverConfig
	node     *cluster.Node
	issuer   *issuer.Issuer
	settings ledger.Settings

	public, ops *http.Server
	opsAddr     net.Addr
	admin       *admin.Server
	failed      chan error    // of a listener
	started     chan struct{} // closed when everything above is there
	stopping    chan struct{}
}

// start returns when the server answers. What it started is closed again
// where it fails half-way.
func start(ctx context.Context, c serverConfig) (*server, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &server{config: c, failed: make(chan error, 3), started: make(chan struct{}), stopping: make(chan struct{})}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}
	close(s.started)
	return s, nil
}

func (s *server) start(ctx context.Context) error {
	c := s.config
	ops, err := net.Listen("tcp", c.OpsListen)
	if err != nil {
		return fmt.Errorf("listen for operators (see --ops-listen): %w", err)
	}
	s.opsAddr = ops.Addr()
	s.ops = &http.Server{Handler: s.health(), ReadHeaderTimeout: 5 * time.Second}
	go s.serve(s.ops, bounded(ops, maxOpsConnections))

	// A port in use is the likeliest mistake, so it is found before the data
	// is opened. Whoever connects early waits until the server answers.
	public, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen (see --listen): %w", err)
	}
	h, err := s.open(ctx, public.Addr().String())
	if err != nil {
		return errors.Join(err, public.Close())
	}
	s.public = &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug),
		// "OPTIONS *" is answered as everything else is, by the handler.
		DisableGeneralOptionsHandler: true,
	}
	go s.serve(s.public, bounded(public, maxConnections))
	return nil
}

// open brings up the state, from the log to the handler of all that is
// public.
func (s *server) open(ctx context.Context, listening string) (http.Handler, error) {
	c := s.config
	key, err := clusterKey(c.DataDir, c.Log)
	if err != nil {
		return nil, err
	}
	s.node, err = cluster.Open(ctx, cluster.Config{
		Dir: filepath.Join(c.DataDir, "raft"), Bootstrap: true, Machine: issuer.Machine(), Logger: c.Log,
		Now: c.Now, Rand: rand.Reader, Fatal: func(err error) {
			c.Log.Error("the log failed; this node stops", "error", err)
			os.Exit(exitLocal)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("open the data in %s: %w", c.DataDir, err)
	}
	if s.settings, err = configure(ctx, s.node, c.Settings, listening); err != nil {
		return nil, err
	}
	s.issuer, err = issuer.New(ctx, issuer.Config{
		Node: s.node, ClusterKey: key, Version: version, Log: c.Log, Now: c.Now, Rand: rand.Reader,
	})
	if err != nil {
		return nil, err
	}
	passwords := credential.NewHasher(rand.Reader, 0)
	if err := c.Prepare(ctx, s.issuer, passwords); err != nil {
		return nil, err
	}
	s.admin, err = admin.Listen(filepath.Join(c.DataDir, admin.SocketName), admin.Config{
		Ledger: s.issuer, Rand: rand.Reader, Passwords: passwords, Log: c.Log,
		Secret: s.issuer.Secret, SecretOfSHA256: s.issuer.SecretOfSHA256, Declared: s.issuer.Declared,
		Explain: s.issuer.Explain, Rotate: s.issuer.Rotate,
	})
	if err != nil {
		return nil, err
	}
	go func() { s.report("admin socket", s.admin.Serve()) }()
	return handler(s.issuer, s.settings, passwords, c.Proxies, c.Log)
}

// configure brings the replicated settings to what the server was started
// with.
func configure(ctx context.Context, n *cluster.Node, complete func(ledger.Settings, string) (ledger.Settings, error), listening string) (ledger.Settings, error) {
	wanted, err := complete(*ledger.At(n.View()).Settings(), listening)
	if err != nil {
		return wanted, err
	}
	value, _, err := n.Propose(ctx, &issuer.Entry{Command: &ledger.Configure{Settings: wanted}})
	if err != nil {
		return wanted, fmt.Errorf("write the settings: %w", err)
	}
	if r := value.(ledger.Outcome).Refusal; r != nil {
		return wanted, fmt.Errorf("setting %s %s", r.Field, r.Note)
	}
	return wanted, nil
}

func (s *server) serve(h *http.Server, l net.Listener) {
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		s.report("listener "+l.Addr().String(), err)
	}
}

func (s *server) report(what string, err error) {
	if err != nil {
		select {
		case s.failed <- fmt.Errorf("%s: %w", what, err):
		default: // an earlier failure ends the server already
		}
	}
}

// Close ends the server in order: not ready first, then the listeners when
// their requests have been answered, then the duties, then the node.
func (s *server) Close(ctx context.Context) error {
	close(s.stopping)
	var errs []error
	if s.public != nil {
		errs = append(errs, s.public.Shutdown(ctx))
	}
	if s.admin != nil {
		errs = append(errs, s.admin.Close())
	}
	if s.issuer != nil {
		s.issuer.Close()
	}
	if s.node != nil {
		errs = append(errs, s.node.Close(ctx))
	}
	if s.ops != nil {
		errs = append(errs, s.ops.Close())
	}
	return errors.Join(errs...)
}

// clusterKey reads the key file of a data folder, or makes one for a folder
// that is new.
func clusterKey(dir string, log *slog.Logger) (keys.ClusterKey, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return keys.ClusterKey{}, fmt.Errorf("make the data folder: %w", err)
	}
	if i, err := os.Stat(dir); err == nil && i.Mode().Perm()&0o002 != 0 {
		return keys.ClusterKey{}, fmt.Errorf("everybody may write to %s, and so replace what is in it: chmod o-w %s", dir, dir)
	}
	path := filepath.Join(dir, "cluster.key")
	key, err := keys.ReadClusterKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if _, err := os.Stat(filepath.Join(dir, "raft")); err == nil {
		return key, fmt.Errorf("%s is missing, and the data beside it is sealed under it: put the key back", path)
	}
	if key, err = keys.NewClusterKey(rand.Reader); err != nil {
		return key, err
	}
	if err := key.WriteFile(path); err != nil {
		return key, err
	}
	log.Warn("made a cluster key; whoever loses it loses every key that is sealed under it", "file", path)
	return key, nil
}
