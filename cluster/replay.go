package cluster

import (
	"context"
	"fmt"

	"github.com/hashicorp/raft"
)

// replayed is what an fsm has of the log before raft gives it anything.
type replayed struct {
	ready   chan struct{} // closed when it is applied
	through uint64        // index of its last entry; set before ready is closed, then the fsm's
}

// replayChunk is how many entries are applied in one transaction.
const replayChunk = 64

// replay applies the log after the snapshot that raft began with, as far as it
// is known to be committed. Raft runs meanwhile, and votes; what it would apply
// waits.
func (n *Node) replay(f *fsm, upTo uint64) {
	defer close(f.replayed.ready)
	index := f.begun
	if first, err := n.stores.logs.FirstIndex(); err != nil || first > index+1 {
		return // it is for raft to say what is wrong
	}
	for index < upTo && !n.isClosing() {
		last := min(index+replayChunk, upTo)
		if err := n.replayEntries(index+1, last); err != nil {
			n.config.Fatal(fmt.Errorf("replay the log: %w", err))
			return
		}
		index = last
		f.replayed.through = index
	}
}

func (n *Node) replayEntries(from, to uint64) error {
	var steps []step
	for index := from; index <= to; index++ {
		var l raft.Log
		if err := n.stores.logs.GetLog(index, &l); err != nil {
			return fmt.Errorf("log entry %d: %w", index, err)
		}
		if l.Type == raft.LogCommand {
			steps = append(steps, step{index: l.Index, data: l.Data})
		}
	}
	if len(steps) == 0 {
		return nil
	}
	return n.core.apply(steps)
}

// awaitReplay returns when a view shows all that this node knows by itself.
func (n *Node) awaitReplay(ctx context.Context, f *fsm) error {
	select {
	case <-f.replayed.ready:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("replay the log: %w", ctx.Err())
	}
}
