package cluster

import (
	"context"
	"fmt"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// localReplay is what an fsm has of the log before raft gives it anything.
type localReplay struct {
	ready   chan struct{} // closed when it is applied
	through uint64        // index of its last entry; set before ready is closed, then the fsm's
}

// replayBatchSize is how many entries are applied in one transaction.
const replayBatchSize = 64

// runLocalReplay applies the log after the snapshot that raft began with, as far as it
// is known to be committed. Raft runs meanwhile, and votes; what it would apply
// waits.
func (n *Node) runLocalReplay(f *fsm, upTo uint64) {
	defer close(f.replay.ready)
	index := f.restoredIndex
	if first, err := n.folder.Store.Logs.FirstIndex(); err != nil || first > index+1 {
		return // it is for raft to say what is wrong
	}
	for index < upTo && !n.isClosing() {
		last := min(index+replayBatchSize, upTo)
		if err := n.replayEntries(index+1, last); err != nil {
			n.config.Fatal(fmt.Errorf("replay the log: %w", err))
			return
		}
		index = last
		f.replay.through = index
	}
}

func (n *Node) replayEntries(from, to uint64) error {
	var steps []machine.Entry
	for index := from; index <= to; index++ {
		var l raft.Log
		if err := n.folder.Store.Logs.GetLog(index, &l); err != nil {
			return fmt.Errorf("log entry %d: %w", index, err)
		}
		if l.Type == raft.LogCommand {
			steps = append(steps, machine.Entry{Index: l.Index, Data: l.Data})
		}
	}
	if len(steps) == 0 {
		return nil
	}
	return n.core.Apply(steps)
}

// awaitLocalReplay returns when a view shows all that this node knows by itself.
func (n *Node) awaitLocalReplay(ctx context.Context, f *fsm) error {
	select {
	case <-f.replay.ready:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("replay the log: %w", ctx.Err())
	}
}
