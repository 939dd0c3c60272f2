package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A check is one condition of health, nil where it holds.
type check struct {
	name string
	err  error
}

// health serves the operators' listener: /livez says that the process runs,
// /readyz that a commit, here or by way of the leader, would work.
func (s *server) health() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, r *http.Request) {
		writeHealth(w, r, check{name: "process"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		writeHealth(w, r, s.readiness(r.Context())...)
	})
	mux.Handle("GET /metrics", s.metrics.Handler())
	return mux
}

// readyTimeout is how long a node that is ready may take for a commit.
const readyTimeout = time.Second

// readiness is what /readyz and mintmark_ready say.
func (s *server) readiness(ctx context.Context) []check {
	if err := s.membershipError(); err != nil {
		return []check{{"member", err}} // the one reason for all that could be said
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	checks := []check{{"started", s.isStarted()}, {"stopping", s.isStopping()}, {"commit", s.canCommit(ctx)}}
	if s.isOpen() {
		for _, c := range s.node.Checks() {
			checks = append(checks, check{c.Name, c.Err})
		}
	}
	return checks
}

func (s *server) isReady(ctx context.Context) bool {
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

func (s *server) isStarted() error {
	select {
	case <-s.started:
		return nil
	default:
	}
	return errors.New(s.waitingFor())
}

// membershipError is why this node has nothing to do with the others: it was removed, or
// another process runs as the same node.
func (s *server) membershipError() error {
	if !s.isOpen() {
		return nil
	}
	return cmp.Or(s.node.Removed(), s.node.Duplicate())
}

func (s *server) isStopping() error {
	select {
	case <-s.stopping:
		return errors.New("on its way down")
	default:
		return nil
	}
}

func (s *server) canCommit(ctx context.Context) error {
	if err := s.isStarted(); err != nil {
		return err
	}
	err := s.node.Ready(ctx)
	if n := s.node.Stats(); err != nil && !n.LeaderKnown {
		return fmt.Errorf("no leader is known, and of %d nodes %d answer (this one counted); mintmark cluster status says more", n.Members, n.Reachable)
	}
	return err
}
