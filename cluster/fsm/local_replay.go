package fsm

import (
	"context"
	"fmt"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// localReplay is what an FSM has of the log before raft gives it anything.
type localReplay struct {
	ready   chan struct{} // closed when the entries are applied
	through uint64        // index of the last of them; set before ready is closed, then the FSM's
}

// replayBatchSize is how many entries are applied in one transaction.
const replayBatchSize = 64

// Replay applies the log after the snapshot that raft began with, up to the index
// committed, until stopped returns true. raft runs and votes meanwhile; what it would
// apply waits. Replay is called once.
func (f *FSM) Replay(logs raft.LogStore, committed uint64, stopped func() bool) {
	defer close(f.replay.ready)
	index := f.restoredIndex
	if first, err := logs.FirstIndex(); err != nil || first > index+1 {
		return // raft reports what is wrong
	}
	for index < committed && !stopped() {
		last := min(index+replayBatchSize, committed)
		if err := f.replayEntries(logs, index+1, last); err != nil {
			f.fatal(fmt.Errorf("replay the log: %w", err))
			return
		}
		index = last
		f.replay.through = index
	}
}

// SkipReplay is called instead of Replay where the log is applied from its beginning.
func (f *FSM) SkipReplay() { close(f.replay.ready) }

func (f *FSM) replayEntries(logs raft.LogStore, from, to uint64) error {
	var steps []machine.Entry
	for index := from; index <= to; index++ {
		var l raft.Log
		if err := logs.GetLog(index, &l); err != nil {
			return fmt.Errorf("log entry %d: %w", index, err)
		}
		if l.Type == raft.LogCommand {
			steps = append(steps, machine.Entry{Index: l.Index, Data: l.Data})
		}
	}
	if len(steps) == 0 {
		return nil
	}
	return f.core.Apply(steps)
}

// AwaitReplay returns when a view shows everything that this node knows by itself.
func (f *FSM) AwaitReplay(ctx context.Context) error {
	select {
	case <-f.replay.ready:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("replay the log: %w", ctx.Err())
	}
}
