package admin

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
)

// Setup is what a node can do that belongs to no cluster yet. It must be one
// of these: one that is created, or restored, and gets the operations of
// NewHandler instead; or one that joins another by itself, which can do neither.
type Setup struct {
	Name string // of this node
	// Create makes a cluster of one and returns when it serves. It is called
	// once at a time, and not again when it has returned nil. Nil on a node that
	// is to join another. Its context outlives a client that does not wait: half
	// a cluster is of no use to anybody.
	Create func(ctx context.Context, c NewCluster) error
	// Restore is Create with the state of a backup. It reads to the end of the
	// file that came; an error of reading says that only a part came. A dry run
	// makes nothing.
	Restore func(ctx context.Context, backup io.Reader, o RestoreOptions) (RestoreReport, error)
	// WaitReason says what a node that is to join waits for, "" if for nothing in
	// particular. May be nil.
	WaitReason func() string
	Log        *slog.Logger // default: slog.Default()
}

// NewSetupHandler serves the operations of a node that belongs to no cluster
// yet.
func NewSetupHandler(s Setup) http.Handler {
	p := &setup{Setup: s}
	byName := make(map[string]route, len(routes))
	not := refuseUninitialized
	if s.Create == nil {
		not = refuseNotJoined
	}
	for _, r := range routes {
		byName[r.name] = route{r.name, not}
	}
	for _, r := range []route{
		operationRoute(InitCluster, p.init), operationRoute(ShowCluster, p.status), uploadRoute(restoreBackup, p.restore),
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
	return nil, &Problem{Class: Unavailable, Text: "this node belongs to no cluster yet: mintmark cluster init, or start it with --join"}
}

func refuseNotJoined(*call, http.ResponseWriter, *http.Request) (any, error) {
	return nil, &Problem{Class: Unavailable, Text: "this node joins a cluster, and is no member yet: mintmark cluster status says what it waits for"}
}

// setup is a Setup that happens at most once.
type setup struct {
	Setup
	mu      sync.Mutex // held while a cluster is made
	created bool
}

// once does what makes a cluster, unless somebody else does or did. A dry run,
// for which do returns false, may be followed by another.
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

var errJoining = &Problem{Class: Refused, Text: "this node was started to join a cluster (see --join)"}

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
	problem := "created by no cluster init and joined to none yet"
	if s.Create == nil {
		problem = "this node joins a cluster, and is no member yet"
	}
	if s.WaitReason != nil {
		if why := s.WaitReason(); why != "" {
			problem += ": " + why
		}
	}
	return ClusterStatus{
		Name: s.Name, Problems: []string{problem}, Nodes: []ClusterNode{}, Keys: []ClusterKey{},
	}, nil
}
