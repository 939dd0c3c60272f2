package server

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// maxPerSource is the number of connections that one source may have, so that there is room for
// others, and the number of requests that it may have in progress on all of them. A browser
// opens six connections, a program behind a shared address some hundred.
const maxPerSource = 1024

// newFairListener refuses a new connection from a source that already has most: an IPv4
// address or an IPv6 /64. A /56 may have twice as many, and a /48 four times. If slots
// are nevertheless nearly used up, each new connection closes the one that has been idle
// longest, but never one with a request in progress. Connections from trusted proxies and
// from this machine are exempt from both, because they carry the requests of many
// clients.
//
// fair sets s.ConnState to learn which connections are idle, so s must not serve yet.
func newFairListener(s *http.Server, l *boundedListener, most int, trusted proxy.Trusted) *fairListener {
	s.ConnState = followIdle
	return &fairListener{boundedListener: l, trusted: trusted, open: newSourceCount(most), idle: list.New()}
}

type fairListener struct {
	*boundedListener
	trusted    proxy.Trusted
	shedsLocal bool // idle connections from this machine may be closed too

	mu   sync.Mutex // guards the fields below
	open sourceCount
	idle *list.List // of *trackedConn without a request, the longest idle first
}

// A sourceCount counts something of each source, up to a maximum: an IPv4 address or an IPv6
// /64. A /56 may have twice as much, and a /48 four times.
type sourceCount struct {
	most int
	of   map[string]int // by source, no zeros
}

func newSourceCount(most int) sourceCount { return sourceCount{most, map[string]int{}} }

// add counts one for sources, the widest first. It returns false if one of them has the most.
func (c sourceCount) add(sources []string) bool {
	most := c.most
	for i := range sources { // the narrowest first
		if c.of[sources[len(sources)-1-i]] >= most {
			return false
		}
		most *= 2
	}
	for _, source := range sources {
		c.of[source]++
	}
	return true
}

func (c sourceCount) remove(sources []string) {
	for _, source := range sources {
		if c.of[source]--; c.of[source] == 0 {
			delete(c.of, source)
		}
	}
}

// A trackedConn is a connection that counts against its sources.
type trackedConn struct {
	net.Conn
	l       *fairListener
	sources []string

	// Guarded by l.mu.
	http2       bool          // more than one request at a time
	idleElement *list.Element // in l.idle, nil while a request is in progress
	closed      bool          // closed, so no longer counted
}

// Accept implements net.Listener.
func (l *fairListener) Accept() (net.Conn, error) {
	for {
		c, err := l.boundedListener.Accept()
		if err != nil {
			return nil, err
		}
		sources, exempt := sourcesOf(c.RemoteAddr().String(), l.trusted)
		if exempt && !l.shedsLocal {
			return c, nil
		}
		if g := l.track(c, sources); g != nil {
			l.shed(g)
			return g, nil
		}
		_ = c.Close()
	}
}

// sourcesOf returns the networks that a peer counts against, the widest first, or none if it is
// exempt.
func sourcesOf(peer string, trusted proxy.Trusted) (sources []string, exempt bool) {
	from, err := netip.ParseAddrPort(peer)
	if err != nil || from.Addr().Unmap().IsLoopback() || trusted.Trusts(from.Addr().String()) {
		return nil, true
	}
	return limit.Prefixes(from.Addr().String()), false
}

func (l *fairListener) track(c net.Conn, sources []string) *trackedConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open.add(sources) {
		return nil
	}
	g := &trackedConn{Conn: c, l: l, sources: sources}
	g.idleElement = l.idle.PushBack(g)
	return g
}

// shed closes the connection that has been idle longest, if slots are nearly used up. It
// spares newest, which was just accepted.
func (l *fairListener) shed(newest *trackedConn) {
	if !l.nearlyFull() {
		return
	}
	l.mu.Lock()
	first := l.idle.Front()
	if first == nil || first.Value == newest {
		l.mu.Unlock()
		return
	}
	g := first.Value.(*trackedConn)
	g.untrack()
	l.mu.Unlock()
	_ = g.Conn.Close()
}

// untrack stops counting the connection. l.mu is held.
func (g *trackedConn) untrack() {
	if g.closed {
		return
	}
	g.closed = true
	g.markBusy()
	g.l.open.remove(g.sources)
}

// markBusy records that a request is in progress. l.mu is held.
func (g *trackedConn) markBusy() {
	if g.idleElement != nil {
		g.l.idle.Remove(g.idleElement)
		g.idleElement = nil
	}
}

// Read implements net.Conn. Anything read may begin a request, so the connection is
// busy from then on. On HTTP/2 most of what is read between requests begins none, so
// reading makes an idle connection the last one to be closed, and net/http reports when
// a request begins.
func (g *trackedConn) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	if n > 0 {
		g.l.mu.Lock()
		switch {
		case !g.http2:
			g.markBusy()
		case g.idleElement != nil:
			g.l.idle.MoveToBack(g.idleElement)
		}
		gone := g.closed
		g.l.mu.Unlock()
		if gone {
			return 0, net.ErrClosed
		}
	}
	return n, err
}

// Close implements net.Conn.
func (g *trackedConn) Close() error {
	err := g.Conn.Close()
	g.l.mu.Lock()
	defer g.l.mu.Unlock()
	g.untrack()
	return err
}

// followIdle is http.Server's ConnState for connections of a fair listener.
func followIdle(c net.Conn, state http.ConnState) {
	secure, _ := c.(*tls.Conn)
	if secure != nil {
		c = secure.NetConn()
		if plain, ok := c.(*maybePlainConn); ok {
			c = plain.Conn
		}
	}
	g, ok := c.(*trackedConn)
	if !ok {
		return
	}
	http2 := secure != nil && state == http.StateActive && secure.ConnectionState().NegotiatedProtocol == "h2"
	g.l.mu.Lock()
	defer g.l.mu.Unlock()
	g.http2 = g.http2 || http2
	switch {
	case state == http.StateActive:
		g.markBusy()
	case state == http.StateIdle && !g.closed && g.idleElement == nil:
		g.idleElement = g.l.idle.PushBack(g)
	}
}
