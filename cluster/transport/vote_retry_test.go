package transport_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// staleLayer is a raft.StreamLayer whose first connections are broken.
type staleLayer struct {
	plainLayer
	first chan net.Conn
}

func (s staleLayer) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	select {
	case c := <-s.first:
		return c, nil
	default:
		return s.plainLayer.Dial(to, timeout)
	}
}

// blackholeConn is a connection that receives nothing and loses what is written.
type blackholeConn struct {
	net.Conn
	end chan struct{}
}

func (blackholeConn) Write(b []byte) (int, error) { return len(b), nil }
func (blackholeConn) SetDeadline(time.Time) error { return nil }
func (blackholeConn) Close() error                { return nil }
func (s blackholeConn) Read([]byte) (int, error) {
	<-s.end
	return 0, io.EOF
}

// TestVoteIsRetried: over good connections, after the pooled ones have broken or receive
// nothing.
func TestVoteIsRetried(t *testing.T) {
	_, to := newTransportPair(t, func(rpc raft.RPC) {
		switch rpc.Command.(type) {
		case *raft.RequestVoteRequest:
			rpc.Respond(&raft.RequestVoteResponse{Term: 2, Granted: true}, nil)
		case *raft.RequestPreVoteRequest:
			rpc.Respond(&raft.RequestPreVoteResponse{Term: 2, Granted: true}, nil)
		}
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	layer := staleLayer{plainLayer{l}, make(chan net.Conn, 3)}
	from := transport.NewTransport(layer)
	t.Cleanup(func() { require.NoError(t, from.(raft.WithClose).Close()) })
	end := make(chan struct{})
	defer close(end)
	useless := func() {
		broken, other := net.Pipe()
		require.NoError(t, other.Close())
		layer.first <- blackholeConn{end: end}
		layer.first <- broken
		layer.first <- blackholeConn{end: end}
	}
	useless()
	var vote raft.RequestVoteResponse
	require.NoError(t, from.RequestVote(raft.ServerID(to), to, &raft.RequestVoteRequest{Term: 2}, &vote))
	require.True(t, vote.Granted)
	require.EqualValues(t, 2, vote.Term)

	from.(*transport.Transport).CloseStreams() // otherwise the good connection is still pooled
	useless()
	var before raft.RequestPreVoteResponse
	require.NoError(t, from.(raft.WithPreVote).RequestPreVote(raft.ServerID(to), to, &raft.RequestPreVoteRequest{Term: 2}, &before))
	require.True(t, before.Granted)
}
