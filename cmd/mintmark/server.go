package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/telemetry"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/restore"
	"github.com/mintmark-auth/mintmark/issuer/security"
	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/web"
	"github.com/mintmark-auth/mintmark/keys"
)

// serverConfig is all that a running server is made of. Tests start the same
// server that main starts.
type serverConfig struct {
	DataDir   string
	Listen    string // of the API and the pages
	OpsListen string // of /livez, /readyz and /metrics

	// Cluster connects the node with others; nil is a node alone, which makes
	// itself a cluster of one.
	Cluster *clusterConfig
	// Key is where the cluster key comes from.
	Key config.KeySource

	// Settings completes what the cluster has, or refuses it, when the
	// server's own addresses are known and before anything is served.
	Settings func(current ledger.Settings, listening string) (ledger.Settings, error)
	// PublicURL and AppURL are proposed to a cluster that has no settings yet.
	// Without PublicURL the server waits until somebody else has.
	PublicURL, AppURL string
	PlainHTTP         bool // see ledger.Settings
	// Prepare runs before anything is served: it applies fixtures. It may be nil.
	Prepare func(ctx context.Context, i *issuer.Issuer, passwords *credential.Hasher) error

	// Upstream is the provider that people sign in with, without its redirection
	// URI; nil for none. NoPasswords needs it.
	Upstream    *upstream.Config
	NoPasswords bool

	// Readers may read the feed of revocations; nil for no feed.
	Readers *readersFile

	// Proxies are the peers whose X-Forwarded-For is believed.
	Proxies proxy.Trusted

	// Drain is how long a node that stops goes on answering after it has said
	// that it isn't ready.
	Drain time.Duration

	// Traces is nil where nobody collects them. The server closes it.
	Traces *telemetry.Tracing

	Log *slog.Logger
	// Now is the clock that stamps commands and that tokens run out by.
	// Default: the machine's.
	Now func() time.Time
	// Elapsed is by which a jump of Now is found; without it Now may be set at
	// will. Default where Now has its own: the machine's.
	Elapsed func() time.Duration
	// TrustClock has the node accept Now at a start without any check.
	TrustClock bool
}

// A server is one running node with its listeners.
type server struct {
	config   serverConfig
	keys     *keys.ClusterKeys
	node     *cluster.Node
	journal  *restore.Observer
	issuer   *issuer.Issuer
	settings ledger.Settings
	metrics  *telemetry.Metrics
	failures *security.Recorder

	public, ops         *http.Server
	publicListener      net.Listener
	startup             startupHandler
	publicAddr, opsAddr net.Addr
	clusterListener     net.Listener

	servingMu sync.Mutex    // guards the next two while the server starts
	serving   bool          // the public listener's connections are accepted
	admin     *admin.Server // nil until there is something to ask

	provider      atomic.Pointer[upstream.Provider] // nil for none, and until there is one
	upstreamTasks sync.WaitGroup                    // of the upstream provider
	stopUpstream  context.CancelFunc

	readerTasks sync.WaitGroup // of the list of resource servers
	stopReaders context.CancelFunc

	labelTasks   sync.WaitGroup
	waitReason   atomic.Pointer[string]
	initRequests chan admin.NewCluster // for a cluster that has no addresses
	failed       chan error            // of a listener
	opened       chan struct{}         // closed when the node runs
	started      chan struct{}         // closed when everything above is there
	stopping     chan struct{}
	failure      error // why the start failed; set before stopping is closed
}

// start returns when the server answers. What it started is closed again
// where it fails half-way.
func start(ctx context.Context, c serverConfig) (*server, error) {
	if c.Now == nil {
		c.Now, c.Elapsed = wallClock, cluster.Elapsed()
	}
	s := &server{
		config: c, failed: make(chan error, 3), initRequests: make(chan admin.NewCluster),
		opened: make(chan struct{}), started: make(chan struct{}), stopping: make(chan struct{}),
	}
	s.startup.removed = s.membershipError
	s.metrics = telemetry.NewMetrics(s, version)
	s.failures = security.New(security.Config{Log: c.Log, Now: c.Now, Name: telemetry.CauseName, Count: s.metrics.Failed})
	if err := s.start(ctx); err != nil {
		s.failure = err
		return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}
	close(s.started)
	return s, nil
}

