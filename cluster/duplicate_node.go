package cluster

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// duplicateReport is what a peer last said of another run of this node.
type duplicateReport struct {
	other    integrity.Incarnation
	by       string // name of the peer
	at       time.Time
	lastSeen time.Time // when the peer last heard from the duplicate
}

func (t *duplicateReport) err() error {
	return fmt.Errorf("%w (so says %s, of one that was started at %s)", member.ErrDuplicateNode, t.by, time.UnixMilli(t.other.Started).UTC().Format(time.RFC3339))
}

// Duplicate is nil, or wraps ErrDuplicateNode where this process was started later than
// another one that runs as this node: then it keeps away from the others.
func (n *Node) Duplicate() error {
	if t := n.isolatedDuplicate.Load(); t != nil {
		return t.err()
	}
	return nil
}

func (n *Node) initIncarnation() error {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return fmt.Errorf("generate incarnation: %w", err)
	}
	n.incarnation = integrity.Incarnation{Started: n.config.Now().UnixMilli(), Number: binary.BigEndian.Uint64(b[:])}
	return nil
}

// newStatusQuery is the body of OpStatus for a member.
func (n *Node) newStatusQuery(id string) ([]byte, error) {
	k := n.incarnations.Token(id)
	q := statusQuery{Incarnation: n.incarnation, Token: k.Value, TokenOf: k.Incarnation}
	if why := n.exitReason.Load(); why != nil {
		q.ExitReason = *why
	}
	return machine.Marshal(q)
}

// serveStatus answers OpStatus.
func (n *Node) serveStatus(peer string, body []byte) transport.Reply {
	var q statusQuery
	s := n.status()
	if err := machine.Unmarshal(body, &q); err != nil {
		return transport.Reply{Status: transport.ReplyFailed, Body: fmt.Appendf(nil, "decode a question: %v", err)}
	}
	since := time.Duration(-1)
	if q.TokenOf == n.incarnation.Number {
		since = time.Duration(q.Token)
	}
	n.observeIncarnation(peer, q.Incarnation, since, n.incarnations.Now())
	if n.rollbackDetector.RecordStatusRequest(peer, q.Incarnation, q.ExitReason) {
		n.log.Error("cluster: another node reported why it ends", "name", n.nameOf(peer), "error", q.ExitReason)
	}
	if other, unseen, ok := n.incarnations.DuplicateOf(peer, q.Incarnation); ok {
		s.Duplicate, s.DuplicateUnseen = &other, unseen.Milliseconds()
	}
	s.Token = int64(n.incarnations.Now())
	b, err := machine.Marshal(s)
	if err != nil {
		return transport.Reply{Status: transport.ReplyFailed, Body: []byte(err.Error())}
	}
	return transport.Reply{Status: transport.ReplyOK, Body: b}
}

// recordIncarnation is told what a peer says of its run, and of this node's.
func (n *Node) recordIncarnation(id string, s *peerStatus, sent time.Duration) {
	n.incarnations.SetToken(id, integrity.StatusToken{Value: s.Token, Incarnation: s.Incarnation.Number})
	n.observeIncarnation(id, s.Incarnation, sent, n.incarnations.Now())
	if s.Duplicate != nil && *s.Duplicate != n.incarnation {
		now := time.Now()
		n.handleDuplicate(&duplicateReport{*s.Duplicate, n.nameOf(id), now, now.Add(-time.Duration(s.DuplicateUnseen) * time.Millisecond)})
	}
}

func (n *Node) observeIncarnation(id string, r integrity.Incarnation, since, now time.Duration) {
	if n.incarnations.Observe(id, r, since, now) {
		n.log.Error("cluster: two processes run as one node, with copies of one data folder: stop one of them", "name", n.nameOf(id))
	}
}

// handleDuplicate has the later of two keep away, at once and for as long as it runs:
// its votes are not its own.
func (n *Node) handleDuplicate(t *duplicateReport) {
	if known := n.duplicate.Swap(t); known == nil || known.other != t.other {
		n.log.Error("cluster: "+member.ErrDuplicateNode.Error(), "says", t.by, "other_started", time.UnixMilli(t.other.Started).UTC(), "this_one_keeps_away", n.incarnation.Compare(t.other) > 0)
	}
	if n.incarnation.Compare(t.other) > 0 && n.isolatedDuplicate.CompareAndSwap(nil, t) {
		n.network.Isolate(transport.IsolationDuplicate, true)
	}
}

// duplicateTrouble is told of a node while its duplicate was heard of a moment ago.
func (n *Node) duplicateTrouble() error {
	if err := n.Duplicate(); err != nil {
		return err
	}
	if t := n.duplicate.Load(); t != nil && time.Since(t.at) < integrity.DuplicateRetention {
		return fmt.Errorf("%w%s", t.err(), describeLastSeen(time.Since(t.lastSeen)))
	}
	return nil
}

// describeLastSeen is added to a message about a duplicate that was not heard from for
// unseen. It was probably stopped, and is still reported for DuplicateRetention.
func describeLastSeen(unseen time.Duration) string {
	if unseen < integrity.DuplicateSilence {
		return ""
	}
	return fmt.Sprintf("; duplicate last seen %s ago", unseen.Round(time.Second))
}

// statusQuery is the body of OpStatus.
type statusQuery struct {
	Incarnation integrity.Incarnation `cbor:"1,keyasint"`
	// Token is the last that this node had of the run Of of the one that is
	// asked: it shows that this question was not asked before that was given.
	Token   int64  `cbor:"2,keyasint,omitempty"`
	TokenOf uint64 `cbor:"3,keyasint,omitempty"`
	// ExitReason is why the node that asks is about to end, see reportExit.
	ExitReason string `cbor:"4,keyasint,omitempty"`
}
