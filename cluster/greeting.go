package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// A connection for raft begins with what each side remembers of the other, and
// whether each has that. It is closed where one lacks something.
//
//	dialling side   what I remember of you: index u64 | term u64
//	other side      the same, and the answer: index u64 | term u64 | has u8 | last u64
//	dialling side   the answer: has u8 | last u64
//
// last is the index of the last entry of who has not, 0 otherwise.

const (
	claimSize   = 8 + 8
	verdictSize = 1 + 8
)

// greet is run by both sides, before raft has the connection. raft has none before
// the round of greetings at the start is over: see greetVoters.
func (n *Node) greet(c net.Conn, peer string, dialled bool) error {
	if err := n.exchangeGreetings(c, peer, dialled); err != nil {
		return err
	}
	select {
	case <-n.greeted:
		return n.RolledBack()
	case <-n.closing:
		return errClosed
	}
}

// greetVoters asks every other voter, once, what it remembers of this node, before
// this node votes for anybody or takes an entry: what one of them remembers that
// runs must not depend on who connects first. A voter that refuses the connection,
// hangs up, or does not answer in time is not waited for: the others must be able
// to go on without it.
func (n *Node) greetVoters() {
	defer close(n.greeted)
	if n.config.hooks.greets != nil {
		n.config.hooks.greets()
	}
	var asking sync.WaitGroup
	for _, id := range n.Voters() {
		if id == string(n.id) {
			continue
		}
		asking.Go(func() {
			c, err := n.network.connect(id, protocolRaft, dialTimeout)
			if err != nil {
				return
			}
			_ = n.exchangeGreetings(c, id, true) // what it says is kept and logged there
			_ = c.Close()
		})
	}
	asking.Wait()
}

func (n *Node) exchangeGreetings(c net.Conn, peer string, dialled bool) error {
	deadline := handshakeTimeout
	if dialled {
		deadline = dialTimeout
	}
	if err := c.SetDeadline(time.Now().Add(deadline)); err != nil {
		return err
	}
	mine := n.remembers(peer)
	claim := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, mine.index), mine.term)
	var err error
	if dialled {
		err = n.greetFirst(c, peer, mine, claim)
	} else {
		err = n.greetBack(c, peer, mine, claim)
	}
	if err != nil {
		return err
	}
	return c.SetDeadline(time.Time{})
}

func (n *Node) greetFirst(c net.Conn, peer string, mine logPosition, claim []byte) error {
	if _, err := c.Write(claim); err != nil {
		return err
	}
	b := make([]byte, claimSize+verdictSize)
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	verdict, lacks := n.verdictOn(peer, b)
	if _, err := c.Write(verdict); err != nil {
		return err
	}
	return errors.Join(n.judge(peer, mine, b[claimSize:]), lacks)
}

func (n *Node) greetBack(c net.Conn, peer string, mine logPosition, claim []byte) error {
	b := make([]byte, claimSize)
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
	return errors.Join(n.judge(peer, mine, b), lacks)
}

// verdictOn says whether this node has what a peer remembers of it.
func (n *Node) verdictOn(peer string, claim []byte) (verdict []byte, lacks error) {
	p := logPosition{binary.BigEndian.Uint64(claim), binary.BigEndian.Uint64(claim[8:])}
	verdict = make([]byte, verdictSize)
	if n.hasEntry(p) {
		verdict[0] = 1
		return verdict, n.RolledBack() // as another one has found
	}
	binary.BigEndian.PutUint64(verdict[1:], n.lastEntry())
	return verdict, n.learnOfLoss(peer, p)
}

// judge keeps a peer away that says that it lacks what it had.
func (n *Node) judge(peer string, had logPosition, verdict []byte) error {
	if verdict[0] == 1 {
		n.remembered.judged(peer, nil)
		return nil
	}
	o := outdated{ID: peer, Had: had.index, Has: binary.BigEndian.Uint64(verdict[1:])}
	if n.remembered.judged(peer, &o) {
		n.log.Error("cluster: "+o.String(), "name", n.nameOf(peer))
	}
	return errors.New(o.String())
}

// rollbackRounds is how often a node that has lost data asks the others how they
// are before it ends. It may be that a copy of it was started elsewhere, took its
// place for a moment, and acknowledged what it has not. Then that has to go, and
// this one goes on. The others know of the copy once they have asked both, each
// in its own round; one round of this node's may be under way already.
const rollbackRounds = 3

// learnOfLoss has this node keep away from the others, at once, and then end.
func (n *Node) learnOfLoss(by string, p logPosition) error {
	err := fmt.Errorf("the folder %s is an older copy of this node's: %s remembers that the node had entry %d of the log, which here ends with %d. "+
		"Start the node with its newest folder; if there is none: %w", n.config.Dir, n.nameOf(by), p.index, n.lastEntry(), ErrDataLost)
	if !n.rolledBack.CompareAndSwap(nil, &err) {
		return *n.rolledBack.Load()
	}
	n.log.Error("cluster: this node keeps away from the others", "error", err)
	if !n.isClosing() {
		n.running.Go(func() { n.endRolledBack(p, err) })
	}
	return err
}

func (n *Node) endRolledBack(p logPosition, err error) {
	n.network.closeConns(func(string) bool { return true }) // those that raft has, with members that remember less
	for round := 0; round < rollbackRounds && n.twin.Load() == nil && !n.isClosing(); round++ {
		select {
		case <-n.guards.nextRound():
		case <-n.closing:
		}
	}
	if n.twin.Load() != nil {
		n.rolledBack.Store(nil)
		return
	}
	// Where nobody runs who remembers it, its own folder shall.
	n.committed.require(p)
	if noted := replaceNote(n.config.Dir, p); noted != nil {
		err = errors.Join(err, noted)
	}
	if !n.isClosing() {
		n.config.Fatal(err)
	}
}

// RolledBack is nil, or wraps ErrDataLost where another member remembers that this
// node had more than its folder has.
func (n *Node) RolledBack() error {
	if err := n.rolledBack.Load(); err != nil {
		return *err
	}
	return nil
}
