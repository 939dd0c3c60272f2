package admin

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/mintmark-auth/mintmark/cluster/status"
)

// A Setup has the operations of a node that belongs to no cluster yet. The node either is
// created or restored, and then gets the operations of NewHandler; or it joins a cluster
// by itself, and Create and Restore are nil.
type Setup struct {
	Name string // of this node
	// Create creates a cluster of one node and returns once it serves. It is not called
	// concurrently, and not again after it returned nil. It is nil on a node that joins a
	// cluster. Its context outlives a client that disconnects, since a partly created
	// cluster is useless.
	Create func(ctx context.Context, c NewCluster) error
	// Restore is like Create, with the state of a backup. It reads the file to its end; a
	// read error reports that the file is incomplete. A dry run creates nothing.
	Restore func(ctx context.Context, backup io.Reader, o RestoreOptions) (RestoreReport, error)
	// WaitReason returns what a joining node waits for, or "". It may be nil.
	WaitReason func() string
	Log        *slog.Logger // default: slog.Default()
}

// NewSetupHandler serves the operations of a node that belongs to no cluster yet.
func NewSetupHandler(s Setup) http.Handler {
	p := &setup{Setup: s}
	byName := make(map[string]route, len(routes))
	not := refuseUninitialized
	if s.Create == nil {
		not = refuseNotJoined
	}
	for _, r := range routes {
		byName[r.name] = r.with(not)
	}
	for _, r := range []route{
		operationRoute(localOnly, InitCluster, p.init), operationRoute(localOnly, ShowCluster, p.status), uploadRoute(localOnly, restoreBackup, p.restore),
	} {
		byName[r.name] = r
	}
	all := make([]route, 0, len(byName))
	for _, r := range byName {
		all = append(all, r)
	}
	return newHandler(Config{Log: s.Log}, all)
}

func refuseUninitialized(*call, http.ResponseWriter, *http.Request) (any, error) {
	return nil, ofError(Unavailable, ErrNoCluster)
}

func refuseNotJoined(*call, http.ResponseWriter, *http.Request) (any, error) {
	return nil, ofError(Unavailable, ErrNotJoined)
}

// A setup is a Setup that is completed at most once.
type setup struct {
	Setup
	mu      sync.Mutex // held while a cluster is created
	created bool
}

// once calls do, unless another call is in progress or has succeeded. After a dry run,
// for which do returns false, it may be called again.
func (s *setup) once(do func() (created bool, err error)) error {
	if !s.mu.TryLock() {
		return &Problem{Class: Unavailable, Text: "this node is being made a cluster"}
	}
	defer s.mu.Unlock()
	if s.created {
		return errAlreadyMember
	}
	created, err := do()
	s.created = created && err == nil
	return err
}

var errJoining = ofError(Refused, ErrJoining)

func (s *setup) init(c *call, ctx context.Context, q NewCluster) (CreatedCluster, error) {
	if s.Create == nil {
		return CreatedCluster{}, errJoining
	}
	q, err := q.complete()
	if err != nil {
		return CreatedCluster{}, err
	}
	err = s.once(func() (bool, error) { return true, s.Create(context.WithoutCancel(ctx), q) })
	if err != nil {
		return CreatedCluster{}, fmt.Errorf("create a cluster: %w", err)
	}
	c.done("cluster", s.Name)
	return CreatedCluster(q), nil
}

func (s *setup) restore(c *call, ctx context.Context, q restoreQuery, in io.Reader) (RestoreReport, error) {
	if s.Restore == nil {
		return RestoreReport{}, errJoining
	}
	o, err := q.options(in)
	if err != nil {
		return RestoreReport{}, err
	}
	var report RestoreReport
	err = s.once(func() (bool, error) {
		var err error
		report, err = s.Restore(context.WithoutCancel(ctx), in, o)
		return !o.DryRun, err
	})
	if err != nil {
		return RestoreReport{}, fmt.Errorf("restore a backup: %w", err)
	}
	report.DryRun, report.Changes, report.Covered = o.DryRun, notNil(report.Changes), notNil(report.Covered)
	report.Skipped, report.NotDone, report.Warnings = notNil(report.Skipped), notNil(report.NotDone), notNil(report.Warnings)
	if !o.DryRun {
		c.done("cluster", s.Name)
	}
	return report, nil
}

func (s *setup) status(*call, context.Context, StatusQuery) (ClusterStatus, error) {
	problem := ErrNoCluster.Error()
	if s.Create == nil {
		problem = ErrNotJoined.Error()
	}
	if s.WaitReason != nil {
		if why := s.WaitReason(); why != "" {
			problem += ": " + why
		}
	}
	return ClusterStatus{
		Name: s.Name, Problems: []string{problem}, Nodes: []status.Node{}, Keys: []ClusterKey{},
	}, nil
}
