package main

import (
	"context"
	"errors"
	"net/http"
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
		answerHealth(w, r, check{name: "process"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		checks := []check{{"started", s.isStarted()}, {"stopping", s.isStopping()}, {"commit", s.canCommit(ctx)}}
		if s.isOpen() {
			for _, c := range s.node.Checks() {
				checks = append(checks, check{c.Name, c.Err})
			}
		}
		answerHealth(w, r, checks...)
	})
	mux.Handle("GET /metrics", s.metrics.Handler())
	return mux
}

func answerHealth(w http.ResponseWriter, r *http.Request, checks ...check) {
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
	if s.config.Cluster != nil && !s.isOpen() {
		return errors.New("cluster not created yet, or not joined")
	}
	return errors.New("still starting")
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
	return s.node.Ready(ctx)
}
