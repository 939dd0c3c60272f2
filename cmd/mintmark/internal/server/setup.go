package server

import (
	"context"
	"fmt"
	"io"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/restore"
)

// openOnRequest waits until an operator creates a cluster, or restores one from a backup.
func (s *Server) openOnRequest(ctx context.Context, conf cluster.Config) error {
	if err := restore.RefuseExistingJournal(s.config.DataDir); err != nil {
		return err
	}
	asked := make(chan func() error)
	// do passes how to the waiting goroutine, and returns when the node serves.
	do := func(ctx context.Context, how func() error) error {
		select {
		case asked <- how:
		case <-s.stopping: // nobody receives after a failed attempt
		case <-ctx.Done():
		}
		return s.awaitStart(ctx)
	}
	s.setWaitReason("no cluster was created or joined yet")
	err := s.setAdminHandler(admin.NewSetupHandler(admin.Setup{
		Name: s.config.Cluster.Name, Log: s.config.Log,
		Create: func(request context.Context, c admin.NewCluster) error {
			if err := s.checkNewCluster(c); err != nil {
				return err
			}
			return do(request, func() error { return s.create(ctx, conf, c) })
		},
		Restore: func(request context.Context, in io.Reader, o admin.RestoreOptions) (admin.RestoreReport, error) {
			p, err := s.planRestore(in, o)
			if err != nil || o.DryRun {
				return RestoreReport(p), err
			}
			return RestoreReport(p), do(request, func() error { return s.restore(ctx, conf, p) })
		},
	}))
	if err != nil {
		return err
	}
	s.config.Log.Warn("no cluster found, waiting for an operator", "data_dir", s.config.DataDir, "error", admin.ErrNoCluster)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case how := <-asked:
		s.setWaitReason(stillStarting)
		return how()
	}
}

// awaitStart waits until the node serves.
func (s *Server) awaitStart(ctx context.Context) error {
	select {
	case <-s.started:
		return nil
	case <-s.stopping:
		return &admin.Problem{Class: admin.Internal, Text: fmt.Sprintf("the node could not start: %v", s.failure)}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// checkNewCluster refuses addresses that differ from those with which this node was
// started, before anything is written.
func (s *Server) checkNewCluster(c admin.NewCluster) error {
	return s.checkClusterSettings(ledger.Settings{BaseURL: c.PublicURL, AppURL: c.AppURL, Audience: c.PublicURL, PlainHTTP: c.PlainHTTP})
}

func (s *Server) checkClusterSettings(would ledger.Settings) error {
	if _, err := s.config.Settings(would, s.PublicAddr.String()); err != nil {
		return refusal{fmt.Errorf("this node would not serve such a cluster: %w", err)}
	}
	return nil
}

// create makes a new cluster. configure proposes its addresses when the node runs.
func (s *Server) create(ctx context.Context, conf cluster.Config, c admin.NewCluster) (err error) {
	if s.Keys, err = s.config.Key.Create(s.config.Log); err != nil {
		return err
	}
	s.config.PublicURL, s.config.AppURL, s.config.PlainHTTP = c.PublicURL, c.AppURL, c.PlainHTTP
	conf.Bootstrap = true
	return s.openWith(ctx, conf)
}
