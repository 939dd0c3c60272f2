package transport_test

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// TestStaleEntryIsNotCommitted: a former leader with an entry that was not replicated
// returns while its successor waits to retry. The message that was prepared before the
// wait has a commit index from after it.
func TestStaleEntryIsNotCommitted(t *testing.T) {
	var away atomic.Bool
	away.Store(true)
	b := newRawRafts(t, func(id raft.ServerID) raft.LogStore {
		store := newRawLog(t, "led before")
		switch id {
		case "a":
			require.NoError(t, store.StoreLog(&raft.Log{Index: 3, Term: 3, Type: raft.LogCommand, Data: []byte("only here")}))
		case "b":
			return &slowNoop{store, func() {
				time.Sleep(200 * time.Millisecond) // until the retries of a have their longest pause
				time.AfterFunc(5*time.Millisecond, func() { away.Store(false) })
			}}
		}
		return store
	}, func(to raft.ServerID) bool { return to == "a" && away.Load() })
	require.Eventually(t, func() bool { return b.rafts["b"].State() == raft.Leader }, 10*time.Second, time.Millisecond)
	require.NoError(t, b.rafts["b"].Apply([]byte("later"), 5*time.Second).Error())
	for id := range b.rafts {
		require.Eventually(t, func() bool { return len(b.states[id].all()) == 2 }, 10*time.Second, time.Millisecond)
		require.Equal(t, []string{"led before", "later"}, b.states[id].all(), "%s", id)
	}
}

// A rawRafts is three rafts without this module's code, except the part under test.
type rawRafts struct {
	rafts  map[raft.ServerID]*raft.Raft
	states map[raft.ServerID]*listFSM
}

func newRawRafts(t *testing.T, store func(raft.ServerID) raft.LogStore, away func(to raft.ServerID) bool) *rawRafts {
	t.Helper()
	x := &rawRafts{map[raft.ServerID]*raft.Raft{}, map[raft.ServerID]*listFSM{}}
	wires := map[raft.ServerID]*raft.InmemTransport{}
	for _, s := range rawServers().Servers {
		_, wires[s.ID] = raft.NewInmemTransport(s.Address)
	}
	for from, wire := range wires {
		for to, other := range wires {
			if from != to {
				wire.Connect(raft.ServerAddress(to), other)
			}
		}
	}
	for _, s := range rawServers().Servers {
		stable := raft.NewInmemStore()
		require.NoError(t, stable.SetUint64([]byte("CurrentTerm"), 3))
		require.NoError(t, stable.SetUint64([]byte("LastVoteTerm"), 3))
		require.NoError(t, stable.Set([]byte("LastVoteCand"), []byte("a")))
		c := raft.DefaultConfig()
		c.LocalID, c.Logger, c.CommitTimeout = s.ID, hclog.NewNullLogger(), 10*time.Millisecond
		c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = 5*time.Second, 5*time.Second, 400*time.Millisecond
		if s.ID == "b" {
			c.HeartbeatTimeout, c.ElectionTimeout = 700*time.Millisecond, 700*time.Millisecond
		}
		x.states[s.ID] = &listFSM{}
		r, err := raft.NewRaft(c, x.states[s.ID], store(s.ID), stable, raft.NewInmemSnapshotStore(), &clampingTransport{wires[s.ID], away})
		require.NoError(t, err)
		t.Cleanup(func() { _ = r.Shutdown().Error() })
		x.rafts[s.ID] = r
	}
	return x
}

func rawServers() (c raft.Configuration) {
	for _, id := range []string{"a", "b", "c"} {
		c.Servers = append(c.Servers, raft.Server{ID: raft.ServerID(id), Address: raft.ServerAddress(id)})
	}
	return c
}

// newRawLog returns a log with the configuration and one command.
func newRawLog(t *testing.T, command string) *raft.InmemStore {
	t.Helper()
	s := raft.NewInmemStore()
	require.NoError(t, s.StoreLogs([]*raft.Log{
		{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(rawServers())},
		{Index: 2, Term: 3, Type: raft.LogCommand, Data: []byte(command)},
	}))
	return s
}

type slowNoop struct {
	*raft.InmemStore
	noop func()
}

func (s *slowNoop) StoreLogs(l []*raft.Log) error {
	if l[0].Type == raft.LogNoop {
		s.noop()
	}
	return s.InmemStore.StoreLogs(l)
}

// clampingTransport is a transport that clamps the commit index of messages.
type clampingTransport struct {
	*raft.InmemTransport
	away func(to raft.ServerID) bool
}

func (w *clampingTransport) AppendEntries(id raft.ServerID, to raft.ServerAddress, q *raft.AppendEntriesRequest, r *raft.AppendEntriesResponse) error {
	if w.away(id) {
		return errors.New("away")
	}
	return w.InmemTransport.AppendEntries(id, to, transport.ClampCommitIndex(q), r)
}

func (*clampingTransport) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

// listFSM is a state machine whose state is the list of commands.
type listFSM struct {
	mu       sync.Mutex
	commands []string
}

func (a *listFSM) Apply(l *raft.Log) any {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.commands = append(a.commands, string(l.Data))
	return nil
}

func (*listFSM) Snapshot() (raft.FSMSnapshot, error) { return nil, raft.ErrNothingNewToSnapshot }
func (*listFSM) Restore(io.ReadCloser) error         { return nil }

func (a *listFSM) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.commands...)
}

// TestCommitIndexIsClamped: in single and in pipelined messages.
func TestCommitIndexIsClamped(t *testing.T) {
	heard := make(chan uint64, 2)
	from, to := newTransportPair(t, func(rpc raft.RPC) {
		heard <- rpc.Command.(*raft.AppendEntriesRequest).LeaderCommitIndex
		rpc.Respond(&raft.AppendEntriesResponse{}, nil)
	})
	message := func() *raft.AppendEntriesRequest {
		return &raft.AppendEntriesRequest{PrevLogEntry: 7, Entries: []*raft.Log{{Index: 8}}, LeaderCommitIndex: 20}
	}
	var answer raft.AppendEntriesResponse
	require.NoError(t, from.AppendEntries(raft.ServerID(to), to, message(), &answer))
	require.EqualValues(t, 8, <-heard)
	p, err := from.AppendEntriesPipeline(raft.ServerID(to), to)
	require.NoError(t, err)
	defer p.Close()
	_, err = p.AppendEntries(message(), &answer)
	require.NoError(t, err)
	require.EqualValues(t, 8, <-heard)
}
