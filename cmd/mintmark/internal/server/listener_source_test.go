package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
)

// arrivals is a listener whose connections have invented addresses.
type arrivals chan net.Conn

func (a arrivals) Accept() (net.Conn, error) {
	c, ok := <-a
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (arrivals) Close() error   { return nil }
func (arrivals) Addr() net.Addr { return nil }

type arrival struct {
	net.Conn
	from   string
	closed bool
}

func (a *arrival) RemoteAddr() net.Addr {
	at, err := net.ResolveTCPAddr("tcp", a.from)
	if err != nil {
		panic(err)
	}
	return at
}

func (a *arrival) Close() error {
	a.closed = true
	return nil
}

// TestConnectionsOfOneSource: one source can't use all connections. Trusted proxies and
// this machine have no limit.
func TestConnectionsOfOneSource(t *testing.T) {
	trusted, err := proxy.Parse([]string{"192.0.2.0/28"})
	require.NoError(t, err)
	come := make(arrivals, 10)
	l := newFairListener(new(http.Server), bounded(come, 1000), 2, trusted)
	accepted := func(from ...string) (last net.Conn) {
		t.Helper()
		for _, f := range from {
			come <- &arrival{from: f}
			c, err := l.Accept()
			require.NoError(t, err)
			require.Equal(t, (&arrival{from: f}).RemoteAddr(), c.RemoteAddr())
			last = c
		}
		return last
	}
	first := accepted("198.51.100.1:1")
	accepted("198.51.100.1:2", "198.51.100.2:1", "[2001:db8::1]:1", "[2001:db8::2]:1")
	for _, more := range []string{"198.51.100.1:3", "[2001:db8::3]:1", "[::ffff:198.51.100.1]:4"} {
		late := &arrival{from: more}
		come <- late
		accepted("203.0.113.1:1").Close()
		require.True(t, late.closed, more)
	}
	require.NoError(t, first.Close())
	require.NoError(t, first.Close(), "a second Close has no effect")
	accepted("198.51.100.1:5")
	for range 5 {
		accepted("192.0.2.7:1", "127.0.0.1:1", "[::1]:1")
	}
	close(come)
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}

// TestOneSiteLeavesRoom: a whole site is limited too, since a subscriber with a /48 has
// thousands of /64s.
func TestOneSiteLeavesRoom(t *testing.T) {
	come := make(arrivals, 1000)
	l := newFairListener(new(http.Server), bounded(come, 10_000), 2, nil)
	count := map[string]int{} // of accepted connections
	for i := range 256 {
		come <- &arrival{from: fmt.Sprintf("[2001:db8:1:%x::1]:1", i)}     // of one /56
		come <- &arrival{from: fmt.Sprintf("[2001:db8:2:%x00::1]:1", i)}   // of one /48
		come <- &arrival{from: fmt.Sprintf("[2001:db8:%x::1]:1", i+0x100)} // of many
	}
	close(come)
	for c, err := l.Accept(); err == nil; c, err = l.Accept() {
		site := c.RemoteAddr().(*net.TCPAddr).IP.String()[:len("2001:db8:1:")]
		count[site]++
	}
	require.Equal(t, 4, count["2001:db8:1:"])
	require.Equal(t, 8, count["2001:db8:2:"])
	delete(count, "2001:db8:1:")
	delete(count, "2001:db8:2:")
	others := 0
	for _, n := range count {
		others += n
	}
	require.Equal(t, 256, others)
}

// TestLongestIdleIsShedFirst: the longest idle connection is closed first, and never one
// of a trusted proxy.
func TestLongestIdleIsShedFirst(t *testing.T) {
	trusted, err := proxy.Parse([]string{"192.0.2.0/28"})
	require.NoError(t, err)
	come := make(arrivals, 1)
	l := newFairListener(new(http.Server), bounded(come, 16), 16, trusted)
	accept := func(from string) *arrival {
		a := &arrival{from: from}
		come <- a
		_, err := l.Accept()
		require.NoError(t, err)
		return a
	}
	proxied := accept("192.0.2.7:1")
	var guests []*arrival
	for i := range 30 {
		guests = append(guests, accept(fmt.Sprintf("198.51.100.%d:1", i)))
		open := 0
		for n, g := range guests {
			if !g.closed {
				open++
			} else if n > 0 {
				require.True(t, guests[n-1].closed, "an older connection stays, and a younger one is closed")
			}
		}
		require.LessOrEqual(t, open, 16)
		require.False(t, guests[i].closed, "the newest connection stays")
	}
	require.True(t, guests[0].closed)
	require.False(t, proxied.closed)
}

// TestLocalConnectionsOfOperators: on the operators' listener, idle connections from this
// machine are closed too. They have no limit per source.
func TestLocalConnectionsOfOperators(t *testing.T) {
	come := make(arrivals, 1)
	l := newFairListener(new(http.Server), bounded(come, 16), 2, nil)
	l.shedsLocal = true
	var local []*arrival
	for i := range 40 {
		a := &arrival{from: fmt.Sprintf("127.0.0.1:%d", i+1)}
		come <- a
		_, err := l.Accept()
		require.NoError(t, err)
		local = append(local, a)
	}
	open := 0
	for _, a := range local {
		if !a.closed {
			open++
		}
	}
	require.LessOrEqual(t, open, 16)
	require.Greater(t, open, 8)
	require.False(t, local[39].closed)
}

// remoteListener is a listener whose connections report invented addresses.
type remoteListener struct {
	net.Listener
	next func() string
}

func (e remoteListener) Accept() (net.Conn, error) {
	c, err := e.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return remoteConn{c, (&arrival{from: e.next()}).RemoteAddr()}, nil
}

type remoteConn struct {
	net.Conn
	from net.Addr
}

func (c remoteConn) RemoteAddr() net.Addr { return c.from }

// TestIdleConnectionsLeaveRoom: a client that uses all connections, from any number of
// addresses, can't exclude other clients. No request in progress is interrupted.
func TestIdleConnectionsLeaveRoom(t *testing.T) {
	for name, from := range map[string]string{
		"eight /48s": "[2001:db8:%[1]x:%[2]x::1]:1", "eight /64s of a /48": "[2001:db8:1:%[1]x::%[2]x]:1", "eight IPv4 hosts": "198.51.100.%[1]d:1%[2]d",
	} {
		for _, protocol := range []string{"", "http/1.1", "h2"} {
			t.Run(name+" "+protocol, func(t *testing.T) { idleConnectionsLeaveRoom(t, from, protocol) })
		}
	}
}

// idleConnectionsLeaveRoom runs the test with a protocol that TLS negotiates, or "" for
// plain HTTP.
func idleConnectionsLeaveRoom(t *testing.T, from, protocol string) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var came atomic.Int64
	begun, release := make(chan struct{}, 1), make(chan struct{})
	server := &http.Server{ErrorLog: debugLog(slog.New(slog.DiscardHandler)), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			begun <- struct{}{}
			<-release
		}
		_, _ = io.WriteString(w, "served")
	})}
	l := newFairListener(server, bounded(remoteListener{inner, func() string {
		n := came.Add(1)
		return fmt.Sprintf(from, n%8, n)
	}}, 64), 32, nil)
	scheme, client := "http://", &tls.Config{}
	var listener net.Listener = l
	if protocol != "" {
		s := httptest.NewUnstartedServer(nil)
		s.StartTLS() // for its certificate
		defer s.Close()
		scheme, client.RootCAs, client.ServerName = "https://", s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, "example.com"
		server.TLSConfig, listener = &tls.Config{Certificates: s.TLS.Certificates}, plainListener{l, nil}
	}
	go (&Server{failed: make(chan error, 1)}).serve(server, listener)
	t.Cleanup(func() { _ = server.Close() })
	// ask sends a request on a connection of its own, which stays open.
	ask := func(path string) <-chan error {
		transport := &http.Transport{TLSClientConfig: client.Clone(), ForceAttemptHTTP2: protocol == "h2"}
		t.Cleanup(transport.CloseIdleConnections)
		done := make(chan error, 1)
		go func() {
			r, err := (&http.Client{Transport: transport}).Get(scheme + inner.Addr().String() + path)
			if err == nil {
				_, err = io.ReadAll(r.Body)
				_ = r.Body.Close()
			}
			if err == nil && (r.ProtoMajor == 2) != (protocol == "h2") {
				err = errors.New(r.Proto)
			}
			done <- err
		}()
		return done
	}
	slow := ask("/slow")
	<-begun
	for range 100 { // each round opens a connection without a request, and one with a request
		c, err := net.Dial("tcp", inner.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		require.NoError(t, <-ask("/"), "a new client")
	}
	close(release)
	require.NoError(t, <-slow, "the request in progress")
}
