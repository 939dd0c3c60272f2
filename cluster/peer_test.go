package cluster_test

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
)

// TestCallsOfAPeerAreBounded: the number of concurrent calls from one peer is limited. A
// call beyond the limit is refused at once.
func TestCallsOfAPeerAreBounded(t *testing.T) {
	t.Parallel()
	g := newGate()
	tr := newCluster3(t, func(c *cluster.Config) {
		c.ProposeTimeout, c.LeaderTimeout = time.Minute, time.Minute
		if c.Name == "n1" {
			*c = cluster.WithHooks(*c, cluster.Hooks{Logs: func(l raft.LogStore) raft.LogStore { return &stallingLogs{l, g} }})
		}
	})
	require.Equal(t, 0, tr.leader())
	cert := certificateFrom(t, tr.nodes[0], tr.nodes[1].ID(), keyOf(t, tr.confs[1]), time.Now())
	c, err := tls.Dial("tcp", tr.confs[0].Network.Advertise, &tls.Config{
		InsecureSkipVerify: true, NextProtos: []string{"mintmark-peer/1"}, Certificates: []tls.Certificate{*cert},
	})
	require.NoError(t, err)
	defer c.Close()

	g.shut()
	release := sync.OnceFunc(g.open)
	defer release()
	const most = 4096
	const barrier = 2
	var calls []byte
	for id := range uint64(most + 1) {
		calls = binary.BigEndian.AppendUint32(calls, 8+1+4)
		calls = binary.BigEndian.AppendUint64(calls, id)
		calls = append(calls, barrier)
		calls = binary.BigEndian.AppendUint32(calls, uint32(time.Minute.Milliseconds()))
	}
	_, err = c.Write(calls)
	require.NoError(t, err)
	answer := func() (call uint64, status byte, body string) {
		t.Helper()
		require.NoError(t, c.SetReadDeadline(time.Now().Add(30*time.Second)))
		var length [4]byte
		_, err := io.ReadFull(c, length[:])
		require.NoError(t, err)
		b := make([]byte, binary.BigEndian.Uint32(length[:]))
		_, err = io.ReadFull(c, b)
		require.NoError(t, err)
		return binary.BigEndian.Uint64(b), b[8], string(b[9:])
	}
	call, _, body := answer()
	require.Equal(t, uint64(most), call)
	require.Equal(t, "too many calls under way", body)
	release()
	for range most {
		_, status, body := answer()
		require.Zero(t, status, body)
	}
}
