package cluster

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// The peer protocol carries calls among nodes over one connection for each
// pair and direction: many at a time, answered in any order.
//
//	request  length u32 | call u64 | operation u8 | timeout u32 (ms) | body
//	reply    length u32 | call u64 | status u8 | body
//
// length counts what follows it.
const (
	opPropose                = 1  // a command: body as in a log entry, without a stamp
	opBarrier                = 2  // reply: an index that holds all that was acknowledged before
	opStatus                 = 3  // reply: a peerStatus
	opTransfer               = 4  // transfer leadership to the node whose id is the body, or to any
	opBootstrap              = 5  // reply: a bootstrapAnswer
	opDistributeSecret       = 6  // the body is a secret, for Config.ReceiveSecret
	opFetchSecret            = 7  // reply: the secret whose name is the body, from Config.SecretByName
	opProposeConnected       = 8  // opPropose, of a command that was answered replyConfirm, and is still waited for
	opCampaign               = 9  // from the leader: campaign, it can't lead any more
	opRemove                 = 10 // remove a member, see encodeRemoval; reply: an index that holds it
	opLeaderLoss             = 11 // the body is a time (ms, u32); reply: a claim, once there was no word from a leader for so long, or some
	opUnauthenticatedBarrier = 12 // opBarrier, of callers who proved nothing: see barriers
)

const (
	replyOK          = 0
	replyUnavailable = 1 // nothing was proposed; body: why
	replyUnknown     = 2 // body: why
	replyFailed      = 3 // body: what is wrong with the request
	replyNotLeading  = 4 // nothing was proposed, ask another node
	replyConfirm     = 5 // nothing was proposed: the decision accuses, see Decision.ReuseDetected
	replyNoMajority  = 6 // too few voters can be reached; body: who, and what to do
)

const (
	requestHead = 8 + 1 + 4
	replyHead   = 8 + 1
	maxMessage  = 1 << 20
	// maxCalls bounds the calls of one peer that are under way here.
	maxCalls = 4096
	// peerWriteTimeout ends a connection whose other side reads no more.
	peerWriteTimeout = 3 * time.Second
)

// reply is what a peer answered.
type reply struct {
	status byte
	body   []byte
}

// peerClient makes calls over one connection.
type peerClient struct {
	conn         net.Conn
	out          chan []byte
	done         chan struct{} // closed with the connection
	lastReceived atomic.Int64  // when something was received, ns since start
	created      time.Time

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan reply
	failed  bool
	why     error // why the connection ended, where the other side said so
}

func newPeerClient(c net.Conn) *peerClient {
	p := &peerClient{
		conn: c, out: make(chan []byte, 256), done: make(chan struct{}),
		created: time.Now(), waiting: make(map[uint64]chan reply),
	}
	go writeMessages(c, p.out, p.done)
	go p.read()
	return p
}

// errNotSent says that a call did not leave this node.
var errNotSent = errors.New("not sent")

// call sends a request and waits for the reply, until timeout, the end of ctx,
// or a close of lost. After any error but errNotSent the peer may have done what
// was asked.
func (p *peerClient) call(ctx context.Context, lost <-chan struct{}, op byte, body []byte, timeout time.Duration) (reply, error) {
	answer := make(chan reply, 1)
	p.mu.Lock()
	if p.failed {
		p.mu.Unlock()
		return reply{}, fmt.Errorf("%w: %w", errNotSent, p.closeError())
	}
	p.next++
	id := p.next
	p.waiting[id] = answer
	p.mu.Unlock()

	b := make([]byte, 4, 4+requestHead+len(body))
	b = binary.BigEndian.AppendUint64(b, id)
	b = append(b, op)
	b = binary.BigEndian.AppendUint32(b, uint32(max(timeout.Milliseconds(), 1)))
	b = append(b, body...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	sent := time.Since(p.created)
	select {
	case p.out <- b:
	case <-p.done:
		p.forget(id)
		return reply{}, fmt.Errorf("%w: %w", errNotSent, p.closeError())
	case <-ctx.Done():
		p.forget(id)
		return reply{}, fmt.Errorf("%w: %w", errNotSent, ctx.Err())
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	var cause error
	select {
	case r := <-answer:
		return r, nil
	case <-p.done:
		cause = p.closeError()
	case <-lost:
		cause = errors.New("there is another leader")
	case <-ctx.Done():
		cause = ctx.Err()
	case <-timer.C:
		cause = errDeadline
		if time.Duration(p.lastReceived.Load()) < sent {
			// Nothing came back since: a partition may have swallowed the
			// connection, and the next call shall not wait in it.
			p.close()
		}
	}
	p.forget(id)
	select {
	case r := <-answer:
		return r, nil
	default:
		return reply{}, cause
	}
}

func (p *peerClient) forget(id uint64) {
	p.mu.Lock()
	delete(p.waiting, id)
	p.mu.Unlock()
}

// errConnLost says that a connection ended, nobody says why.
var errConnLost = errors.New("the connection was lost")

func (p *peerClient) closeError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != nil {
		return p.why
	}
	return errConnLost
}

func (p *peerClient) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.failed {
		p.failed = true
		close(p.done)
		_ = p.conn.Close()
	}
}

