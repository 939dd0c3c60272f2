package integrity

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/store"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// Before raft gets a connection, both sides exchange log positions: each sends the
// newest entry that it remembers of the other (the claim, see RollbackDetector), and
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

// LogHandshake compares this node's log with what other members remember of it, and
// the logs of other members with what this node remembers. A node whose folder is an
// older copy isolates itself and ends.
type LogHandshake struct {
	*RollbackDetector
	LogHandshakeConfig

	votersAsked chan struct{}         // closed when AskVoters is over
	rolledBack  atomic.Pointer[error] // set once this node finds that its folder is an older copy: it is isolated and about to end
}

// LogHandshakeConfig is what a LogHandshake needs of its node.
type LogHandshakeConfig struct {
	Duplicates *DuplicateCheck
	NameOf     func(id string) string
	CloseConns func() // closes all connections of this node
	Log        *slog.Logger
	Fatal      func(error)
	Go         func(func())           // starts a goroutine that the end of the node waits for
	NextRound  func() <-chan struct{} // closed when all members were asked for their status once more
	Closing    <-chan struct{}        // closed when the node closes
}

// NewLogHandshake returns a handshake that lets raft have no connection before AskVoters
// is over.
func NewLogHandshake(r *RollbackDetector, c LogHandshakeConfig) *LogHandshake {
	return &LogHandshake{RollbackDetector: r, LogHandshakeConfig: c, votersAsked: make(chan struct{})}
}

// Shake runs on both sides before raft gets the connection. It returns only after
// AskVoters is over, so raft gets no connection before that.
func (h *LogHandshake) Shake(c net.Conn, peer string, dialled bool) error {
	if err := h.exchange(c, peer, dialled); err != nil {
		return err
	}
	select {
	case <-h.votersAsked:
		return h.Err()
	case <-h.Closing:
		return command.ErrClosed
	}
}

// AskVoters exchanges log positions with every other voter once, before this node votes
// or accepts an entry. Otherwise the order of connections would decide whether a rolled-back
// node learns, before it votes, that another voter remembers more entries. A voter that
// refuses the connection, closes it, or does not answer in time is skipped: the cluster
// must be able to start without it.
func (h *LogHandshake) AskVoters(others []string, connect func(id string) (net.Conn, error)) {
	defer close(h.votersAsked)
	var asking sync.WaitGroup
	for _, id := range others {
		asking.Go(func() {
			c, err := connect(id)
			if err != nil {
				return
			}
			_ = h.exchange(c, id, true) // records and logs the result itself
			_ = c.Close()
		})
	}
	asking.Wait()
}

func (h *LogHandshake) exchange(c net.Conn, peer string, dialled bool) error {
	deadline := transport.HandshakeTimeout
	if dialled {
		deadline = transport.DialTimeout
	}
	if err := c.SetDeadline(time.Now().Add(deadline)); err != nil {
		return err
	}
	mine := h.KnownPosition(peer)
	claim := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, mine.Index), mine.Term)
	var err error
	if dialled {
		err = h.shakeAsDialer(c, peer, mine, claim)
	} else {
		err = h.shakeAsListener(c, peer, mine, claim)
	}
	if err != nil {
		return err
	}
	return c.SetDeadline(time.Time{})
}

func (h *LogHandshake) shakeAsDialer(c net.Conn, peer string, mine Position, claim []byte) error {
	if _, err := c.Write(claim); err != nil {
		return err
	}
	b := make([]byte, positionSize+verdictSize)
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	verdict, lacks := h.verdictOn(peer, b)
	if _, err := c.Write(verdict); err != nil {
		return err
	}
	return errors.Join(h.handleVerdict(peer, mine, b[positionSize:]), lacks)
}

func (h *LogHandshake) shakeAsListener(c net.Conn, peer string, mine Position, claim []byte) error {
	b := make([]byte, positionSize)
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	verdict, lacks := h.verdictOn(peer, b)
	if _, err := c.Write(append(claim, verdict...)); err != nil {
		return err
	}
	b = make([]byte, verdictSize)
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	return errors.Join(h.handleVerdict(peer, mine, b), lacks)
}

// verdictOn encodes whether this node has the entry of a peer's claim. lacks is
// not nil if this node lacks data, by this claim or an earlier one.
func (h *LogHandshake) verdictOn(peer string, claim []byte) (verdict []byte, lacks error) {
	p := Position{Index: binary.BigEndian.Uint64(claim), Term: binary.BigEndian.Uint64(claim[8:])}
	verdict = make([]byte, verdictSize)
	if h.folder.HasEntry(p) {
		verdict[0] = 1
		return verdict, h.Err() // another peer may have found a loss
	}
	binary.BigEndian.PutUint64(verdict[1:], h.folder.LastEntry())
	return verdict, h.HandleRollback(peer, p)
}

// handleVerdict records a peer's verdict, and returns an error if the peer lacks the entry
// that it is known to have had.
func (h *LogHandshake) handleVerdict(peer string, had Position, verdict []byte) error {
	if verdict[0] == 1 {
		h.RecordCheck(peer, nil)
		return nil
	}
	o := Rollback{ID: peer, Had: had.Index, Has: binary.BigEndian.Uint64(verdict[1:])}
	if h.RecordCheck(peer, &o) {
		h.Log.Error("another node lost log entries", "name", h.NameOf(peer), "error", o.Err())
	}
	return o.Err()
}

// rollbackRounds is how many rounds of status queries a node that lacks data waits
// for before it ends. A copy of it may have been started elsewhere, taken its place
// for a moment, and acknowledged entries that this node does not have. Then the copy
// has to stop, and this node goes on. The other members know of the copy once each
// has queried both in a round of its own. There is one round more because one of
// this node's may be under way.
const rollbackRounds = 3

// HandleRollback is called when a peer remembers an entry that this node lacks. It
// isolates this node at once, and ends it after rollbackRounds unless the loss is
// explained by a copy.
func (h *LogHandshake) HandleRollback(by string, p Position) error {
	err := fmt.Errorf("%s: %w: node %s remembers that this node had log entry %d, and the log here ends at entry %d: %w",
		h.folder.dir, ErrRolledBack, h.NameOf(by), p.Index, h.folder.LastEntry(), store.ErrDataLost)
	if !h.rolledBack.CompareAndSwap(nil, &err) {
		return *h.rolledBack.Load()
	}
	h.Log.Error("data folder outdated, isolating node", "error", err)
	if !h.isClosing() {
		h.Go(func() { h.exitRolledBack(p, err) })
	}
	return err
}

func (h *LogHandshake) exitRolledBack(p Position, err error) {
	h.CloseConns() // raft's, with members that remember less
	for round := 0; round < rollbackRounds && !h.Duplicates.Reported() && !h.isClosing(); round++ {
		select {
		case <-h.NextRound():
		case <-h.Closing:
		}
	}
	if h.Duplicates.Reported() {
		h.rolledBack.Store(nil)
		return
	}
	// The folder itself keeps the claim: at the next start no member may run that
	// remembers it.
	h.folder.Marker.SetFloor(p)
	if noted := WriteCommitMarker(h.folder.dir, p); noted != nil {
		err = errors.Join(err, noted)
	}
	if !h.isClosing() {
		h.Fatal(err)
	}
}

func (h *LogHandshake) isClosing() bool {
	select {
	case <-h.Closing:
		return true
	default:
		return false
	}
}

// Err returns an error that wraps store.ErrDataLost if another member remembers that
// this node had more than its folder has, and nil otherwise.
func (h *LogHandshake) Err() error {
	if err := h.rolledBack.Load(); err != nil {
		return *err
	}
	return nil
}
