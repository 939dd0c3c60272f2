package transport_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// TestIsolatedDuringAHandshake: the error of a connection names why this node is isolated,
// also if that began after the dial.
func TestIsolatedDuringAHandshake(t *testing.T) {
	for reason, want := range map[uint32]string{
		transport.IsolationRemoved:   member.ErrRemoved.Error(),
		transport.IsolationDuplicate: member.ErrDuplicateNode.Error(),
		transport.IsolationDisk:      "this node is isolated until its disk is writable",
	} {
		n := transport.NewNetwork("n1", &transport.Endpoint{}, nil, nil, nil)
		n.Isolate(reason, true)
		_, err := n.Connect("n2", transport.ProtocolPeer, transport.DialTimeout)
		require.EqualError(t, err, want)
		here, there := net.Pipe()
		_, err = n.Track("n2", here)
		require.EqualError(t, err, want)
		_, err = there.Write([]byte("x"))
		require.Error(t, err, "the connection is closed")
	}
}
