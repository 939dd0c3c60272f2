package cluster

import (
	"net"
	"slices"
	"sync"
)

// strangers bounds connections of which it is not known yet that they are a
// member's. When there is no room the oldest has to go: a member needs a few
// milliseconds, and who holds a place for long is none. Otherwise whoever can
// reach the port could keep the members from reaching each other.
type strangers struct {
	most    int
	refused refusals

	mu     sync.Mutex // guards the rest
	inside []net.Conn // oldest first
}

// The most that strangers can make this node hold at a time.
const (
	maxHandshakes = 64
	maxJoining    = 16
)

// enter makes room for a connection. It leaves by the function returned.
func (s *strangers) enter(c net.Conn) (leave func()) {
	s.mu.Lock()
	s.inside = append(s.inside, c)
	var oldest net.Conn
	if len(s.inside) > s.most {
		oldest = s.inside[0]
		s.inside = s.inside[1:]
	}
	s.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inside = slices.DeleteFunc(s.inside, func(other net.Conn) bool { return other == c })
	}
}
