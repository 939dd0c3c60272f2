package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
)

// debugWriteTimeout replaces the write timeout of the operators' listener, so that a
// profile may take a minute and more.
const debugWriteTimeout = 2 * time.Minute

// maxLevel is the longest body of a new log level, in bytes.
const maxLevel = 32

// debugRoutes adds the profiles of net/http/pprof, and the level of the log. Whoever
// reaches them can slow the node down, so they are only there if a setting asks for them.
func (s *Server) debugRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	if s.config.LogLevel == nil {
		return
	}
	mux.HandleFunc("GET /debug/log-level", s.showLogLevel)
	mux.HandleFunc("PUT /debug/log-level", s.setLogLevel)
}

func (s *Server) showLogLevel(w http.ResponseWriter, _ *http.Request) {
	_, _ = fmt.Fprintln(w, strings.ToLower(s.config.LogLevel.Level().String()))
}

// setLogLevel sets the level until the next SIGHUP or restart. It refuses browsers, which add
// one of two headers: a page of any origin may send requests to this machine, under a name of
// its own too.
func (s *Server) setLogLevel(w http.ResponseWriter, r *http.Request) {
	if r.Header["Origin"] != nil || r.Header["Sec-Fetch-Site"] != nil {
		http.Error(w, "not for browsers", http.StatusForbidden)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxLevel))
	level, known := config.ParseLogLevel(strings.TrimSpace(string(body)))
	if err != nil || !known {
		http.Error(w, "expected "+config.ExpectedLogLevel, http.StatusBadRequest)
		return
	}
	s.config.LogLevel.Set(level)
	s.config.Log.InfoContext(r.Context(), "log level changed", "log_level", level)
	s.showLogLevel(w, r)
}
