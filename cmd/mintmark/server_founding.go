package main

import (
	"context"
	"errors"
	"io"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// waitForFounders is told for whom this node waits before it can found its
// cluster with them. Operators are told when they ask.
func (s *server) waitForFounders(why string) {
	s.waitsFor.Store(&why)
	if s.admin != nil {
		return
	}
	no := refusal{errors.New("this node founds a cluster with others as soon as all of them run (mintmark cluster generate made it)")}
	err := s.answerOperators(admin.NewSetupHandler(admin.Setup{
		Name:   s.config.Cluster.Name,
		Create: func(context.Context, admin.NewCluster) error { return no },
		Restore: func(context.Context, io.Reader, admin.RestoreOptions) (admin.RestoreReport, error) {
			return admin.RestoreReport{}, no
		},
		Waiting: func() string { return *s.waitsFor.Load() },
		Log:     s.config.Log,
	}))
	if err != nil {
		s.config.Log.Error("operators can't ask this node", "error", err)
	}
}
