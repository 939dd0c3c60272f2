package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/telemetry"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/requestlog"
	"github.com/mintmark-auth/mintmark/issuer/restore"
	"github.com/mintmark-auth/mintmark/issuer/security"
	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/web"
	"github.com/mintmark-auth/mintmark/keys"
)

// Config has everything that a server is made of. Tests start the same server as main.
type Config struct {
	Version   string // of this program
	DataDir   string
	Listen    string // of the API and the pages
	OpsListen string // of /livez, /readyz and /metrics
	// TLS and OpsTLS are the certificates of Listen and OpsListen; nil for no TLS.
	TLS, OpsTLS *Certificate

	// Operators serves operators on other machines; nil for none.
	Operators *Operators

	// Cluster connects the node with others; nil for a node alone, which creates a
	// cluster of one.
	Cluster *Cluster
	// Key is the source of the cluster key.
	Key config.KeySource

	// Settings completes the cluster's settings, or returns why this node can't serve
	// them. It is called before anything is served, with the address of Listen. It returns
	// ErrNoSettings to wait for settings.
	Settings func(current ledger.Settings, listening string) (ledger.Settings, error)
	// PublicURL and AppURL are proposed to a cluster without settings. If PublicURL is "",
	// the server waits until another node or an operator has proposed addresses.
	PublicURL, AppURL string
	PlainHTTP         bool // accept http outside the loopback; see ledger.Settings
	// Prepare applies fixtures before anything is served. It may be nil.
	Prepare func(ctx context.Context, i *issuer.Issuer, passwords *credential.Hasher) error

	// Upstream is the provider that users sign in with, without its redirection URI; nil
	// for none. With NoPasswords they can't sign in otherwise.
	Upstream    *upstream.Config
	NoPasswords bool

	// Documents fetches the metadata documents of clients. Default: from public addresses only.
	Documents web.Documents

	// Backups are the scheduled backups that this node makes if the cluster chooses it.
	Backups Backups

	// Proxies are the peers whose X-Forwarded-For is used.
	Proxies proxy.Trusted

	// Drain is how long a stopping node still answers requests after /readyz reports that
	// it is not ready.
	Drain time.Duration

	// Waiting is called with the reason when the start waits for other nodes, for the clock
	// or for an operator, and when the reason changes. It may be nil.
	Waiting func(why string)

	// Traces may be nil. The server closes it.
	Traces *telemetry.Tracing
	// AccessLog reports whether a line is written for each request; nil for no lines.
	AccessLog *atomic.Bool
	// LogLevel is the level of Log, which OpsDebug shows and changes; it may be nil.
	LogLevel *slog.LevelVar
	// OpsDebug serves profiles and LogLevel on OpsListen.
	OpsDebug bool

	Log *slog.Logger
	// Stderr shows the progress of a join if it is a terminal. It may be nil.
	Stderr io.Writer
	// Now is the clock that stamps commands, and by which tokens expire. Default: that of
	// the machine.
	Now func() time.Time
	// Elapsed finds jumps of Now. If it is nil, Now may jump. Default if Now is nil: that
	// of the machine.
	Elapsed func() time.Duration
	// TrustClock makes the node accept Now at a start without a check.
	TrustClock bool
}

// A Server is one running node with its listeners. The exported fields are set when Start
// returns, and do not change.
type Server struct {
	config   Config
	Keys     *keys.ClusterKeys
	Node     *cluster.Node
	Journal  *restore.Observer
	Issuer   *issuer.Issuer
	Settings ledger.Settings
	Metrics  *telemetry.Metrics
	failures *security.Recorder
	clientIP func(*http.Request) string
	access   *telemetry.AccessLog

	public, ops      *http.Server
	publicListener   net.Listener
	startup          startupHandler
	clusterListener  net.Listener
	operators        *http.Server // nil until it serves
	operatorListener net.Listener // nil for none
	// PublicAddr, OpsAddr and ClusterAddr are the addresses of the listeners.
	PublicAddr, OpsAddr, ClusterAddr net.Addr
	OperatorsAddr                    net.Addr // nil if there is no such listener

	servingMu sync.Mutex    // guards serving and admin while the server starts
	serving   bool          // connections to the public listener are accepted
	admin     *admin.Server // the operators' socket; nil until it is open

	provider      atomic.Pointer[upstream.Provider] // nil for none, and until it is made
	upstreamTasks sync.WaitGroup                    // of the upstream provider
	stopUpstream  context.CancelFunc

	certificateTasks sync.WaitGroup // of the listeners' certificates
	stopCertificates context.CancelFunc

	stateTasks   sync.WaitGroup // of the label of the journal, and of the numbers
	numbers      atomic.Pointer[ledger.Numbers]
	waitReason   atomic.Pointer[string] // the reason why the node waits; nil at first
	initRequests chan admin.NewCluster  // addresses for a cluster without them
	failed       chan error             // errors of listeners
	opened       chan struct{}          // closed when the node runs
	started      chan struct{}          // closed when Start succeeded
	stopping     chan struct{}          // closed when Close begins
	failure      error                  // why the start failed; set before stopping is closed
}

