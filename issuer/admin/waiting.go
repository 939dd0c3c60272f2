package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/status"
)

// A Waiting has the operations of a node that does not serve yet although it belongs to a
// cluster, or will once the nodes that it waits for have started.
type Waiting struct {
	// WaitReason returns what the node waits for.
	WaitReason func() string
	// Status returns the status of the cluster, if the node has one. It may be nil.
	Status func(ctx context.Context) ClusterStatus
	Name   string // of this node, used if there is no Status
	// Create completes a cluster that has no addresses yet, and returns once it serves.
	// It is nil if something else is missing.
	Create func(ctx context.Context, c NewCluster) error
	// AcceptClock makes the node trust its clock. It is nil before the node has read its data.
	AcceptClock func() error
	Now         func() time.Time
	Log         *slog.Logger // default: slog.Default()
}

// NewWaitingHandler serves the operations of a node that waits.
func NewWaitingHandler(w Waiting) http.Handler {
	refuse := func(*call, http.ResponseWriter, *http.Request) (any, error) {
		return nil, &Problem{Class: Unavailable, Text: w.problem()}
	}
	byName := make(map[string]route, len(routes))
	for _, r := range routes {
		byName[r.name] = r.with(refuse)
	}
	for _, r := range []route{operationRoute(localOnly, ShowCluster, w.status), operationRoute(localOnly, InitCluster, w.init), operationRoute(localOnly, AcceptClock, w.acceptClock)} {
		byName[r.name] = r
	}
	all := make([]route, 0, len(byName))
	for _, r := range byName {
		all = append(all, r)
	}
	return newHandler(Config{Log: w.Log}, all)
}

func (w *Waiting) problem() string { return "this node does not serve yet: " + w.WaitReason() }

func (w *Waiting) status(_ *call, ctx context.Context, _ StatusQuery) (ClusterStatus, error) {
	s := ClusterStatus{Name: w.Name}
	if w.Status != nil {
		s = w.Status(ctx)
		s.Problems, s.Tolerance = s.problems(w.Now()), toleranceOf(s.Nodes)
	}
	if s.Removed == "" {
		s.Problems = append([]string{w.problem()}, s.Problems...)
	}
	s.Nodes, s.Keys = append([]status.Node{}, s.Nodes...), []ClusterKey{}
	return s, nil
}

func (w *Waiting) init(c *call, ctx context.Context, q NewCluster) (CreatedCluster, error) {
	if w.Create == nil {
		return CreatedCluster{}, errAlreadyMember
	}
	q, err := q.complete()
	if err != nil {
		return CreatedCluster{}, err
	}
	if err := w.Create(context.WithoutCancel(ctx), q); err != nil {
		return CreatedCluster{}, fmt.Errorf("create a cluster: %w", err)
	}
	c.done("cluster", w.Name)
	return CreatedCluster(q), nil
}

func (w *Waiting) acceptClock(c *call, _ context.Context, _ ClockAcceptance) (Done, error) {
	if w.AcceptClock == nil {
		return Done{}, &Problem{Class: Unavailable, Text: w.problem()}
	}
	if err := w.AcceptClock(); err != nil {
		return Done{}, fmt.Errorf("accept the clock: %w", err)
	}
	return c.done(nodeSubject(w.Name), w.Name), nil
}

// complete returns q with the address of the pages, which defaults to that of the API.
func (q NewCluster) complete() (NewCluster, error) {
	if q.AppURL == "" {
		q.AppURL = q.PublicURL
	}
	return q, errors.Join(q.checkOrigin("public_url", q.PublicURL), q.checkOrigin("app_url", q.AppURL))
}
