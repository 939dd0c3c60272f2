package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A node may have to wait before it can serve: for those that found the cluster
// with it, for a leader who tells it what it has not got itself, for an
// operator. Meanwhile it says so to whoever asks, rather than hang.

// startPatience is how long early clients wait with a node that starts, before
// they are told that it does not serve yet.
const startPatience = time.Second

// waits notes what this node waits for.
func (s *server) waits(why string) { s.waitsFor.Store(&why) }

// whatFor is what this node waits for.
func (s *server) whatFor() string {
	if why := s.waitsFor.Load(); why != nil {
		return *why
	}
	return "still starting"
}

// answerMeanwhile has this node answer clients and operators while it waits.
func (s *server) answerMeanwhile() {
	select {
	case <-s.stopping:
		return
	case <-s.started:
		return
	default:
	}
	s.servePublic()
	if s.config.Cluster == nil {
		return // there is nothing that operators could do
	}
	if err := s.answerOperatorsFirst(s.waiting(nil)); err != nil {
		s.config.Log.Error("operators can't ask this node", "error", err)
	}
}

// waiting is what operators can do meanwhile. With create they can complete a
// cluster that has no addresses yet.
func (s *server) waiting(create func(context.Context, admin.NewCluster) error) http.Handler {
	w := s.waitingNode()
	if w.Create = create; s.isOpen() {
		w.AcceptClock = s.node.AcceptClock
	}
	return admin.NewWaitingHandler(w)
}

func (s *server) waitingNode() admin.Waiting {
	w := admin.Waiting{Why: s.whatFor, Status: s.overview, Now: s.config.Now, Log: s.config.Log}
	if s.config.Cluster != nil {
		w.Name = s.config.Cluster.Name
	}
	return w
}

// awaitClock returns when this node accepts its clock, or at once if it has peers.
// Meanwhile operators can accept the clock.
func (s *server) awaitClock(ctx context.Context) error {
	err := s.node.AwaitClock(ctx, func(why string) {
		s.waits(why)
		w := s.waitingNode()
		w.AcceptClock = s.node.AcceptClock
		if err := s.answerOperators(admin.NewWaitingHandler(w)); err != nil {
			s.config.Log.Error("admin socket not opened", "error", err)
		}
	})
	if err == nil {
		s.waits("still starting")
	}
	return err
}

// overview is the cluster as far as this node knows it by now.
func (s *server) overview(ctx context.Context) admin.ClusterStatus {
	if !s.isOpen() {
		return admin.ClusterStatus{Name: s.waitingNode().Name}
	}
	return statusOf(s.node.Overview(ctx))
}

// waitForFounders is told for whom this node waits before it can found its
// cluster with them. Operators are told when they ask.
func (s *server) waitForFounders(why string) {
	s.waits(why)
	no := refusal{errors.New("this node founds a cluster with others as soon as all of them run (mintmark cluster generate made it)")}
	err := s.answerOperatorsFirst(admin.NewSetupHandler(admin.Setup{
		Name:   s.config.Cluster.Name,
		Create: func(context.Context, admin.NewCluster) error { return no },
		Restore: func(context.Context, io.Reader, admin.RestoreOptions) (admin.RestoreReport, error) {
			return admin.RestoreReport{}, no
		},
		Waiting: s.whatFor,
		Log:     s.config.Log,
	}))
	if err != nil {
		s.config.Log.Error("operators can't ask this node", "error", err)
	}
}

// A front answers for a handler that is not there yet.
type front struct {
	behind  atomic.Pointer[http.Handler]
	removed func() error // why nobody is served any more
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := f.behind.Load(); h != nil && f.removed() == nil {
		(*h).ServeHTTP(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(map[string]string{
		"error": string(oauth.TemporarilyUnavailable), "error_description": "The server does not serve yet. Try again.",
	})
}
