package cluster

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// aloneAddress is the address of a node that has no peers. raft writes it into
// its configuration.
const aloneAddress = "alone"

// aloneLayer is the network of a node that has no peers: it reaches itself, for
// the message by which a sole voter elects itself, and nobody else. Nothing
// listens.
type aloneLayer struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

var _ raft.StreamLayer = (*aloneLayer)(nil)

func newAloneLayer() *aloneLayer {
	return &aloneLayer{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Dial connects to the node itself.
func (l *aloneLayer) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	if address != aloneAddress {
		return nil, fmt.Errorf("dial %q: this node has no network", address)
	}
	here, there := net.Pipe()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case l.conns <- there:
		return here, nil
	case <-timer.C:
		return nil, errors.New("dial: timeout")
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Accept implements net.Listener.
func (l *aloneLayer) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *aloneLayer) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (l *aloneLayer) Addr() net.Addr { return aloneAddr{} }

type aloneAddr struct{}

func (aloneAddr) Network() string { return "alone" }
func (aloneAddr) String() string  { return aloneAddress }
