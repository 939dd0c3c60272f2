package cluster

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// maxEntriesInFlight is how many entries may be on their way through the log. With
// two, one is built and stored while the other is applied; more would only make
// entries smaller.
const maxEntriesInFlight = 2

// buildEntries puts the commands that wait together into one log entry: one
// write, one fsync and one transaction for all of them.
func (n *Node) buildEntries() {
	defer close(n.built)
	var next *request // left over from the entry before
	for {
		// First a place, then commands: they gather while the entries before are
		// stored, and what was not taken can be withdrawn.
		select {
		case n.entries <- struct{}{}:
		case <-n.stopped:
			return
		}
		first := n.takeFirst(next)
		if first == nil {
			<-n.entries
			return
		}
		var batch []*request
		batch, next = n.gather(first)
		n.propose(batch)
	}
}

// takeFirst waits for a command. It returns nil when the node closes and none
// waits any more.
func (n *Node) takeFirst(next *request) *request {
	if next != nil && next.take() {
		return next
	}
	for {
		select {
		case r := <-n.queue:
			if r.take() {
				return r
			}
			continue
		default:
		}
		select {
		case r := <-n.queue:
			if r.take() {
				return r
			}
		case <-n.closing:
			if len(n.queue) == 0 {
				return nil
			}
		}
	}
}

// gather returns first and what waits behind it, up to the size of an entry, and
// the one that did not fit.
func (n *Node) gather(first *request) (batch []*request, next *request) {
	batch = append(make([]*request, 0, min(1+len(n.queue), machine.MaxCommands)), first)
	size := entryOverhead + commandSize(first)
	for len(batch) < machine.MaxCommands {
		select {
		case r := <-n.queue:
			if size += commandSize(r); size > machine.MaxBatch {
				return batch, r
			}
			if r.take() {
				batch = append(batch, r)
			}
		default:
			return batch, nil
		}
	}
	return batch, nil
}

// The most bytes that an entry, and a command beside its body, take.
const (
	entryOverhead   = 1 + 3
	commandOverhead = 1 + 3 + 1 + 17 + 9 + 5
)

func commandSize(r *request) int { return commandOverhead + len(r.command.Body) }

// propose stamps the commands, gives them to raft as one entry, and has them
// answered when raft is done with it.
func (n *Node) propose(batch []*request) {
	size := entryOverhead
	for _, r := range batch {
		size += commandSize(r)
	}
	entry := machine.AppendBatch(make([]byte, 0, size), len(batch))
	at, err := n.stamp()
	if err != nil {
		for _, r := range batch {
			r.answer(nil, 0, err)
		}
		<-n.entries
		return
	}
	n.recordLive(at)
	for _, r := range batch {
		r.command.At = at
		entry = machine.AppendCommand(entry, &r.command)
	}
	future := n.apply(entry)
	go func() {
		// Not await: whoever waits for an answer also waits for n.stopped.
		n.answer(batch, future, future.Error())
		<-n.entries // last, because Close takes a free place for an answered entry
	}()
}

func (n *Node) apply(entry []byte) raft.ApplyFuture {
	if n.config.hooks.apply != nil {
		return n.config.hooks.apply(n.raft, entry)
	}
	return n.raft.Apply(entry, n.config.QueueTimeout/2)
}

// answer tells every proposer what became of its command.
func (n *Node) answer(batch []*request, future raft.ApplyFuture, err error) {
	if err != nil {
		err = classifyApplyError(err)
		for _, r := range batch {
			r.answer(nil, 0, err)
		}
		return
	}
	outcomes, _ := future.Response().([]machine.Outcome)
	if len(outcomes) != len(batch) {
		panic(fmt.Sprintf("cluster: %d outcomes for %d commands", len(outcomes), len(batch)))
	}
	index := future.Index()
	for i, r := range batch {
		r.answer(outcomes[i].Value, index, nil)
	}
}

// classifyApplyError says whether an entry that raft refused may be in the log. raft checks
// these before it appends; every other error may come after.
func classifyApplyError(err error) error {
	for _, elsewhere := range []error{raft.ErrNotLeader, raft.ErrLeadershipTransferInProgress} {
		if errors.Is(err, elsewhere) {
			return fmt.Errorf("%w: %w: %w", ErrUnavailable, errNotLeading, err)
		}
	}
	if errors.Is(err, raft.ErrEnqueueTimeout) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w", ErrUnknown, err)
}
