package main

import (
	"net"
	"net/netip"
	"sync"

	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// maxOfSource is how many of the connections one source may hold at once, so that
// it leaves room for others. A browser opens six, a program that shares an address
// with others some hundred.
const maxOfSource = 1024

// fair closes connections of a source that has that many open. Through a trusted
// proxy, or one on this machine, come those of everybody: they are not counted.
func fair(l net.Listener, most int, trusted proxies) net.Listener {
	return &fairListener{Listener: l, most: most, trusted: trusted, open: map[string]int{}}
}

type fairListener struct {
	net.Listener
	most    int
	trusted proxies

	mu   sync.Mutex     // guards open
	open map[string]int // by source, no zeros
}

// Accept implements net.Listener.
func (l *fairListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		source, counted := l.source(c)
		if !counted {
			return c, nil
		}
		if l.enter(source) {
			return &boundedConn{Conn: c, leave: sync.OnceFunc(func() { l.leave(source) })}, nil
		}
		_ = c.Close()
	}
}

func (l *fairListener) source(c net.Conn) (source string, counted bool) {
	from, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil || from.Addr().Unmap().IsLoopback() || l.trusted.trust(from.Addr().String()) {
		return "", false
	}
	return limit.Network(from.Addr().String()), true
}

func (l *fairListener) enter(source string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[source] >= l.most {
		return false
	}
	l.open[source]++
	return true
}

func (l *fairListener) leave(source string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[source]--; l.open[source] == 0 {
		delete(l.open, source)
	}
}
