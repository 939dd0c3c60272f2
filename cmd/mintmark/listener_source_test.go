package main

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// arrivals is a listener to which connections come from made-up addresses.
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

// TestConnectionsOfOneSource leave room for others.
func TestConnectionsOfOneSource(t *testing.T) {
	trusted, err := parseProxies([]string{"192.0.2.0/28"})
	require.NoError(t, err)
	come := make(arrivals, 10)
	l := fair(come, 2, trusted)
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
	require.NoError(t, first.Close(), "counts once")
	accepted("198.51.100.1:5")
	for range 5 {
		accepted("192.0.2.7:1", "127.0.0.1:1", "[::1]:1")
	}
	close(come)
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}
