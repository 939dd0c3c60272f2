package cluster_test

import (
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestUnauthenticatedFillNoLog: of many rejected connections only the first is logged at
// once.
func TestUnauthenticatedFillNoLog(t *testing.T) {
	t.Parallel()
	told := new(logBuffer)
	c := networked(t, "", "n1")
	c.Logger = slog.New(slog.NewTextHandler(told, nil))
	n := open(t, c)
	address := c.Network.Advertise
	knock := func() {
		s, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, _ = s.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
		_, _ = s.Read(make([]byte, 1)) // wait for the rejection
		require.NoError(t, s.Close())
	}
	knock()
	require.Eventually(t, func() bool { return told.count("connection rejected") == 1 }, 10*time.Second, time.Millisecond)
	for range 50 {
		knock()
	}
	shut(t, n) // all connections have been handled
	require.Less(t, told.count("connection rejected"), 5)
}
