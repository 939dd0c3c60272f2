package transport

import (
	"net"
	"slices"
	"sync"
)

// unauthenticatedConns bounds the connections that are not verified as a member's. When
// there is no room, the oldest one is closed: a member needs a few milliseconds, so an
// old one is not a member's. Otherwise any host that reaches the port could prevent
// members from connecting.
type unauthenticatedConns struct {
	limit    int
	refusals refusals

	mu    sync.Mutex // guards conns
	conns []net.Conn // oldest first
}

// Greatest numbers of unauthenticated connections.
const (
	maxHandshakes = 64
	maxJoining    = 16
)

// add makes room for a connection. leave removes it again.
func (s *unauthenticatedConns) add(c net.Conn) (leave func()) {
	s.mu.Lock()
	s.conns = append(s.conns, c)
	var oldest net.Conn
	if len(s.conns) > s.limit {
		oldest = s.conns[0]
		s.conns = s.conns[1:]
	}
	s.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conns = slices.DeleteFunc(s.conns, func(other net.Conn) bool { return other == c })
	}
}
