package cluster

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// ErrTwin says that another process runs as this node, and what to do about it.
var ErrTwin = errors.New("another process runs as this node, with a copy of its data folder: " +
	"stop one of them for good, delete its folder, and start the other one again")

// twinNews is what a peer last said of another run of this node.
type twinNews struct {
	other run
	by    string // name of the peer
	at    time.Time
	seen  time.Time // when the peer last heard from the duplicate
}

func (t *twinNews) err() error {
	return fmt.Errorf("%w (so says %s, of one that was started at %s)", ErrTwin, t.by, time.UnixMilli(t.other.Started).UTC().Format(time.RFC3339))
}

// Twin is nil, or wraps ErrTwin where this process was started later than
// another one that runs as this node: then it keeps away from the others.
func (n *Node) Twin() error {
	if t := n.yields.Load(); t != nil {
		return t.err()
	}
	return nil
}

func (n *Node) drawRun() error {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return fmt.Errorf("draw the number of a start: %w", err)
	}
	n.run = run{Started: n.config.Now().UnixMilli(), Number: binary.BigEndian.Uint64(b[:])}
	return nil
}

// question is the body of opStatus for a member.
func (n *Node) question(id string) ([]byte, error) {
	k := n.twins.ticketOf(id)
	q := statusQuery{Run: n.run, Ticket: k.given, Of: k.of}
	if why := n.ends.Load(); why != nil {
		q.Ends = *why
	}
	return encoding.Marshal(q)
}

// serveStatus answers opStatus.
func (n *Node) serveStatus(peer string, body []byte) reply {
	var q statusQuery
	s := n.status()
	if err := decoding.Unmarshal(body, &q); err != nil {
		return reply{replyFailed, fmt.Appendf(nil, "decode a question: %v", err)}
	}
	since := time.Duration(-1)
	if q.Of == n.run.Number {
		since = time.Duration(q.Ticket)
	}
	n.sawRun(peer, q.Run, since, n.twins.now())
	if n.remembered.asked(peer, q.Run, q.Ends) {
		n.log.Error("cluster: another node reported why it ends", "name", n.nameOf(peer), "error", q.Ends)
	}
	if other, unseen, ok := n.twins.of(peer, q.Run); ok {
		s.Twin, s.TwinUnseen = &other, unseen.Milliseconds()
	}
	s.Ticket = int64(n.twins.now())
	b, err := encoding.Marshal(s)
	if err != nil {
		return reply{replyFailed, []byte(err.Error())}
	}
	return reply{replyOK, b}
}

// heardRun is told what a peer says of its run, and of this node's.
func (n *Node) heardRun(id string, s *peerStatus, sent time.Duration) {
	n.twins.keepTicket(id, ticket{s.Ticket, s.Run.Number})
	n.sawRun(id, s.Run, sent, n.twins.now())
	if s.Twin != nil && *s.Twin != n.run {
		now := time.Now()
		n.hearOfTwin(&twinNews{*s.Twin, n.nameOf(id), now, now.Add(-time.Duration(s.TwinUnseen) * time.Millisecond)})
	}
}

func (n *Node) sawRun(id string, r run, since, now time.Duration) {
	if n.twins.saw(id, r, since, now) {
		n.log.Error("cluster: two processes run as one node, with copies of one data folder: stop one of them", "name", n.nameOf(id))
	}
}

// hearOfTwin has the later of two keep away, at once and for as long as it runs:
// its votes are not its own.
func (n *Node) hearOfTwin(t *twinNews) {
	if known := n.twin.Swap(t); known == nil || known.other != t.other {
		n.log.Error("cluster: "+ErrTwin.Error(), "says", t.by, "other_started", time.UnixMilli(t.other.Started).UTC(), "this_one_keeps_away", n.run.compare(t.other) > 0)
	}
	if n.run.compare(t.other) > 0 && n.yields.CompareAndSwap(nil, t) {
		n.network.isolate(awayAsTwin, true)
	}
}

// twinTrouble is told of a node while its twin was heard of a moment ago.
func (n *Node) twinTrouble() error {
	if err := n.Twin(); err != nil {
		return err
	}
	if t := n.twin.Load(); t != nil && time.Since(t.at) < twinMemory {
		return fmt.Errorf("%w%s", t.err(), lastSeen(time.Since(t.seen)))
	}
	return nil
}

// lastSeen is added to a message about a duplicate that was not heard from for
// unseen. It was probably stopped, and is still reported for twinMemory.
func lastSeen(unseen time.Duration) string {
	if unseen < twinSilence {
		return ""
	}
	return fmt.Sprintf("; duplicate last seen %s ago", unseen.Round(time.Second))
}
