package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
)

// A check is one condition of health; err is nil if it is met.
type check struct {
	name string
	err  error
}

// opsRoutes are the routes of ops-listen, by pattern: /livez reports that the
// process runs, /readyz that a commit would work, on this node or through the leader.
func (s *Server) opsRoutes(metrics http.Handler) map[string]http.Handler {
	return map[string]http.Handler{
		"GET /livez": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			writeHealth(w, r, check{name: "process"})
		}),
		"GET /readyz": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			writeHealth(w, r, s.readiness(r.Context())...)
		}),
		"GET /metrics": metrics,
	}
}

// health returns the handler of the operators' listener. Its requests have an id, and no line
// in the access log: most are scrapes.
func (s *Server) health() http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range s.opsRoutes(s.Metrics.Handler()) {
		mux.Handle(pattern, h)
	}
	if s.config.OpsDebug {
		s.debugRoutes(mux)
	}
	return identified(mux)
}

// identified identifies the requests of operators, which come through no trusted proxy.
func identified(h http.Handler) http.Handler { return proxy.Trusted(nil).Identified(h) }

// readyTimeout is the longest time for a commit of a node that is ready.
const readyTimeout = time.Second

// readiness returns the checks of /readyz and mintmark_ready.
func (s *Server) readiness(ctx context.Context) []check {
	if err := s.membershipError(); err != nil {
		return []check{{"member", err}} // the cause of all other failures
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	checks := []check{{"started", s.isStarted()}, {"stopping", s.isStopping()}, {"commit", s.canCommit(ctx)}}
	if s.isOpen() {
		for _, c := range s.Node.Checks() {
			checks = append(checks, check{c.Name, c.Err})
		}
	}
	return checks
}

func (s *Server) isReady(ctx context.Context) bool {
	return !slices.ContainsFunc(s.readiness(ctx), func(c check) bool { return c.err != nil })
}

func writeHealth(w http.ResponseWriter, r *http.Request, checks ...check) {
	status, text := http.StatusOK, "ok\n"
	var verbose strings.Builder
	for _, c := range checks {
		if c.err != nil {
			status, text = http.StatusServiceUnavailable, "not ready\n"
			verbose.WriteString("[-]" + c.name + " " + c.err.Error() + "\n")
			continue
		}
		verbose.WriteString("[+]" + c.name + " ok\n")
	}
	if r.URL.Query().Has("verbose") {
		text = verbose.String() + text
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

func (s *Server) isStarted() error {
	select {
	case <-s.started:
		return nil
	default:
	}
	return errors.New(s.waitingFor())
}

// membershipError returns why the other nodes refuse this one: it was removed, or another
// process runs as the same node.
func (s *Server) membershipError() error {
	if !s.isOpen() {
		return nil
	}
	return cmp.Or(s.Node.Removed(), s.Node.Duplicate())
}

func (s *Server) isStopping() error {
	select {
	case <-s.stopping:
		return errors.New("node is stopping")
	default:
		return nil
	}
}

func (s *Server) canCommit(ctx context.Context) error {
	if err := s.isStarted(); err != nil {
		return err
	}
	err := s.Node.Ready(ctx)
	if n := s.Node.Stats(); err != nil && !n.LeaderKnown {
		return fmt.Errorf("no leader is known: of %d nodes, %d answer, including this one", n.Members, n.Reachable)
	}
	return err
}
