package cluster

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/transport"
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
func (l *liveness) recordLive(at int64) {
	l.haltMu.Lock()
	defer l.haltMu.Unlock()
	// Without Config.Elapsed the clock may be set at will, as in tests. A step of it
	// while this node leads is no halt.
	from, length := l.record(at, l.core.StateTime(), l.countOwn)
	if length < leastHalt {
		return
	}
	var id command.ID
	err := l.newID(&id)
	var entry []byte
	if err == nil {
		entry, err = l.core.HaltEntry(id, at, length.Milliseconds())
	}
	if err != nil {
		l.log.Warn("outage not recorded, it counts against retries", "error", err)
		return
	}
	l.log.Info("outage ended", "took", length.Round(time.Millisecond))
	future := l.apply(entry)
	l.run(func() {
		if transport.Await(future, l.stopped) != nil {
			l.reset(from) // the next leader, or this one, tries again
		}
	})
}

// collect asks the voters until when commands could be decided. This node, which is
// about to lead, goes on from the newest answer. It returns false if no
// majority answers, and then changes nothing, so that the next attempt still finds the
// halt. A leader decides only while a majority hears from it, so any majority has a voter
// that knows the last moment. If a majority answers and less than a majority knows one,
// this node starts from its own clock, and no halt is recorded.
func (l *liveness) collect() bool {
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	type answer struct {
		live int64
		err  error
	}
	voters := l.leader.Voters()
	answers := make(chan answer, len(voters))
	for _, id := range voters {
		l.run(func() {
			s, err := l.statuses.ask(ctx, id)
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
			l.reset(newest)
			return true
		}
	}
	if answered <= len(voters)/2 {
		return false
	}
	l.reset(l.now().UnixMilli())
	return true
}