// Start starts a server and returns when it serves. After an error everything that it
// started is closed.
func Start(ctx context.Context, c Config) (*Server, error) {
	if c.Now == nil {
		c.Now, c.Elapsed = WallClock, watchdog.Elapsed()
	}
	s := &Server{
		config: c, failed: make(chan error, 4), initRequests: make(chan admin.NewCluster),
		opened: make(chan struct{}), started: make(chan struct{}), stopping: make(chan struct{}),
	}
	c.Log = slog.New(requestlog.Handler{Handler: c.Log.Handler()})
	s.config.Log, s.clientIP = c.Log, c.Proxies.ClientIP(c.Log)
	s.access = telemetry.NewAccessLog(c.Log, s.clientIP, c.AccessLog)
	s.startup.removed = s.membershipError
	s.Metrics = telemetry.NewMetrics(s, c.Version)
	s.failures = security.New(security.Config{Log: c.Log, Now: c.Now, Count: s.Metrics.Failed})
	if err := s.start(ctx); err != nil {
		s.failure = err
		return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}
	close(s.started)
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	c := s.config
	if err := makeDataDir(c.DataDir, c.Log); err != nil {
		return err
	}
	ops, err := listen(ErrListenOps, c.OpsListen)
	if err != nil {
		return err
	}
	s.OpsAddr = ops.Addr()
	// This listener has few slots, so an idle connection is closed soon: a client that
	// polls every few seconds can open a new one.
	s.ops = &http.Server{
		Handler: s.health(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: 15 * time.Second, IdleTimeout: 5 * time.Second,
	}
	if c.OpsDebug {
		s.ops.WriteTimeout = debugWriteTimeout
		c.Log.Warn("profiles and the level of the log served to operators", "ops_listen", s.OpsAddr.String())
	}
	if c.OpsTLS != nil {
		s.ops.TLSConfig, s.ops.ErrorLog = c.OpsTLS.config(), debugLog(c.Log)
	}
	s.watchCertificates()
	go s.serve(s.ops, bounded(ops, maxOpsConnections))

	// A port in use is the likeliest mistake, so it is found before the data is opened.
	// Early clients wait until the server answers.
	if s.publicListener, err = listen(ErrListen, c.Listen); err != nil {
		return err
	}
	s.PublicAddr = s.publicListener.Addr()
	if c.Cluster != nil {
		if s.clusterListener, err = listen(ErrListenCluster, c.Cluster.Listen); err != nil {
			return err
		}
		s.ClusterAddr = s.clusterListener.Addr()
	}
	if err := s.listenOperators(); err != nil {
		return err
	}
	s.public = &http.Server{
		Handler:           s.Metrics.Timed(fairRequests(&s.startup, maxPerSource, c.Proxies), s.recording()),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          debugLog(c.Log),
		// The handler answers "OPTIONS *" too.
		DisableGeneralOptionsHandler: true,
	}
	if c.TLS != nil {
		s.public.TLSConfig = c.TLS.config()
		s.public.HTTP2 = &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerConnection: maxBuffer, MaxReceiveBufferPerStream: maxBuffer,
		}
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

// servePublic starts to accept connections, unless it was called before.
func (s *Server) servePublic() {
	s.servingMu.Lock()
	defer s.servingMu.Unlock()
	if !s.serving && s.isStopping() == nil {
		s.serving = true
		var l net.Listener = newFairListener(s.public, bounded(s.publicListener, maxConnections), maxPerSource, s.config.Proxies)
		if s.config.TLS != nil {
			l = plainListener{l, s.Metrics.Timed(http.HandlerFunc(s.answerPlain), s.recording())}
		}
		go s.serve(s.public, l)
	}
}

// open opens the data and returns the handler of the public listener.
func (s *Server) open(ctx context.Context) (http.Handler, error) {
	c := s.config
	if err := s.openNode(ctx); err != nil {
		return nil, err
	}
	close(s.opened)
	s.stateTasks.Go(s.keepNumbers)
	s.setWaitReason(stillStarting)
	var err error
	if c.Cluster != nil {
		if err := s.setAdminHandler(s.waitingHandler(nil)); err != nil {
			return nil, err
		}
	}
	if s.Settings, err = s.configure(ctx); err != nil {
		return nil, err
	}
	s.warnOfPlainHTTP()
	s.setWaitReason("opening the keys, or waiting for a leader that has them")
	refusals := web.NewRefusals()
	s.Issuer, err = issuer.New(ctx, issuer.Config{
		Node: s.Node, ClusterKeys: s.Keys, Version: s.config.Version, Log: c.Log, Now: c.Now, Rand: rand.Reader,
		Observer: observer{s.Metrics, refusals, c.Now}, Failures: s.failures, Tracer: c.Traces.IssuerTracer(),
		Backups: s.scheduledBackups(),
	})
	if err != nil {
		return nil, err
	}
	refusals.Count = s.Issuer.CountRefusal
	passwords := credential.NewHasher(rand.Reader, 0)
	if c.Prepare != nil {
		if err := c.Prepare(ctx, s.Issuer, passwords); err != nil {
			return nil, err
		}
	}
	if err := s.serveAdmin(passwords); err != nil {
		return nil, err
	}
	return handler(s.Issuer, s.Settings, web.Config{
		Passwords: passwords, Refusals: refusals, Refused: s.Metrics.Refused, Upstream: s.startUpstream(ctx), NoPasswords: c.NoPasswords, Documents: c.Documents,
	}, s.clientIP, s.Metrics, s.failures, c.Log)
}

// serveAdmin makes the operators' socket, and their listener, serve all commands.
func (s *Server) serveAdmin(passwords *credential.Hasher) error {
	c := admin.Config{
		Ledger: s.Issuer, Rand: rand.Reader, Passwords: passwords, Log: s.config.Log,
		Secret: s.Issuer.Secret, SecretOfSHA256: s.Issuer.SecretOfSHA256, SecretOfHash: s.Issuer.SecretOfHash, SecretDigests: s.Issuer.SecretDigests,
		Digest: s.Issuer.Digest, Declared: s.Issuer.Declared,
		AcceptClock: s.Node.AcceptClock,
		Explain:     s.Issuer.Explain, Rotate: s.Issuer.Keyring.Rotate, Replace: s.replace, Rewrap: s.rewrap,
	}
	if s.config.Cluster != nil {
		c.Cluster, c.Backup, c.Journal = clusterOps{s.Node, s.Issuer, s.config.Now}, s.saveState, s.saveJournal
	}
	if err := s.setAdminHandler(admin.NewHandler(c)); err != nil {
		return err
	}
	return s.serveOperators(c)
}

// setAdminHandler opens the operators' socket with this handler, or replaces its handler.
func (s *Server) setAdminHandler(h http.Handler) error {
	s.servingMu.Lock()
	defer s.servingMu.Unlock()
	if s.admin != nil {
		s.admin.Handle(identified(h))
		return nil
	}
	return s.openAdminSocket(h)
}

// setFirstAdminHandler opens the operators' socket with this handler, unless it is open.
func (s *Server) setFirstAdminHandler(h http.Handler) error {
	s.servingMu.Lock()
	defer s.servingMu.Unlock()
	if s.admin != nil {
		return nil
	}
	return s.openAdminSocket(h)
}

// openAdminSocket opens the operators' socket. s.servingMu is held.
func (s *Server) openAdminSocket(h http.Handler) (err error) {
	if err := s.isStopping(); err != nil {
		return err
	}
	if s.admin, err = admin.Open(filepath.Join(s.config.DataDir, admin.SocketName), identified(h)); err != nil {
		return err
	}
	served := s.admin
	go func() { s.report("admin socket", served.Serve()) }()
	return nil
}

func (s *Server) serve(h *http.Server, l net.Listener) {
	serve := h.Serve
	if h.TLSConfig != nil {
		serve = func(l net.Listener) error { return h.ServeTLS(l, "", "") }
	}
	if err := serve(l); !errors.Is(err, http.ErrServerClosed) {
		s.report("listener "+l.Addr().String(), err)
	}
}

// recording is what is recorded of a request to the public listener.
func (s *Server) recording() telemetry.Recording {
	return telemetry.Recording{Traces: s.config.Traces, Access: s.access, Trusted: s.config.Proxies}
}

// debugLog is for what net/http reports of connections, which anybody can cause.
func debugLog(l *slog.Logger) *log.Logger {
	return slog.NewLogLogger(l.Handler(), slog.LevelDebug)
}

// OpsURL returns the address of the operators' listener.
func (s *Server) OpsURL() string {
	if s.config.OpsTLS != nil {
		return "https://" + s.OpsAddr.String()
	}
	return "http://" + s.OpsAddr.String()
}

func (s *Server) report(what string, err error) {
	if err != nil {
		select {
		case s.failed <- fmt.Errorf("%s: %w", what, err):
		default: // an earlier error already ends the server
		}
	}
}

// UntilStopped serves until ctx ends or a listener fails. Then it calls stopping and
// closes the server, for at most within.
func (s *Server) UntilStopped(ctx context.Context, within time.Duration, stopping func()) error {
	var err error
	select {
	case <-ctx.Done():
	case err = <-s.failed:
	}
	stopping()
	return errors.Join(err, s.closeWithin(ctx, within))
}

// closeWithin is Close with a limit. ctx may have ended.
func (s *Server) closeWithin(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	return s.Close(ctx)
}

// Close stops the server in order: it reports "not ready" and still answers for Drain; it
// transfers leadership; it closes the listeners when their requests are answered; then it
// stops the background duties, then the node. Requests still in progress when ctx ends
// are cut.
func (s *Server) Close(ctx context.Context) error {
	s.servingMu.Lock() // no listener opens after this
	close(s.stopping)
	s.servingMu.Unlock()
	var errs []error
	if s.isStarted() == nil {
		// A request could be in transit on an idle connection, so idle connections are
		// closed only after a load balancer had time to poll /readyz.
		s.sleep(ctx, s.config.Drain/2)
		s.public.SetKeepAlivesEnabled(false) // clients reconnect to another node
		s.sleep(ctx, s.config.Drain/2)
		s.Node.StepDown(ctx)
	}
	if s.Issuer != nil {
		s.Issuer.Revocations().Close() // ends the requests of waiting readers
	}
	if s.serving {
		if err := s.public.Shutdown(ctx); err != nil {
			errs = append(errs, err, s.public.Close())
		}
	} else if s.publicListener != nil {
		errs = append(errs, s.publicListener.Close())
	}
	errs = append(errs, s.closeOperators(ctx))
	if s.admin != nil {
		errs = append(errs, s.admin.Close())
	}
	if s.stopUpstream != nil {
		s.stopUpstream()
		s.upstreamTasks.Wait()
	}
	if s.stopCertificates != nil {
		s.stopCertificates()
		s.certificateTasks.Wait()
	}
	if s.Issuer != nil {
		s.Issuer.Close()
	}
	if s.Node != nil {
		errs = append(errs, s.Node.Close(ctx))
	} else if s.clusterListener != nil {
		// A node that failed to open may have closed it.
		if err := s.clusterListener.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	s.stateTasks.Wait()
	if s.Journal != nil {
		errs = append(errs, s.Journal.Journal.Close())
	}
	s.access.Close()
	errs = append(errs, s.config.Traces.Close(ctx))
	if s.ops != nil {
		errs = append(errs, s.ops.Close())
	}
	return errors.Join(errs...)
}

func (s *Server) sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// makeDataDir creates the data folder, and refuses one that everybody can write to. It warns
// of one that others than its owner can open.
func makeDataDir(dir string, log *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create data folder: %w", err)
	}
	i, err := os.Stat(dir)
	switch {
	case err != nil:
	case i.Mode().Perm()&0o002 != 0:
		return fmt.Errorf("open %s: %w", dir, ErrWorldWritable)
	case i.Mode().Perm()&0o077 != 0:
		log.Warn("data folder found open to other accounts of this machine", "data_dir", dir, "mode", fmt.Sprintf("%04o", i.Mode().Perm()), "expected", "0700")
	}
	return nil
}
