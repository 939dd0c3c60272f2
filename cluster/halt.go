package cluster

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A halt is time in which nothing could be decided: there was no leader, the leader
// had no majority or refused to stamp, or all nodes were stopped. Some rules, such
// as the retry window, must not count it, so the leader that ends a halt writes its
// length to the log. Time in which no command was proposed is no halt: live.go
// explains how the two are told apart.

const (
	// leastHalt is the shortest halt that is written to the log. What nodes know of
	// each other may be two rounds of status queries old.
	leastHalt = 2 * watchdogInterval
)

// recordLive records that this node, as the leader, decides at the stamp at. If that
// ends a halt, it puts the halt into the log first. buildEntries calls it before
// each entry, so that no command is decided before the halt.
func (n *Node) recordLive(at int64) {
	n.live.haltMu.Lock()
	defer n.live.haltMu.Unlock()
	// Without Config.Elapsed the clock may be set at will, as in tests. A step of it
	// while this node leads is no halt.
	from, length := n.live.record(at, n.core.StateTime(), n.config.Elapsed != nil)
	if length < leastHalt {
		return
	}
	var id command.ID
	err := n.newCommandID(&id)
	var entry []byte
	if err == nil {
		entry, err = n.core.HaltEntry(id, at, length.Milliseconds())
	}
	if err != nil {
		n.log.Warn("cluster: the length of an outage was not recorded, it counts against retries", "error", err)
		return
	}
	n.log.Info("cluster: nothing could be decided for a while", "took", length.Round(time.Millisecond))
	future := n.raft.Apply(entry, n.config.QueueTimeout/2)
	n.running.Go(func() {
		if future.Error() != nil {
			n.live.reset(from) // the next leader, or this one, tries again
		}
	})
}

// Halted returns the sum of all halts, in milliseconds, as of the state that this
// node has applied. It may be newer than a View taken before. See Meta.Halted.
func (n *Node) Halted() int64 { return n.core.Halted() }

// collectLive asks the voters until when commands could be decided, and has this node,
// which is about to lead, go on from the newest answer. It returns false if no
// majority answers. A leader decides only while a majority hears from it, so any
// majority has a voter that knows the last moment. If fewer than a majority know
// one, this node starts from its own clock, and no halt is recorded.
func (n *Node) collectLive() bool {
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	type answer struct {
		live int64
		err  error
	}
	voters := n.Voters()
	answers := make(chan answer, len(voters))
	for _, id := range voters {
		n.running.Go(func() {
			s, err := n.askStatus(ctx, id)
			answers <- answer{s.Live, err}
		})
	}
	answered, known, newest := 0, 0, int64(0)
	for range voters {
		a := <-answers
		if a.err != nil {
			continue
		}
		answered++
		if a.live > 0 {
			known, newest = known+1, max(newest, a.live)
		}
		if known > len(voters)/2 {
			n.live.reset(newest)
			return true
		}
	}
	n.live.reset(n.config.Now().UnixMilli())
	return answered > len(voters)/2
}
