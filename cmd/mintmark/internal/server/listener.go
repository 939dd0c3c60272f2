package server

import (
	"net"
	"sync"
	"syscall"
)

// Bounds on open connections. Further ones wait in the kernel's queue. Without a bound
// clients could use up the file descriptors that the log needs.
const (
	maxConnections    = 8192
	maxOpsConnections = 256
)

// Bounds on what one connection may hold, in bytes and requests. HTTP/2 references a header
// that was sent once, so a request may cost its sender much less than the server: its memory is
// bounded by maxHeader, and that of a source by maxPerSource requests.
const (
	maxStreams = 20       // requests at a time of one HTTP/2 connection; browsers wait with others
	maxHeader  = 16 << 10 // header of one request
	maxBuffer  = 64 << 10 // body that was received and not read yet, of all requests of an HTTP/2 connection
)

// bounded limits the open connections of a listener to most, and to half of the file
// descriptors that the process may have.
func bounded(l net.Listener, most int) *boundedListener {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err == nil {
		most = int(min(uint64(most), max(16, limit.Cur/2)))
	}
	return &boundedListener{Listener: l, slots: make(chan struct{}, most), closed: make(chan struct{})}
}

type boundedListener struct {
	net.Listener
	slots  chan struct{}
	once   sync.Once
	closed chan struct{}
}

// nearlyFull reports whether less than an eighth of the slots is free.
func (l *boundedListener) nearlyFull() bool { return len(l.slots) > cap(l.slots)-cap(l.slots)/8 }

func (l *boundedListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &boundedConn{Conn: c, release: sync.OnceFunc(func() { <-l.slots })}, nil
}

func (l *boundedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type boundedConn struct {
	net.Conn
	release func()
}

func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}
