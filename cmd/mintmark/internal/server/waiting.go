package server

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A node may have to wait before it can serve: for the other nodes of a static bootstrap,
// for a leader, or for an operator. Meanwhile it reports to clients and operators that it
// waits, and why.

// earlyClientWait is how long early clients wait for a starting node, before it answers
// that it does not serve yet.
const earlyClientWait = time.Second

// stillStarting is the reason of a node that starts and waits for no other node or operator.
const stillStarting = "still starting"

// setWaitReason records why this node waits, and returns whether the reason is another one
// than before.
func (s *Server) setWaitReason(why string) (changed bool) {
	before := s.waitReason.Swap(&why)
	changed = before == nil || *before != why
	if changed && why != stillStarting && s.config.Waiting != nil {
		s.config.Waiting(why)
	}
	return changed
}

// waitingFor returns why this node waits.
func (s *Server) waitingFor() string {
	if why := s.waitReason.Load(); why != nil {
		return *why
	}
	return stillStarting
}

// serveWhileStarting answers clients and operators while the node waits.
func (s *Server) serveWhileStarting() {
	select {
	case <-s.stopping:
		return
	case <-s.started:
		return
	default:
	}
	s.servePublic()
	if s.config.Cluster == nil {
		return // a standalone node offers operators nothing before it serves
	}
	if err := s.setFirstAdminHandler(s.waitingHandler(nil)); err != nil {
		s.config.Log.Error("admin socket not opened", "error", err)
	}
}

// waitingHandler handles operators' commands while the node waits. With create they can
// give addresses to a cluster without them.
func (s *Server) waitingHandler(create func(context.Context, admin.NewCluster) error) http.Handler {
	w := s.waitingConfig()
	if w.Create = create; s.isOpen() {
		w.AcceptClock = s.Node.AcceptClock
	}
	return admin.NewWaitingHandler(w)
}

func (s *Server) waitingConfig() admin.Waiting {
	return admin.Waiting{Name: s.nodeName(), WaitReason: s.waitingFor, Status: s.overview, Now: s.config.Now, Log: s.config.Log}
}

// awaitClock waits until a node without peers accepts its clock, which operators can do
// meanwhile. A node with peers does not wait.
func (s *Server) awaitClock(ctx context.Context) error {
	err := s.Node.AwaitClock(ctx, func(why string) {
		s.setWaitReason(why)
		w := s.waitingConfig()
		w.AcceptClock = s.Node.AcceptClock
		if err := s.setAdminHandler(admin.NewWaitingHandler(w)); err != nil {
			s.config.Log.Error("admin socket not opened", "error", err)
		}
	})
	if err == nil {
		s.setWaitReason(stillStarting)
	}
	return err
}

// overview returns the cluster as known by this node.
func (s *Server) overview(ctx context.Context) admin.ClusterStatus {
	if !s.isOpen() {
		return admin.ClusterStatus{Name: s.nodeName()}
	}
	return statusOf(s.Node.Overview(ctx))
}

// waitForInitialCluster records which nodes of a static bootstrap this node waits for,
// and makes the operators' socket report them.
func (s *Server) waitForInitialCluster(why string) {
	s.setWaitReason(why)
	no := refusal{ErrInitialNodes}
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
		s.config.Log.Error("admin socket not opened", "error", err)
	}
}

// A startupHandler answers 503 until its handler is set, and after the node was removed.
type startupHandler struct {
	handler atomic.Pointer[http.Handler]
	removed func() error // returns why the node no longer serves, or nil
}

func (f *startupHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := f.handler.Load(); h != nil && f.removed() == nil {
		(*h).ServeHTTP(w, r)
		return
	}
	writeUnavailable(w, http.StatusServiceUnavailable, "The server does not serve yet. Try again.")
}

// writeUnavailable writes an error of a request that reaches no endpoint.
func writeUnavailable(w http.ResponseWriter, status int, description string) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Retry-After", "1")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{
		"error": string(oauth.TemporarilyUnavailable), "error_description": description,
	})
}
