package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/member"
)

// Endpoint has the addresses of a node and its peers.
type Endpoint struct {
	// Listener accepts the connections of other nodes. The node closes it.
	Listener net.Listener
	// Advertise is the host:port at which others reach the listener.
	Advertise string
	// Peers has, by name, addresses for dialling peers that override the ones they
	// advertise.
	Peers map[string]string
}

// One port serves three protocols, distinguished by ALPN (RFC 7301). The first two
// require certificates of members on both sides.
const (
	ProtocolRaft = "mintmark-raft/1"
	ProtocolPeer = "mintmark-peer/1" // commands forwarded to the leader, and other calls between nodes
	ProtocolJoin = "mintmark-join/1" // the server is authenticated by the join token, the client by its secret
)

const (
	DialTimeout      = 2 * time.Second
	HandshakeTimeout = 5 * time.Second
)

// Network is raft's stream layer and the connections between nodes. A node without an
// Endpoint reaches only itself, for the message with which a sole voter elects itself.
//
// raft's addresses are the ids of nodes. The network address is looked up when a node is
// dialled, so that a change of address needs no change of configuration.
type Network struct {
	self         string
	config       *Endpoint // nil without peers
	peerList     *member.PeerList
	credentials  *member.Credentials
	Serve        func(protocol string, peer string, key []byte, c *tls.Conn) // serves all protocols except raft's
	NotServed    func(protocol string) bool                                  // reports whether a protocol is not served yet
	LogHandshake func(c net.Conn, peer string, dialled bool) error           // called before raft gets a connection
	warn         func(msg string, args ...any)

	accepted  chan net.Conn
	done      chan struct{}
	startOnce sync.Once
	closeOnce sync.Once
	running   sync.WaitGroup

	isolated atomic.Uint32 // bits of the reasons; if not 0, no connection is accepted or made

	handshaking, joining unauthenticatedConns

	mu    sync.Mutex
	conns map[*peerConn]struct{}
}

var _ raft.StreamLayer = (*Network)(nil)

func NewNetwork(self string, c *Endpoint, list *member.PeerList, cred *member.Credentials, warn func(string, ...any)) *Network {
	return &Network{
		self: self, config: c, peerList: list, credentials: cred, warn: warn,
		accepted: make(chan net.Conn), done: make(chan struct{}), conns: make(map[*peerConn]struct{}),
		handshaking: unauthenticatedConns{limit: maxHandshakes}, joining: unauthenticatedConns{limit: maxJoining},
	}
}

// Start accepts connections. Serve, NotServed and LogHandshake must be set.
func (n *Network) Start() {
	if n.config != nil {
		n.startOnce.Do(func() { n.running.Go(n.acceptAll) })
	}
}

// Dial implements raft.StreamLayer: the address is the id of a node.
func (n *Network) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	if string(address) == n.self {
		return n.dialSelf(timeout)
	}
	return n.DialMember(string(address), ProtocolRaft, min(timeout, DialTimeout))
}

func (n *Network) dialSelf(timeout time.Duration) (net.Conn, error) {
	here, there := net.Pipe()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case n.accepted <- there:
		return here, nil
	case <-timer.C:
		return nil, errors.New("dial: timeout")
	case <-n.done:
		return nil, net.ErrClosed
	}
}

// DialMember connects to a member and verifies its certificate. On a connection for raft,
// the log handshake of package integrity follows.
func (n *Network) DialMember(id, protocol string, timeout time.Duration) (net.Conn, error) {
	c, err := n.Connect(id, protocol, timeout)
	if err == nil && protocol == ProtocolRaft {
		if err = n.LogHandshake(c, id, true); err != nil {
			m, _ := n.peerList.Member(id)
			return nil, errors.Join(fmt.Errorf("log handshake with node %s: %w", m.Name, err), c.Close())
		}
	}
	return c, err
}

// Connect is DialMember without the log handshake.
func (n *Network) Connect(id, protocol string, timeout time.Duration) (net.Conn, error) {
	if n.config == nil {
		return nil, fmt.Errorf("dial node %s: this node has no network", id)
	}
	if err := n.isolationError(); err != nil {
		return nil, err
	}
	m, ok := n.peerList.Member(id)
	if !ok {
		return nil, fmt.Errorf("dial node %s: not a member", id)
	}
	address := m.Address
	if a := n.config.Peers[m.Name]; a != "" {
		address = a
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var d tls.Dialer
	d.Config = n.clientConfig(id, protocol)
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, WrapDialError(address, err)
	}
	return n.track(id, c)
}

