package cluster

import (
	"bytes"
	"context"
	"time"

	"github.com/hashicorp/go-memdb"
)

// A halt is time in which nothing could be decided: nobody led, the leader had no
// majority or refused to stamp, all nodes were stopped. Some rules must not count
// it, so the leader that ends a halt says in the log how long it was. That nobody
// asked for anything is no halt: see live.go for how the two are told apart.

const (
	// leastHalt is the least that is told. What nodes know of each other is up to
	// two rounds of questions old.
	leastHalt = 2 * guardInterval
	// mostHalt is the most of one halt that counts: who comes back later than that
	// finds the rules as if the rest had passed.
	mostHalt = 24 * time.Hour
)

// endHalt adds a halt to those before it.
type endHalt struct {
	Length int64 `cbor:"1,keyasint"` // ms
}

func (*endHalt) Kind() Kind { return kindHalt }

// Decide writes the status row, from which core takes the sum.
func (c *endHalt) Decide(txn *memdb.Txn, _ Meta) Decision {
	s := readStatus(txn)
	s.Halted += min(max(c.Length, 0), mostHalt.Milliseconds())
	return acceptMember("", Change{Table: statusTable, Row: &s})
}

// haltEntry is the log entry of an endHalt.
func (s *schema) haltEntry(id CommandID, at, length int64) ([]byte, error) {
	var buf bytes.Buffer
	c, err := s.seal(&endHalt{Length: length}, id, false, &buf)
	if err != nil {
		return nil, err
	}
	c.at = at
	return appendCommand(appendBatch(nil, 1), &c), nil
}

// goesOn notes that this node, which leads, decides at a time. Where that ends a
// halt it puts the halt into the log first. The builder of entries calls it before
// each one, so that no command is decided before.
func (n *Node) goesOn(at int64) {
	n.live.telling.Lock()
	defer n.live.telling.Unlock()
	// A clock that may be set at will, as in tests, tells nothing about a halt while
	// this node goes on leading.
	from, length := n.live.decided(at, n.core.at.Load(), n.config.Elapsed != nil)
	if length < leastHalt {
		return
	}
	var id CommandID
	err := n.newCommandID(&id)
	var entry []byte
	if err == nil {
		entry, err = n.core.schema.haltEntry(id, at, length.Milliseconds())
	}
	if err != nil {
		n.log.Warn("cluster: the time in which nothing could be decided is not told", "error", err)
		return
	}
	n.log.Info("cluster: nothing could be decided for a while", "took", length.Round(time.Millisecond))
	future := n.raft.Apply(entry, n.config.QueueTimeout/2)
	n.running.Go(func() {
		if future.Error() != nil {
			n.live.goBack(from) // whoever leads next tells it
		}
	})
}

// Halted is the sum of all halts, in milliseconds, as a View of a moment ago or a
// newer one has it. See Meta.Halted.
func (n *Node) Halted() int64 { return n.core.halted.Load() }

// heardLive asks a majority of the voters until when commands could be decided, and
// has this node, which is about to lead, go on from there. It is false where no
// majority answers. Whatever was decided was so by a leader of whom a majority
// heard within moments, so at least one of these knows; where fewer than a
// majority knows anything, no halt is told.
func (n *Node) heardLive() bool {
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
			n.live.goBack(newest)
			return true
		}
	}
	n.live.goBack(n.config.Now().UnixMilli())
	return answered > len(voters)/2
}
