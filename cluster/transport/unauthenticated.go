package transport

import (
	"net"
	"slices"
	"sync"
)

// unauthenticatedConns bounds connections of which it is not known yet that they are a
// member's. When there is no room the oldest has to go: a member needs a few
// milliseconds, and who holds a place for long is none. Otherwise whoever can
// reach the port could keep the members from reaching each other.
type unauthenticatedConns struct {
	limit    int
	refusals refusals

	mu    sync.Mutex // guards the rest
	conns []net.Conn // oldest first
}

// Bounds of the unauthenticated connections that this node holds at a time.
const (
	maxHandshakes = 64
	maxJoining    = 16
)

// add makes room for a connection. It leaves by the function returned.
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
