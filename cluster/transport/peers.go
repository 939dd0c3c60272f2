package transport

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// The peer protocol carries calls between nodes over one connection for each pair and
// direction: many at a time, answered in any order.
//
//	request  length u32 | call u64 | operation u8 | timeout u32 (ms) | body
//	reply    length u32 | call u64 | status u8 | body
//
// length counts the bytes after it.
const (
	OpPropose                = 1  // a command: body as in a log entry, without a stamp
	OpBarrier                = 2  // reply: an index up to which everything acknowledged before is in the log
	OpStatus                 = 3  // reply: a peerStatus
	OpTransfer               = 4  // transfer leadership to the node whose id is the body, or to any
	OpBootstrap              = 5  // reply: a bootstrapAnswer
	OpDistributeSecret       = 6  // the body is a secret, for Config.ReceiveSecret
	OpFetchSecret            = 7  // reply: the secret whose name is the body, from Config.SecretByName
	OpProposeConnected       = 8  // OpPropose, for a command that was answered ReplyConfirm and whose client is still connected
	OpCampaign               = 9  // from a leader that can no longer lead: campaign
	OpRemove                 = 10 // remove a member, see encodeRemoval; reply: the index of the removal
	OpLeaderLoss             = 11 // the body is a time (ms, u32); reply: an election.LossReport, once no leader was heard for that long, or one was
	OpUnauthenticatedBarrier = 12 // OpBarrier for unauthenticated callers: see barriers
)

const (
	ReplyOK          = 0
	ReplyUnavailable = 1 // nothing was proposed; body: why
	ReplyUnknown     = 2 // body: why
	ReplyFailed      = 3 // body: what is wrong with the request
	ReplyNotLeading  = 4 // nothing was proposed; another node may lead
	ReplyConfirm     = 5 // nothing was proposed: the decision would report reuse, see command.Decision.ReuseDetected
	ReplyNoMajority  = 6 // too few voters can be reached; body: why
	ReplyRefused     = 7 // a rule forbids it; body: the code of the error (see package errcode), a zero byte, and why
)

const (
	requestHead = 8 + 1 + 4
	replyHead   = 8 + 1
	maxMessage  = 1 << 20
	// maxCalls bounds the concurrent calls of one peer.
	maxCalls = 4096
	// peerWriteTimeout is how long a write may block before the connection is closed.
	peerWriteTimeout = 3 * time.Second
	// maxSilence is how long calls may be under way without a reply to any before a call that
	// ends closes the connection. TCP goes on for minutes after a partition, or when the peer
	// has another address.
	maxSilence = 3 * time.Second
)

// Reply is the answer of a peer.
type Reply struct {
	Status byte
	Body   []byte
}

// peerClient makes calls over one connection.
type peerClient struct {
	conn        net.Conn
	out         chan []byte
	done        chan struct{} // closed with the connection
	silentSince atomic.Int64  // when the first call was sent since data was last received, ns since created; 0 for none
	created     time.Time

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan Reply
	failed  bool
	why     error // the other side's reason for closing the connection, or nil
}

func newPeerClient(c net.Conn) *peerClient {
	p := &peerClient{
		conn: c, out: make(chan []byte, 256), done: make(chan struct{}),
		created: time.Now(), waiting: make(map[uint64]chan Reply),
	}
	go writeMessages(c, p.out, p.done)
	go p.read()
	return p
}

// ErrNotSent reports that a call did not leave this node.
var ErrNotSent = errors.New("not sent")