func (s *server) start(ctx context.Context) error {
	c := s.config
	if err := makeDataDir(c.DataDir); err != nil {
		return err
	}
	ops, err := net.Listen("tcp", c.OpsListen)
	if err != nil {
		return fmt.Errorf("listen for operators (see --ops-listen): %w", err)
	}
	s.opsAddr = ops.Addr()
	// Connections are few here, so none is kept for long by somebody who says
	// nothing: whoever asks each few seconds may ask for a new one.
	s.ops = &http.Server{
		Handler: s.health(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: 15 * time.Second, IdleTimeout: 5 * time.Second,
	}
	go s.serve(s.ops, bounded(ops, maxOpsConnections))

	// A port in use is the likeliest mistake, so it is found before the data
	// is opened. Whoever connects early waits a while until the server answers.
	if s.publicListener, err = net.Listen("tcp", c.Listen); err != nil {
		return fmt.Errorf("listen (see --listen): %w", err)
	}
	s.publicAddr = s.publicListener.Addr()
	if c.Cluster != nil {
		if s.clusterListener, err = net.Listen("tcp", c.Cluster.Listen); err != nil {
			return fmt.Errorf("listen for other nodes (see --cluster-listen): %w", err)
		}
	}
	s.public = &http.Server{
		Handler:           &s.startup,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug),
		// "OPTIONS *" is answered as everything else is, by the handler.
		DisableGeneralOptionsHandler: true,
	}
	late := time.AfterFunc(earlyClientWait, s.serveWhileStarting)
	defer late.Stop()
	h, err := s.open(ctx)
	if err != nil {
		return err
	}
	s.startup.handler.Store(&h)
	s.servePublic()
	return nil
}

// servePublic accepts connections, from the first call on.
func (s *server) servePublic() {
	s.servingMu.Lock()
	defer s.servingMu.Unlock()
	if !s.serving && s.isStopping() == nil {
		s.serving = true
		go s.serve(s.public, newFairListener(s.public, bounded(s.publicListener, maxConnections), maxPerSource, s.config.Proxies))
	}
}

// open brings up the state, from the log to the handler of all that is
// public.
func (s *server) open(ctx context.Context) (http.Handler, error) {
	c := s.config
	if err := s.openNode(ctx); err != nil {
		return nil, err
	}
	close(s.opened)
	s.setWaitReason("still starting")
	var err error
	if c.Cluster != nil {
		if err := s.setAdminHandler(s.waitingHandler(nil)); err != nil {
			return nil, err
		}
	}
	if s.settings, err = s.configure(ctx); err != nil {
		return nil, err
	}
	s.warnOfPlainHTTP()
	s.setWaitReason("it opens its keys, or waits for a leader who has them")
	refusals := web.NewRefusals()
	s.issuer, err = issuer.New(ctx, issuer.Config{
		Node: s.node, ClusterKeys: s.keys, Version: version, Log: c.Log, Now: c.Now, Rand: rand.Reader,
		Observer: observer{s.metrics, refusals, c.Now}, Failures: s.failures, Feed: c.Readers != nil, Tracer: c.Traces.IssuerTracer(),
	})
	if err != nil {
		return nil, err
	}
	s.watchReaders(ctx)
	passwords := credential.NewHasher(rand.Reader, 0)
	if c.Prepare != nil {
		if err := c.Prepare(ctx, s.issuer, passwords); err != nil {
			return nil, err
		}
	}
	if err := s.serveAdmin(passwords); err != nil {
		return nil, err
	}
	return handler(s.issuer, s.settings, web.Config{
		Passwords: passwords, Refusals: refusals, Upstream: s.startUpstream(ctx), NoPasswords: c.NoPasswords,
	}, c.Readers, c.Proxies, s.metrics, s.failures, c.Traces, c.Log)
}

