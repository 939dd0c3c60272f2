package transport_test

import (
	"net"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// plainLayer is a raft.StreamLayer without TLS.
type plainLayer struct{ net.Listener }

func (plainLayer) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	return net.DialTimeout("tcp", string(to), timeout)
}

// newTransportPair makes two transports; the second one answers each message with answer.
func newTransportPair(t *testing.T, answer func(raft.RPC)) (from raft.Transport, to raft.ServerAddress) {
	t.Helper()
	var ends [2]raft.Transport
	for i := range ends {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		ends[i] = transport.NewTransport(plainLayer{l})
		t.Cleanup(func() { require.NoError(t, ends[i].(raft.WithClose).Close()) })
	}
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		for {
			select {
			case rpc := <-ends[1].Consumer():
				answer(rpc)
			case <-done:
				return
			}
		}
	}()
	return ends[0], ends[1].LocalAddr()
}

// TestPipelineNobodyReads: raft stops reading answers after a refusal. Its sender must
// not block forever.
func TestPipelineNobodyReads(t *testing.T) {
	from, to := newTransportPair(t, func(rpc raft.RPC) { rpc.Respond(&raft.AppendEntriesResponse{Term: 2}, nil) })
	p, err := from.AppendEntriesPipeline(raft.ServerID(to), to)
	require.NoError(t, err)
	sent := make(chan error, 1)
	go func() {
		for range 10 {
			if _, err := p.AppendEntries(&raft.AppendEntriesRequest{Term: 1}, new(raft.AppendEntriesResponse)); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	select {
	case err := <-sent:
		require.NoError(t, err)
	case <-time.After(20 * time.Second):
		t.Fatal("the sender is blocked by unread answers")
	}
	for range 10 {
		answer := <-p.Consumer()
		require.NoError(t, answer.Error())
		require.EqualValues(t, 2, answer.Response().Term)
	}
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
}