// call sends a request and waits for the reply, until timeout, the end of ctx, or a close
// of lost. After any error except ErrNotSent the peer may have executed the request.
func (p *peerClient) call(ctx context.Context, lost <-chan struct{}, op byte, body []byte, timeout time.Duration) (Reply, error) {
	answer := make(chan Reply, 1)
	p.mu.Lock()
	if p.failed {
		p.mu.Unlock()
		return Reply{}, fmt.Errorf("%w: %w", ErrNotSent, p.closeError())
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
	p.silentSince.CompareAndSwap(0, max(1, int64(time.Since(p.created))))
	select {
	case p.out <- b:
	case <-p.done:
		p.forget(id)
		return Reply{}, fmt.Errorf("%w: %w", ErrNotSent, p.closeError())
	case <-ctx.Done():
		p.forget(id)
		return Reply{}, fmt.Errorf("%w: %w", ErrNotSent, ctx.Err())
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	var cause error
	patience := time.Duration(math.MaxInt64) // how long nothing may have been received
	select {
	case r := <-answer:
		return r, nil
	case <-p.done:
		cause = p.closeError()
	case <-lost:
		cause = errors.New("there is another leader")
	case <-ctx.Done():
		if cause = ctx.Err(); errors.Is(cause, context.DeadlineExceeded) {
			patience = maxSilence
		}
	case <-timer.C:
		cause, patience = errNoAnswer, min(timeout, maxSilence)
	}
	if since := p.silentSince.Load(); since != 0 && time.Since(p.created)-time.Duration(since) >= patience {
		p.close() // the next call must not use it
	}
	p.forget(id)
	select {
	case r := <-answer:
		return r, nil
	default:
		return Reply{}, cause
	}
}

func (p *peerClient) forget(id uint64) {
	p.mu.Lock()
	delete(p.waiting, id)
	p.mu.Unlock()
}

// errConnLost reports that a connection ended without a reason from the other side.
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

// read passes replies to the waiting calls.
func (p *peerClient) read() {
	defer p.close()
	in := bufio.NewReaderSize(p.conn, 64<<10)
	for {
		b, err := readMessage(in, replyHead)
		if err != nil {
			p.mu.Lock()
			p.why = WrapDialError(p.conn.RemoteAddr().String(), err)
			p.mu.Unlock()
			return
		}
		p.silentSince.Store(0)
		id := binary.BigEndian.Uint64(b)
		p.mu.Lock()
		answer := p.waiting[id]
		delete(p.waiting, id)
		p.mu.Unlock()
		if answer != nil {
			answer <- Reply{b[8], b[replyHead:]}
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
		return nil, fmt.Errorf("message has %d bytes", size)
	}
	b := make([]byte, size)
	_, err := io.ReadFull(in, b)
	return b, err
}

// writeMessages writes messages, and flushes when no further one waits.
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

// Serve answers the calls of a peer until the connection ends.
func (p *Peers) Serve(c net.Conn, peer string) {
	out, done := make(chan []byte, 256), make(chan struct{})
	var writer, calls sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	writer.Go(func() {
		defer cancel() // answers can no longer be sent
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
		answer := func(r Reply) {
			m := make([]byte, 4, 4+replyHead+len(r.Body))
			m = append(m, id...)
			m = append(m, r.Status)
			m = append(m, r.Body...)
			binary.BigEndian.PutUint32(m, uint32(len(m)-4))
			select {
			case out <- m:
			case <-ctx.Done():
			}
		}
		if !p.IsMember(peer) {
			return // removed: effective at once, even on an open connection
		}
		select {
		case places <- struct{}{}:
		default:
			answer(Reply{ReplyUnavailable, []byte("too many calls under way")})
			continue
		}
		calls.Go(func() {
			defer func() { <-places }()
			ctx, cancel := context.WithTimeout(ctx, min(timeout, p.MaxTime))
			defer cancel()
			answer(p.Handler.Serve(ctx, peer, op, b[requestHead:]))
		})
	}
}

// Handler has a node's functions for calls of its peers.
type Handler struct {
	// Serve answers one call.
	Serve func(ctx context.Context, peer string, op byte, body []byte) Reply
	// IsMember reports whether a peer is still a member. A connection with any other peer
	// ends at its next call.
	IsMember func(peer string) bool
	// OnDisconnect is called with a peer that closed a connection to this node. It must
	// not block.
	OnDisconnect func(peer string)
	// MaxTime bounds the time to serve one call.
	MaxTime time.Duration
}

// Peers are the calls between this node and the other members.
type Peers struct {
	network *Network
	Handler

	mu      sync.Mutex // guards the fields below
	clients map[string]*peerClient
	dialing map[string]*dialing
}

func NewPeers(n *Network, h Handler) *Peers {
	return &Peers{network: n, Handler: h, clients: make(map[string]*peerClient), dialing: make(map[string]*dialing)}
}

// dialing is a connection attempt, shared by all callers.
type dialing struct {
	done   chan struct{}
	client *peerClient
	err    error
}

// A Conn is the connection over which this node calls a member.
type Conn struct {
	peers  *Peers
	peer   string
	client *peerClient
}

// Connect returns the connection to a member. It makes one if there is none.
func (p *Peers) Connect(ctx context.Context, id string) (*Conn, error) {
	c, err := p.client(ctx, id)
	if err != nil {
		return nil, err
	}
	return &Conn{p, id, c}, nil
}

// Broken returns a channel that is closed when the connection breaks.
func (c *Conn) Broken() <-chan struct{} { return c.client.done }

// Ask sends a request and waits for the reply, until timeout, the end of ctx, or a close
// of lost. After any error except ErrNotSent the peer may have executed the request.
func (c *Conn) Ask(ctx context.Context, lost <-chan struct{}, op byte, body []byte, timeout time.Duration) (Reply, error) {
	r, err := c.client.call(ctx, lost, op, body, timeout)
	if err != nil && c.client.isClosed() {
		c.peers.OnDisconnect(c.peer)
	}
	return r, err
}

// client returns the connection to a member. It makes one if there is none.
func (p *Peers) client(ctx context.Context, id string) (*peerClient, error) {
	p.mu.Lock()
	if c := p.clients[id]; c != nil && !c.isClosed() {
		p.mu.Unlock()
		return c, nil
	}
	d := p.dialing[id]
	if d == nil {
		d = &dialing{done: make(chan struct{})}
		p.dialing[id] = d
		go p.dial(id, d)
	}
	p.mu.Unlock()
	select {
	case <-d.done:
		return d.client, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *Peers) dial(id string, d *dialing) {
	c, err := p.network.DialMember(id, ProtocolPeer, DialTimeout)
	if err == nil {
		d.client = newPeerClient(c)
	}
	d.err = err
	p.mu.Lock()
	if err == nil {
		p.clients[id] = d.client
	}
	delete(p.dialing, id)
	p.mu.Unlock()
	close(d.done)
}

// Ask makes one call to a member, see Conn.Ask. If there is no connection, the error is
// ErrNotSent.
func (p *Peers) Ask(ctx context.Context, id string, lost <-chan struct{}, op byte, body []byte, timeout time.Duration) (Reply, error) {
	c, err := p.Connect(ctx, id)
	if err != nil {
		return Reply{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	return c.Ask(ctx, lost, op, body, timeout)
}

// Close ends all connections.
func (p *Peers) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.clients {
		c.close()
	}
}
