package server

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBoundedListener: a connection beyond the bound waits until another one is closed.
func TestBoundedListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := bounded(l, 2)
	defer b.Close()
	accepted := make(chan net.Conn, 3)
	go func() {
		for {
			c, err := b.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	for range 3 {
		c, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		defer c.Close()
	}
	first := <-accepted
	second := <-accepted
	select {
	case <-accepted:
		require.Fail(t, "a third connection was accepted")
	default:
	}
	require.NoError(t, first.Close())
	_ = first.Close() // a second Close frees no second slot
	third := <-accepted
	require.NotNil(t, third)
	_ = second.Close()
	_ = third.Close()
}