// DialUnauthenticated connects to a member with a self-signed certificate.
func (n *Network) DialUnauthenticated(ctx context.Context, m member.Member, own tls.Certificate) (net.Conn, error) {
	d := tls.Dialer{Config: n.clientConfig(m.ID, ProtocolJoin)}
	d.Config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
	return d.DialContext(ctx, "tcp", m.Address)
}

var errIsolated = errors.New("this node is isolated until its disk is writable")

// isolationError returns why this node is isolated, nil if it is not.
func (n *Network) isolationError() error {
	switch reasons := n.isolated.Load(); {
	case reasons&IsolationRemoved != 0:
		return member.ErrRemoved
	case reasons&IsolationDuplicate != 0:
		return member.ErrDuplicateNode
	case reasons != 0:
		return errIsolated
	}
	return nil
}

// clientConfig is for dialling one member.
func (n *Network) clientConfig(id, protocol string) *tls.Config {
	c := n.tlsConfig()
	c.NextProtos = []string{protocol}
	c.ServerName = id
	c.InsecureSkipVerify = true // VerifyConnection verifies more
	c.VerifyConnection = func(s tls.ConnectionState) error { return n.verify(s, id) }
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return n.credentials.Current()
	}
	return c
}

func (n *Network) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		SessionTicketsDisabled: true, // so that every connection is verified
		Time:                   n.credentials.Now,
	}
}

// serverConfig accepts members and joining nodes.
func (n *Network) serverConfig() *tls.Config {
	c := n.tlsConfig()
	c.NextProtos = []string{ProtocolRaft, ProtocolPeer, ProtocolJoin}
	c.ClientAuth = tls.RequireAnyClientCert
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if s.NegotiatedProtocol == ProtocolJoin {
			return nil // the invite is bound to the key
		}
		return n.verify(s, "")
	}
	c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return n.credentials.Current() }
	return c
}

// verify accepts a peer with a certificate from the cluster's authority that names the
// node and has the key that the node joined with. If id is "", any member is accepted.
func (n *Network) verify(s tls.ConnectionState, id string) error {
	if len(s.PeerCertificates) == 0 || s.NegotiatedProtocol == "" {
		return errors.New("peer has no certificate, or uses another protocol")
	}
	leaf := s.PeerCertificates[0]
	owner := n.peerList.Owner(member.HashSPKI(leaf.RawSubjectPublicKeyInfo))
	if owner == "" {
		return errNotMember
	}
	if id != "" && owner != id {
		return errWrongMember
	}
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: n.peerList.Pool(), DNSName: owner, CurrentTime: n.credentials.Now(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return fmt.Errorf("verify peer certificate: %w", err)
	}
	return nil
}

// acceptAll accepts connections and makes the handshake of each.
func (n *Network) acceptAll() {
	config := n.serverConfig()
	for {
		c, err := n.config.Listener.Accept()
		if err != nil {
			select {
			case <-n.done:
				return
			case <-time.After(50 * time.Millisecond): // probably out of file descriptors
				continue
			}
		}
		leave := n.handshaking.add(c)
		n.running.Go(func() {
			defer leave()
			n.handleConn(tls.Server(c, config))
		})
	}
}

// handleConn authenticates the peer and passes the connection on. It returns when the
// handshake is over.
func (n *Network) handleConn(c *tls.Conn) {
	if n.isolated.Load() != 0 {
		_ = c.NetConn().Close()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), HandshakeTimeout)
	defer cancel()
	if err := c.HandshakeContext(ctx); err != nil {
		n.handshaking.refusals.warn(n.warn, "connection rejected", c.RemoteAddr(), describeHandshakeError(err))
		_ = c.Close()
		return
	}
	s := c.ConnectionState()
	if n.NotServed(s.NegotiatedProtocol) {
		_ = c.Close()
		return
	}
	key := member.HashSPKI(s.PeerCertificates[0].RawSubjectPublicKeyInfo)
	id := n.peerList.Owner(key)
	if id == "" && s.NegotiatedProtocol != ProtocolJoin {
		_ = c.Close() // removed during the handshake
		return
	}
	tracked, err := n.track(id, c)
	if err != nil {
		return
	}
	if s.NegotiatedProtocol == ProtocolRaft {
		if err := n.LogHandshake(tracked, id, false); err != nil {
			_ = tracked.Close()
			return
		}
		select {
		case n.accepted <- tracked:
		case <-n.done:
			_ = tracked.Close()
		}
		return
	}
	leave := func() {}
	if s.NegotiatedProtocol == ProtocolJoin {
		leave = n.joining.add(c.NetConn()) // closed without a TLS close_notify
	}
	n.running.Go(func() {
		defer leave()
		defer func() { _ = tracked.Close() }()
		n.Serve(s.NegotiatedProtocol, id, key, c)
	})
}