// serveAdmin answers operators on the socket from now on.
func (s *server) serveAdmin(passwords *credential.Hasher) error {
	c := admin.Config{
		Ledger: s.issuer, Rand: rand.Reader, Passwords: passwords, Log: s.config.Log,
		Secret: s.issuer.Secret, SecretOfSHA256: s.issuer.SecretOfSHA256, Declared: s.issuer.Declared,
		AcceptClock: s.node.AcceptClock,
		Explain:     s.issuer.Explain, Rotate: s.issuer.Keyring.Rotate, Replace: s.replace, Rewrap: s.rewrap,
	}
	if s.config.Cluster != nil {
		c.Cluster, c.Backup, c.Journal = clusterOps{s.node, s.issuer, s.config.Now}, s.saveState, s.saveJournal
	}
	return s.setAdminHandler(admin.NewHandler(c))
}

// setAdminHandler opens the socket, or changes who answers there.
func (s *server) setAdminHandler(h http.Handler) error {
	s.servingMu.Lock()
	defer s.servingMu.Unlock()
	if s.admin != nil {
		s.admin.Handle(h)
		return nil
	}
	return s.openAdminSocket(h)
}

// setFirstAdminHandler opens the socket unless somebody answers there already.
func (s *server) setFirstAdminHandler(h http.Handler) error {
	s.servingMu.Lock()
	defer s.servingMu.Unlock()
	if s.admin != nil {
		return nil
	}
	return s.openAdminSocket(h)
}

// openAdminSocket is called with answering held.
func (s *server) openAdminSocket(h http.Handler) (err error) {
	if err := s.isStopping(); err != nil {
		return err
	}
	if s.admin, err = admin.Open(filepath.Join(s.config.DataDir, admin.SocketName), h); err != nil {
		return err
	}
	served := s.admin
	go func() { s.report("admin socket", served.Serve()) }()
	return nil
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

// untilStopped serves until ctx ends or a listener fails. Then it calls stopping, and
// closes the server, for which it waits as long as within.
func (s *server) untilStopped(ctx context.Context, within time.Duration, stopping func()) error {
	var err error
	select {
	case <-ctx.Done():
	case err = <-s.failed:
	}
	stopping()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	return errors.Join(err, s.Close(closing))
}

// Close ends the server in order: not ready first, while it still answers for
// a while; then leadership goes to another node and the listeners close when
// their requests have been answered; then the duties, then the node.
func (s *server) Close(ctx context.Context) error {
	s.servingMu.Lock() // nobody begins to answer after this
	close(s.stopping)
	s.servingMu.Unlock()
	var errs []error
	if s.isStarted() == nil {
		// Whoever asks /readyz has gone elsewhere when standing connections that
		// are idle are closed: a request could be on its way on one of them.
		s.sleep(ctx, s.config.Drain/2)
		s.public.SetKeepAlivesEnabled(false) // so that the others come back elsewhere
		s.sleep(ctx, s.config.Drain/2)
		s.node.StepDown(ctx)
	}
	if s.issuer != nil && s.issuer.Revocations() != nil {
		s.issuer.Revocations().Close() // whose readers wait for something new
	}
	if s.serving {
		errs = append(errs, s.public.Shutdown(ctx))
	} else if s.publicListener != nil {
		errs = append(errs, s.publicListener.Close())
	}
	if s.admin != nil {
		errs = append(errs, s.admin.Close())
	}
	if s.stopUpstream != nil {
		s.stopUpstream()
		s.upstreamTasks.Wait()
	}
	if s.stopReaders != nil {
		s.stopReaders()
		s.readerTasks.Wait()
	}
	if s.issuer != nil {
		s.issuer.Close()
	}
	if s.node != nil {
		errs = append(errs, s.node.Close(ctx))
	} else if s.clusterListener != nil {
		errs = append(errs, s.clusterListener.Close())
	}
	s.labelTasks.Wait()
	if s.journal != nil {
		errs = append(errs, s.journal.Journal.Close())
	}
	errs = append(errs, s.config.Traces.Close(ctx))
	if s.ops != nil {
		errs = append(errs, s.ops.Close())
	}
	return errors.Join(errs...)
}

func (s *server) sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// makeDataDir makes the folder of everything.
func makeDataDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	if i, err := os.Stat(dir); err == nil && i.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("everybody may write to %s, and so replace what is in it: chmod o-w %s", dir, dir)
	}
	return nil
}
