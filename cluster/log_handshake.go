package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/store"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// Before raft gets a connection, both sides exchange greetings: each sends the
// newest entry that it remembers of the other (the claim, see remembered), and
// answers whether it has the entry that the other claims (the verdict). The
// connection is closed if either lacks its entry.
//
//	dialling side   claim:               index u64 | term u64
//	other side      claim and verdict:   index u64 | term u64 | has u8 | last u64
//	dialling side   verdict:             has u8 | last u64
//
// has is 1 if the side has the entry. Otherwise has is 0, and last is the index of
// the side's last entry.

const (
	positionSize = 8 + 8
	verdictSize  = 1 + 8
)

// logHandshake runs on both sides before raft gets the connection. It returns only after
// the round of log handshakes at the start is over (handshakeVoters), so raft gets no
// connection before that.
func (n *Node) logHandshake(c net.Conn, peer string, dialled bool) error {
	if err := n.exchangePositions(c, peer, dialled); err != nil {
		return err
	}
	select {
	case <-n.logHandshakesDone:
		return n.RolledBack()
	case <-n.closing:
		return command.ErrClosed
	}
}

// handshakeVoters exchanges log positions with every other voter once, before this node votes or takes an
// entry. Otherwise it would depend on the order of connections whether a rolled-back
// node hears from a voter that remembers more before it votes. A voter that refuses
// the connection, closes it, or does not answer in time is skipped: the cluster must
// be able to start without it.
func (n *Node) handshakeVoters() {
	defer close(n.logHandshakesDone)
	if n.config.hooks.logHandshake != nil {
		n.config.hooks.logHandshake()
	}
	var asking sync.WaitGroup
	for _, id := range n.Voters() {
		if id == string(n.id) {
			continue
		}
		asking.Go(func() {
			c, err := n.network.Connect(id, transport.ProtocolRaft, transport.DialTimeout)
			if err != nil {
				return
			}
			_ = n.exchangePositions(c, id, true) // records and logs the result itself
			_ = c.Close()
		})
	}
	asking.Wait()
}

func (n *Node) exchangePositions(c net.Conn, peer string, dialled bool) error {
	deadline := transport.HandshakeTimeout
	if dialled {
		deadline = transport.DialTimeout
	}
	if err := c.SetDeadline(time.Now().Add(deadline)); err != nil {
		return err
	}
	mine := n.rollbackDetector.KnownPosition(peer)
	claim := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, mine.Index), mine.Term)
	var err error
	if dialled {
		err = n.handshakeAsDialer(c, peer, mine, claim)
	} else {
		err = n.handshakeAsListener(c, peer, mine, claim)
	}
	if err != nil {
		return err
	}
	return c.SetDeadline(time.Time{})
}

func (n *Node) handshakeAsDialer(c net.Conn, peer string, mine integrity.Position, claim []byte) error {
	if _, err := c.Write(claim); err != nil {
		return err
	}
	b := make([]byte, positionSize+verdictSize)
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	verdict, lacks := n.verdictOn(peer, b)
	if _, err := c.Write(verdict); err != nil {
		return err
	}
	return errors.Join(n.handleVerdict(peer, mine, b[positionSize:]), lacks)
}

func (n *Node) handshakeAsListener(c net.Conn, peer string, mine integrity.Position, claim []byte) error {
	b := make([]byte, positionSize)
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	verdict, lacks := n.verdictOn(peer, b)
	if _, err := c.Write(append(claim, verdict...)); err != nil {
		return err
	}
	b = make([]byte, verdictSize)
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	return errors.Join(n.handleVerdict(peer, mine, b), lacks)
}

// verdictOn encodes whether this node has the entry of a peer's claim. lacks is
// not nil if this node lacks data, by this claim or an earlier one.
func (n *Node) verdictOn(peer string, claim []byte) (verdict []byte, lacks error) {
	p := integrity.Position{Index: binary.BigEndian.Uint64(claim), Term: binary.BigEndian.Uint64(claim[8:])}
	verdict = make([]byte, verdictSize)
	if n.folder.HasEntry(p) {
		verdict[0] = 1
		return verdict, n.RolledBack() // another peer may have found a loss
	}
	binary.BigEndian.PutUint64(verdict[1:], n.folder.LastEntry())
	return verdict, n.handleRollback(peer, p)
}

// handleVerdict records a peer's verdict, and returns an error if the peer lacks the entry
// that it is known to have had.
func (n *Node) handleVerdict(peer string, had integrity.Position, verdict []byte) error {
	if verdict[0] == 1 {
		n.rollbackDetector.RecordCheck(peer, nil)
		return nil
	}
	o := integrity.Rollback{ID: peer, Had: had.Index, Has: binary.BigEndian.Uint64(verdict[1:])}
	if n.rollbackDetector.RecordCheck(peer, &o) {
		n.log.Error("cluster: "+o.String(), "name", n.nameOf(peer))
	}
	return errors.New(o.String())
}

// rollbackRounds is how many rounds of status queries a node that lacks data waits
// for before it ends. A copy of it may have been started elsewhere, taken its place
// for a moment, and acknowledged entries that this node does not have. Then the copy
// has to stop, and this node goes on. The other members know of the copy once each
// has queried both in a round of its own. There is one round more because one of
// this node's may be under way.
const rollbackRounds = 3

// handleRollback isolates this node at once, and ends it after rollbackRounds unless
// the loss is explained by a copy.
func (n *Node) handleRollback(by string, p integrity.Position) error {
	err := fmt.Errorf("the data folder %s is an older copy: node %s remembers that this node had log entry %d, and the log here ends at entry %d. "+
		"Start the node with its newest folder; if there is none: %w", n.config.Dir, n.nameOf(by), p.Index, n.folder.LastEntry(), store.ErrDataLost)
	if !n.rolledBack.CompareAndSwap(nil, &err) {
		return *n.rolledBack.Load()
	}
	n.log.Error("cluster: data folder is outdated, isolating this node", "error", err)
	if !n.isClosing() {
		n.running.Go(func() { n.exitRolledBack(p, err) })
	}
	return err
}

func (n *Node) exitRolledBack(p integrity.Position, err error) {
	n.network.CloseConns(func(string) bool { return true }) // raft's, with members that remember less
	for round := 0; round < rollbackRounds && n.duplicate.Load() == nil && !n.isClosing(); round++ {
		select {
		case <-n.watchdog.nextRound():
		case <-n.closing:
		}
	}
	if n.duplicate.Load() != nil {
		n.rolledBack.Store(nil)
		return
	}
	// The folder itself keeps the claim: at the next start no member may run that
	// remembers it.
	n.folder.Marker.SetFloor(p)
	if noted := integrity.WriteCommitMarker(n.config.Dir, p); noted != nil {
		err = errors.Join(err, noted)
	}
	if !n.isClosing() {
		n.config.Fatal(err)
	}
}

// RolledBack returns an error that wraps ErrDataLost if another member remembers
// that this node had more than its folder has, and nil otherwise.
func (n *Node) RolledBack() error {
	if err := n.rolledBack.Load(); err != nil {
		return *err
	}
	return nil
}