// Accept implements net.Listener for raft.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.accepted:
		return c, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Connections are closed too.
func (n *Network) Close() error {
	n.closeOnce.Do(func() {
		close(n.done)
		if n.config != nil {
			_ = n.config.Listener.Close()
		}
		n.CloseConns(func(string) bool { return true })
	})
	n.running.Wait()
	return nil
}

// Addr implements net.Listener. It is this node's address in raft.
func (n *Network) Addr() net.Addr { return nodeAddr(n.self) }

type nodeAddr string

func (nodeAddr) Network() string  { return "node" }
func (a nodeAddr) String() string { return string(a) }

// addressIsID tells raft to dial a node by its id, whatever address its
// configuration has.
type addressIsID struct{}

func (addressIsID) ServerAddr(id raft.ServerID) (raft.ServerAddress, error) {
	return raft.ServerAddress(id), nil
}

// peerConn is a connection that can be closed by its peer's id.
type peerConn struct {
	net.Conn
	peer string // id; "" for a joining node
	n    *Network
}

// track registers a connection, or closes it if its peer was removed or the node isolated
// meanwhile.
func (n *Network) track(peer string, c net.Conn) (net.Conn, error) {
	p := &peerConn{c, peer, n}
	n.mu.Lock()
	n.conns[p] = struct{}{}
	n.mu.Unlock()
	select {
	case <-n.done:
		return nil, errors.Join(net.ErrClosed, p.Close())
	default:
	}
	// Isolated or removed since the handshake began.
	if err := n.isolationError(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if _, member := n.peerList.Member(peer); peer != "" && !member {
		return nil, errors.Join(errors.New("peer was removed"), p.Close())
	}
	return p, nil
}

// Close implements net.Conn.
func (p *peerConn) Close() error {
	p.n.mu.Lock()
	delete(p.n.conns, p)
	p.n.mu.Unlock()
	return p.Conn.Close()
}

// CloseConns closes the connections with the peers for which f returns true.
func (n *Network) CloseConns(f func(peer string) bool) {
	n.mu.Lock()
	var closing []net.Conn
	for p := range n.conns {
		if f(p.peer) {
			closing = append(closing, p.Conn)
			delete(n.conns, p)
		}
	}
	n.mu.Unlock()
	for _, c := range closing {
		if t, ok := c.(*tls.Conn); ok {
			c = t.NetConn() // without waiting to send close_notify
		}
		_ = c.Close()
	}
}

// DropNonMembers closes connections with peers that are no longer members.
func (n *Network) DropNonMembers() {
	n.CloseConns(func(peer string) bool {
		if peer == "" {
			return false
		}
		_, ok := n.peerList.Member(peer)
		return !ok
	})
}

// PeerIDs returns the ids of the members, and of other peers with an open connection.
func (n *Network) PeerIDs() []string {
	var ids []string
	for _, m := range n.peerList.Get().Members {
		ids = append(ids, m.ID)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for p := range n.conns {
		if p.peer != "" && !slices.Contains(ids, p.peer) {
			ids = append(ids, p.peer)
		}
	}
	return ids
}

// Reasons to be isolated.
const (
	IsolationDisk = 1 << iota
	IsolationTest
	IsolationRemoved   // this node was removed
	IsolationDuplicate // another process runs as this node
)

// Isolate adds or removes a reason for isolation. A leader whose disk hangs keeps sending
// heartbeats (hashicorp/raft #503); without connections the others elect a leader whose
// disk works.
func (n *Network) Isolate(reason uint32, on bool) (changed bool) {
	if on {
		changed = n.isolated.Or(reason)&reason == 0
	} else {
		changed = n.isolated.And(^reason)&reason != 0
	}
	if changed && on {
		n.CloseConns(func(string) bool { return true })
	}
	return changed
}

// IsIsolated reports whether this node is isolated for a reason.
func (n *Network) IsIsolated(reason uint32) bool { return n.isolated.Load()&reason != 0 }

// WarnNotAdmitted logs that a joining node was not admitted, at a limited rate.
func (n *Network) WarnNotAdmitted(from net.Addr, why string) {
	n.joining.refusals.warn(n.warn, "node not admitted", from, why)
}
