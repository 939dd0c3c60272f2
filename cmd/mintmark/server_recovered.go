package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// recoveredPause is between two tries to begin the life of a recovered cluster.
const recoveredPause = 200 * time.Millisecond

// beginRecovered begins another life in the only node that is left of a cluster,
// before it serves: the nodes that are lost may have used the positions that it
// uses from now on, and their journals tell of other commands there. The folder
// says that it was recovered until the cluster knows its life and the journal
// says so.
func (s *server) beginRecovered(ctx context.Context) error {
	dir := filepath.Join(s.config.DataDir, "raft")
	r, err := cluster.Recovered(dir)
	if err != nil || r == nil {
		return err
	}
	command := &ledger.BeginLife{Next: &ledger.Life{ID: r.ID, From: r.Seq + 1}}
	// The sole voter has its program's level as soon as it is open. One that was
	// stopped when another node had just joined waits for that one.
	if err := s.node.AwaitLevel(ctx, command.Kind().Level()); err != nil {
		return err
	}
	index, err := decide(ctx, s.node, command)
	for (errors.Is(err, cluster.ErrUnavailable) || errors.Is(err, cluster.ErrUnknown)) && ctx.Err() == nil {
		s.linger(ctx, recoveredPause)
		index, err = decide(ctx, s.node, command)
	}
	if err != nil {
		return err
	}
	txn, err := s.node.ViewAt(ctx, index)
	if err != nil {
		return err
	}
	if err := s.writeLabel(ledger.At(txn)); err != nil {
		return err
	}
	s.config.Log.Warn("this node was recovered: another life of the cluster begins", "from", command.Next.From)
	return cluster.ForgetRecovery(dir)
}
