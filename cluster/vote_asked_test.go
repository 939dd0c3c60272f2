package cluster_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
)

// stale is a raft.StreamLayer with connections that are of no use, which come
// first.
type stale struct {
	unsealed
	first chan net.Conn
}

func (s stale) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	select {
	case c := <-s.first:
		return c, nil
	default:
		return s.unsealed.Dial(to, timeout)
	}
}

// swallowed is a connection through which nothing comes any more.
type swallowed struct {
	net.Conn
	end chan struct{}
}

func (swallowed) Write(b []byte) (int, error) { return len(b), nil }
func (swallowed) SetDeadline(time.Time) error { return nil }
func (swallowed) Close() error                { return nil }
func (s swallowed) Read([]byte) (int, error) {
	<-s.end
	return 0, io.EOF
}

// TestVoteIsAskedForAgain over connections that are good, when the ones that were
// kept have broken meanwhile, or were swallowed.
func TestVoteIsAskedForAgain(t *testing.T) {
	_, to := talk(t, func(rpc raft.RPC) {
		switch rpc.Command.(type) {
		case *raft.RequestVoteRequest:
			rpc.Respond(&raft.RequestVoteResponse{Term: 2, Granted: true}, nil)
		case *raft.RequestPreVoteRequest:
			rpc.Respond(&raft.RequestPreVoteResponse{Term: 2, Granted: true}, nil)
		}
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	layer := stale{unsealed{l}, make(chan net.Conn, 3)}
	from := cluster.NewTransport(layer)
	t.Cleanup(func() { require.NoError(t, from.(raft.WithClose).Close()) })
	end := make(chan struct{})
	defer close(end)
	useless := func() {
		broken, other := net.Pipe()
		require.NoError(t, other.Close())
		layer.first <- swallowed{end: end}
		layer.first <- broken
		layer.first <- swallowed{end: end}
	}
	useless()
	var vote raft.RequestVoteResponse
	require.NoError(t, from.RequestVote(raft.ServerID(to), to, &raft.RequestVoteRequest{Term: 2}, &vote))
	require.True(t, vote.Granted)
	require.EqualValues(t, 2, vote.Term)

	from.(*cluster.Transport).CloseStreams() // else the good one is there still
	useless()
	var before raft.RequestPreVoteResponse
	require.NoError(t, from.(raft.WithPreVote).RequestPreVote(raft.ServerID(to), to, &raft.RequestPreVoteRequest{Term: 2}, &before))
	require.True(t, before.Granted)
}
