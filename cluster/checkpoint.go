package cluster

import (
	"errors"
	"time"

	"github.com/hashicorp/raft-wal/verifier"

	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// writeCheckpoints has the leader mark the log from time to time, which makes the
// verifier of every node read back what was written since the last mark.
func (n *Node) writeCheckpoints() {
	ticker := time.NewTicker(n.config.CheckpointInterval)
	defer ticker.Stop()
	var last uint64
	for {
		select {
		case <-ticker.C:
		case <-n.closing:
			return
		}
		leading, _ := n.Leading()
		if !leading || n.raft.LastIndex() == last {
			continue // an idle cluster writes nothing
		}
		future := n.raft.Apply(machine.CheckpointEntry(), n.config.QueueTimeout)
		if transport.Await(future, n.stopped) == nil {
			last = future.Index()
		}
	}
}

// handleVerification is called by the verifier after each range.
func (n *Node) handleVerification(r verifier.VerificationReport) {
	var mismatch verifier.ErrChecksumMismatch
	switch {
	case r.Err == nil:
		n.checks.corrupt.Store(nil)
	case errors.Is(r.Err, verifier.ErrRangeMismatch):
		// The range was compacted away before it could be read.
	case errors.As(r.Err, &mismatch):
		n.checks.corrupt.Store(&r.Err)
		n.log.Error("log damaged on disk", "error", r.Err)
	default:
		if !n.isClosing() {
			n.log.Warn("log not verified", "error", r.Err)
		}
	}
	if n.config.hooks.Report != nil {
		n.config.hooks.Report(r.Err)
	}
}