func (p *peerClient) isClosed() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// read hands replies to those who wait.
func (p *peerClient) read() {
	defer p.close()
	in := bufio.NewReaderSize(p.conn, 64<<10)
	for {
		b, err := readMessage(in, replyHead)
		if err != nil {
			p.mu.Lock()
			p.why = wrapDialError(p.conn.RemoteAddr().String(), err)
			p.mu.Unlock()
			return
		}
		p.lastReceived.Store(int64(time.Since(p.created)))
		id := binary.BigEndian.Uint64(b)
		p.mu.Lock()
		answer := p.waiting[id]
		delete(p.waiting, id)
		p.mu.Unlock()
		if answer != nil {
			answer <- reply{b[8], b[replyHead:]}
		}
	}
}

// readMessage reads one message of at least head bytes.
func readMessage(in *bufio.Reader, head uint32) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(length[:])
	if size < head || size > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes", size)
	}
	b := make([]byte, size)
	_, err := io.ReadFull(in, b)
	return b, err
}

// writeMessages writes what comes, and flushes when nothing more waits.
func writeMessages(c net.Conn, out <-chan []byte, done <-chan struct{}) {
	defer func() { _ = c.Close() }()
	w := bufio.NewWriterSize(c, 64<<10)
	for {
		var b []byte
		select {
		case b = <-out:
		case <-done:
			return
		}
		_ = c.SetWriteDeadline(time.Now().Add(peerWriteTimeout))
		for b != nil {
			if _, err := w.Write(b); err != nil {
				return
			}
			select {
			case b = <-out:
			default:
				b = nil
			}
		}
		if err := w.Flush(); err != nil {
			return
		}
	}
}

// servePeer answers the calls of a peer until the connection ends.
func (n *Node) servePeer(c net.Conn, peer string) {
	out, done := make(chan []byte, 256), make(chan struct{})
	var writer, calls sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	writer.Go(func() {
		defer cancel() // nobody is answered any more
		writeMessages(c, out, done)
	})
	defer writer.Wait()
	defer close(done)
	defer calls.Wait()
	defer cancel()
	places := make(chan struct{}, maxCalls)
	in := bufio.NewReaderSize(c, 64<<10)
	for {
		b, err := readMessage(in, requestHead)
		if err != nil {
			return
		}
		id, op := b[:8], b[8]
		timeout := time.Duration(binary.BigEndian.Uint32(b[9:])) * time.Millisecond
		answer := func(r reply) {
			m := make([]byte, 4, 4+replyHead+len(r.body))
			m = append(m, id...)
			m = append(m, r.status)
			m = append(m, r.body...)
			binary.BigEndian.PutUint32(m, uint32(len(m)-4))
			select {
			case out <- m:
			case <-ctx.Done():
			}
		}
		if !n.isMember(peer) {
			return // removed: at once, though the connection stood before
		}
		select {
		case places <- struct{}{}:
		default:
			answer(reply{replyUnavailable, []byte("too many calls under way")})
			continue
		}
		calls.Go(func() {
			defer func() { <-places }()
			ctx, cancel := context.WithTimeout(ctx, min(timeout, n.config.ProposeTimeout))
			defer cancel()
			answer(n.serveCall(ctx, peer, op, b[requestHead:]))
		})
	}
}

// isMember says whether the state has a member, or the peer list while there is no
// state yet.
func (n *Node) isMember(id string) bool {
	txn := n.View()
	if find[Member](txn, membersTable, id) != nil {
		return true
	}
	_, listed := n.peerList.member(id)
	return listed && len(members(txn)) == 0
}

// peerPool are the connections that this node makes calls over.
type peerPool struct {
	mu      sync.Mutex
	clients map[string]*peerClient
	dialing map[string]*dialing
}

// dialing is a connection being made, and shared by all who want it.
type dialing struct {
	done   chan struct{}
	client *peerClient
	err    error
}

// peer returns the connection to a member, made when there is none.
func (n *Node) peer(ctx context.Context, id string) (*peerClient, error) {
	p := &n.peerPool
	p.mu.Lock()
	if c := p.clients[id]; c != nil && !c.isClosed() {
		p.mu.Unlock()
		return c, nil
	}
	d := p.dialing[id]
	if d == nil {
		d = &dialing{done: make(chan struct{})}
		if p.dialing == nil {
			p.dialing, p.clients = make(map[string]*dialing), make(map[string]*peerClient)
		}
		p.dialing[id] = d
		go n.dialPeer(id, d)
	}
	p.mu.Unlock()
	select {
	case <-d.done:
		return d.client, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (n *Node) dialPeer(id string, d *dialing) {
	c, err := n.network.dial(id, protocolPeer, dialTimeout)
	if err == nil {
		d.client = newPeerClient(c)
	}
	d.err = err
	n.peerPool.mu.Lock()
	if err == nil {
		n.peerPool.clients[id] = d.client
	}
	delete(n.peerPool.dialing, id)
	n.peerPool.mu.Unlock()
	close(d.done)
}

// ask makes one call to a member, see peerClient.call.
func (n *Node) ask(ctx context.Context, id string, lost <-chan struct{}, op byte, body []byte, timeout time.Duration) (reply, error) {
	c, err := n.peer(ctx, id)
	if err != nil {
		return reply{}, fmt.Errorf("%w: %w", errNotSent, err)
	}
	return n.askOver(ctx, c, id, lost, op, body, timeout)
}

// askOver is ask over a connection that there is.
func (n *Node) askOver(ctx context.Context, c *peerClient, id string, lost <-chan struct{}, op byte, body []byte, timeout time.Duration) (reply, error) {
	r, err := c.call(ctx, lost, op, body, timeout)
	if err != nil && c.isClosed() {
		n.noteDisconnect(id)
	}
	return r, err
}

// close ends all connections.
func (p *peerPool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.clients {
		c.close()
	}
}
