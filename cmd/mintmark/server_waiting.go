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

// earlyClientWait is how long early clients wait with a node that starts, before
// they are told that it does not serve yet.
const earlyClientWait = time.Second

// setWaitReason notes what this node waits for.
func (s *server) setWaitReason(why string) { s.waitReason.Store(&why) }

// waitingFor is what this node waits for.
func (s *server) waitingFor() string {
	if why := s.waitReason.Load(); why != nil {
		return *why
	}
	return "still starting"
}

// serveWhileStarting has this node answer clients and operators while it waits.
func (s *server) serveWhileStarting() {
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
	if err := s.setFirstAdminHandler(s.waitingHandler(nil)); err != nil {
		s.config.Log.Error("operators can't ask this node", "error", err)
	}
}

// waitingHandler is what operators can do meanwhile. With create they can complete a
// cluster that has no addresses yet.
func (s *server) waitingHandler(create func(context.Context, admin.NewCluster) error) http.Handler {
	w := s.waitingConfig()
	if w.Create = create; s.isOpen() {
		w.AcceptClock = s.node.AcceptClock
	}
	return admin.NewWaitingHandler(w)
}

func (s *server) waitingConfig() admin.Waiting {
	return admin.Waiting{Name: s.nodeName(), WaitReason: s.waitingFor, Status: s.overview, Now: s.config.Now, Log: s.config.Log}
}

// awaitClock returns when this node accepts its clock, or at once if it has peers.
// Meanwhile operators can accept the clock.
func (s *server) awaitClock(ctx context.Context) error {
	err := s.node.AwaitClock(ctx, func(why string) {
		s.setWaitReason(why)
		w := s.waitingConfig()
		w.AcceptClock = s.node.AcceptClock
		if err := s.setAdminHandler(admin.NewWaitingHandler(w)); err != nil {
			s.config.Log.Error("admin socket not opened", "error", err)
		}
	})
	if err == nil {
		s.setWaitReason("still starting")
	}
	return err
}

// overview is the cluster as far as this node knows it by now.
func (s *server) overview(ctx context.Context) admin.ClusterStatus {
	if !s.isOpen() {
		return admin.ClusterStatus{Name: s.nodeName()}
	}
	return statusOf(s.node.Overview(ctx))
}

// waitForInitialCluster is told for whom this node waits before it can found its
// cluster with them. Operators are told when they ask.
func (s *server) waitForInitialCluster(why string) {
	s.setWaitReason(why)
	no := refusal{errors.New("this node founds a cluster with others as soon as all of them run (mintmark cluster generate made it)")}
	err := s.setFirstAdminHandler(admin.NewSetupHandler(admin.Setup{
		Name:   s.config.Cluster.Name,
		Create: func(context.Context, admin.NewCluster) error { return no },
		Restore: func(context.Context, io.Reader, admin.RestoreOptions) (admin.RestoreReport, error) {
			return admin.RestoreReport{}, no
		},
		WaitReason: s.waitingFor,
		Log:        s.config.Log,
	}))
	if err != nil {
		s.config.Log.Error("operators can't ask this node", "error", err)
	}
}

// A startupHandler answers for a handler that is not there yet.
type startupHandler struct {
	handler atomic.Pointer[http.Handler]
	removed func() error // why nobody is served any more
}

func (f *startupHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := f.handler.Load(); h != nil && f.removed() == nil {
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
