package main

import (
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// maxOfSource is how many of the connections one source may hold at once, so that
// it leaves room for others. A browser opens six, a program that shares an address
// with others some hundred.
const maxOfSource = 1024

// fair refuses a new connection from a source that has most open already: an IPv4
// address or an IPv6 /64. A /56 may have twice as many, and a /48 four times. If
// places run low all the same, each new connection closes the one that has been idle
// longest, but never one with a request in progress. Connections from trusted proxies
// and from this machine are exempt from both, because they carry everybody's requests.
//
// fair sets s.ConnState to learn which connections are idle, so s must not serve yet.
func fair(s *http.Server, l *boundedListener, most int, trusted proxies) net.Listener {
	s.ConnState = followIdle
	return &fairListener{boundedListener: l, most: most, trusted: trusted, open: map[string]int{}, idle: list.New()}
}

type fairListener struct {
	*boundedListener
	most    int
	trusted proxies

	mu   sync.Mutex     // guards all below
	open map[string]int // by source, no zeros
	idle *list.List     // of *guest without a request, the one that has been idle longest first
}

// A guest is a connection that counts against its sources.
type guest struct {
	net.Conn
	l       *fairListener
	sources []string

	// Guarded by l.mu.
	waits *list.Element // in l.idle, nil while a request is in progress
	gone  bool          // no longer counted: it was closed
}

// Accept implements net.Listener.
func (l *fairListener) Accept() (net.Conn, error) {
	for {
		c, err := l.boundedListener.Accept()
		if err != nil {
			return nil, err
		}
		sources := l.sources(c)
		if sources == nil {
			return c, nil
		}
		if g := l.enter(c, sources); g != nil {
			l.shed(g)
			return g, nil
		}
		_ = c.Close()
	}
}

// sources returns the networks that a connection counts against, the widest first,
// or nil if it is exempt.
func (l *fairListener) sources(c net.Conn) []string {
	from, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil || from.Addr().Unmap().IsLoopback() || l.trusted.trust(from.Addr().String()) {
		return nil
	}
	return limit.Prefixes(from.Addr().String())
}

func (l *fairListener) enter(c net.Conn, sources []string) *guest {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := l.most
	for i := range sources { // the narrowest first
		if l.open[sources[len(sources)-1-i]] >= most {
			return nil
		}
		most *= 2
	}
	for _, source := range sources {
		l.open[source]++
	}
	g := &guest{Conn: c, l: l, sources: sources}
	g.waits = l.idle.PushBack(g)
	return g
}

// shed closes the connection that has been idle longest, if places run low. It spares
// newest, which was just accepted.
func (l *fairListener) shed(newest *guest) {
	if !l.isLow() {
		return
	}
	l.mu.Lock()
	first := l.idle.Front()
	if first == nil || first.Value == newest {
		l.mu.Unlock()
		return
	}
	g := first.Value.(*guest)
	g.leave()
	l.mu.Unlock()
	_ = g.Conn.Close()
}

// leave stops counting the connection. l.mu is held.
func (g *guest) leave() {
	if g.gone {
		return
	}
	g.gone = true
	g.busy()
	for _, source := range g.sources {
		if g.l.open[source]--; g.l.open[source] == 0 {
			delete(g.l.open, source)
		}
	}
}

// busy records that a request is in progress. l.mu is held.
func (g *guest) busy() {
	if g.waits != nil {
		g.l.idle.Remove(g.waits)
		g.waits = nil
	}
}

// Read implements net.Conn. Anything read may begin a request, so the connection is
// busy from then on.
func (g *guest) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	if n > 0 {
		g.l.mu.Lock()
		g.busy()
		gone := g.gone
		g.l.mu.Unlock()
		if gone {
			return 0, net.ErrClosed
		}
	}
	return n, err
}

// Close implements net.Conn.
func (g *guest) Close() error {
	err := g.Conn.Close()
	g.l.mu.Lock()
	defer g.l.mu.Unlock()
	g.leave()
	return err
}

// followIdle is http.Server's ConnState for connections of a fair listener.
func followIdle(c net.Conn, state http.ConnState) {
	g, ok := c.(*guest)
	if !ok {
		return
	}
	g.l.mu.Lock()
	defer g.l.mu.Unlock()
	switch {
	case state == http.StateActive:
		g.busy()
	case state == http.StateIdle && !g.gone && g.waits == nil:
		g.waits = g.l.idle.PushBack(g)
	}
}
