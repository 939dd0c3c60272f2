package cluster_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/transport"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// TestNodeVotesInOneRecord: the node stores its own votes through the wrapper, in one
// record.
func TestNodeVotesInOneRecord(t *testing.T) {
	t.Parallel()
	c := config(t, "")
	shut(t, open(t, c))
	w, err := wal.Open(filepath.Join(c.Dir, "log"))
	require.NoError(t, err)
	defer w.Close()
	for _, key := range []string{"LastVoteTerm", "LastVoteCand"} {
		v, err := w.Get([]byte(key))
		require.NoError(t, err)
		require.Nil(t, v, key)
	}
	record, err := w.Get([]byte("Vote"))
	require.NoError(t, err)
	require.Equal(t, uint64(2), binary.BigEndian.Uint64(record), "it voted for itself in its first election")
}

// stallingLogs is a log whose writes hang while the gate is shut.
type stallingLogs struct {
	raft.LogStore
	gate *gate
}

func (s *stallingLogs) StoreLogs(l []*raft.Log) error {
	s.gate.pass()
	return s.LogStore.StoreLogs(l)
}

// TestHeartbeatWaitsItsTurn (hashicorp/raft #695): a heartbeat of a higher term arrives
// while the leader stores an entry. It must not change the leader's term before the entry
// is stored.
func TestHeartbeatWaitsItsTurn(t *testing.T) {
	t.Parallel()
	gate := newGate()
	n := open(t, cluster.WithHooks(config(t, ""), cluster.Hooks{
		Logs: func(l raft.LogStore) raft.LogStore { return &stallingLogs{l, gate} },
	}))
	gate.shut()
	wrote := make(chan error, 1)
	go func() {
		_, _, err := n.Propose(context.Background(), &machinetest.Set{Name: "a"})
		wrote <- err
	}()
	gate.waitBlocked(t)
	term := n.Raft().CurrentTerm()
	beat := make(chan error, 1)
	go func() {
		beat <- n.Transport().AppendEntries(raft.ServerID(n.ID()), n.Transport().LocalAddr(), &raft.AppendEntriesRequest{
			RPCHeader: raft.RPCHeader{ProtocolVersion: 3, ID: []byte("other"), Addr: []byte("other")},
			Term:      term + 10,
		}, &raft.AppendEntriesResponse{})
	}()
	select {
	case err := <-beat:
		t.Fatalf("the heartbeat was handled beside the main goroutine: %v", err)
	case <-time.After(200 * time.Millisecond): // the fast path takes less than 1 ms
	}
	require.Equal(t, term, n.Raft().CurrentTerm(), "the leader's term is unchanged")
	gate.open()
	require.NoError(t, <-beat)
	require.NoError(t, <-wrote, "proposed again when the node leads again")
}

// TestTransportKeepsPreVote: a wrapper that embeds only the interface would disable
// pre-vote.
func TestTransportKeepsPreVote(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	require.Implements(t, (*raft.WithPreVote)(nil), n.Transport())
	require.Implements(t, (*raft.WithClose)(nil), n.Transport())
}

// deadFuture is a future that never completes.
type deadFuture struct{ raft.ApplyFuture }

func (deadFuture) Error() error { select {} }

// TestForgottenFuture (hashicorp/raft #498): raft may never complete a future.
func TestForgottenFuture(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	close(stop)
	require.Error(t, transport.Await(deadFuture{}, stop))

	proposed := make(chan struct{})
	c := config(t, "")
	c.ProposeTimeout = time.Hour // otherwise the deadline would end the call
	n := open(t, cluster.WithHooks(c, cluster.Hooks{
		Apply: func(*raft.Raft, []byte) raft.ApplyFuture {
			close(proposed)
			return deadFuture{}
		},
	}))
	answer := make(chan error, 1)
	go func() {
		_, _, err := n.Propose(context.Background(), &machinetest.Set{Name: "a"})
		answer <- err
	}()
	<-proposed
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // Close does not wait
	require.NoError(t, n.Close(ctx))
	select {
	case err := <-answer:
		require.ErrorIs(t, err, cluster.ErrUnknown)
	case <-time.After(10 * time.Second):
		t.Fatal("the proposer waits for ever")
	}
}

// lateFuture is a future that completes when the channel is closed.
type lateFuture struct {
	raft.ApplyFuture
	completed <-chan struct{}
}

func (f lateFuture) Error() error {
	<-f.completed
	return nil
}

// TestForgottenFutureOfAHalt: a node stops although raft has not completed the future of
// a halt.
func TestForgottenFutureOfAHalt(t *testing.T) {
	t.Parallel()
	completed, proposed := make(chan struct{}), make(chan struct{}, 1)
	c := config(t, "")
	c.Elapsed = watchdog.Elapsed() // otherwise a leader's jump of time is no halt
	n := open(t, cluster.WithHooks(c, cluster.Hooks{
		Apply: func(*raft.Raft, []byte) raft.ApplyFuture {
			proposed <- struct{}{}
			return lateFuture{completed: completed}
		},
	}))
	t.Cleanup(func() { close(completed) }) // before open's, which would wait otherwise
	cluster.RecordLive(n, time.Now().Add(time.Minute).UnixMilli())
	select {
	case <-proposed:
	case <-time.After(20 * time.Second):
		t.Fatal("the halt is not proposed")
	}
	closed := make(chan error, 1)
	go func() { closed <- n.Close(context.Background()) }()
	select {
	case err := <-closed:
		require.NoError(t, err)
	case <-time.After(20 * time.Second):
		t.Fatal("the node waits for ever")
	}
}

// flippingLogs is a disk that can return an entry with a flipped bit.
type flippingLogs struct {
	raft.LogStore
	flip atomic.Uint64 // index of the entry to damage
	read atomic.Int64
}

func (f *flippingLogs) GetLog(index uint64, l *raft.Log) error {
	f.read.Add(1)
	err := f.LogStore.GetLog(index, l)
	if err == nil && index == f.flip.Load() {
		l.Data = append([]byte{l.Data[0] ^ 1}, l.Data[1:]...)
	}
	return err
}

func TestFlippedBitIsReported(t *testing.T) {
	t.Parallel()
	reports := make(chan error, 100)
	var disk *flippingLogs
	c := cluster.WithHooks(config(t, ""), cluster.Hooks{
		Logs: func(l raft.LogStore) raft.LogStore {
			disk = &flippingLogs{LogStore: l}
			return disk
		},
		Report: func(err error) { reports <- err },
	})
	c.CheckpointInterval = 5 * time.Millisecond
	n := open(t, c)
	write := func() uint64 {
		_, index, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
		require.NoError(t, err)
		return index
	}
	write()
	require.NoError(t, <-reports, "the entries read match the entries written")
	require.NoError(t, n.Corruption())

	disk.flip.Store(n.Raft().LastIndex() + 1)
	for n.Raft().LastIndex() < disk.flip.Load() {
		write()
	}
	for err := range reports {
		if err != nil {
			require.ErrorContains(t, err, "storage corruption")
			break
		}
		write()
	}
	require.Error(t, n.Corruption())
}

// TestFailedWriteOfNodeStopsIt: the log of a running node stops the node at a failed
// write.
func TestFailedWriteOfNodeStopsIt(t *testing.T) {
	t.Parallel()
	var log raft.LogStore
	fatal := make(chan error, 1)
	c := cluster.WithHooks(config(t, ""), cluster.Hooks{
		Logs: func(l raft.LogStore) raft.LogStore {
			log = l
			return l
		},
	})
	c.Fatal = func(err error) { fatal <- err }
	open(t, c)
	require.Error(t, log.StoreLogs([]*raft.Log{{Index: 1 << 40}}), "a gap in the log")
	require.ErrorContains(t, <-fatal, "write log")
}

// TestIdleClusterWritesNothing: no checkpoint is written if there was no entry since the
// last one.
func TestIdleClusterWritesNothing(t *testing.T) {
	t.Parallel()
	reports := make(chan error, 100)
	c := cluster.WithHooks(config(t, ""), cluster.Hooks{Report: func(err error) { reports <- err }})
	c.CheckpointInterval = time.Millisecond
	open(t, c)
	require.NoError(t, <-reports, "its election was an entry")
	time.Sleep(20 * time.Millisecond) // long enough for a checkpoint, which must not happen
	require.Empty(t, reports)
}

// TestRecentEntriesAreCached: sending a recent entry to a follower does not read the
// disk.
func TestRecentEntriesAreCached(t *testing.T) {
	t.Parallel()
	var disk *flippingLogs
	n := open(t, cluster.WithHooks(config(t, ""), cluster.Hooks{
		Logs: func(l raft.LogStore) raft.LogStore {
			disk = &flippingLogs{LogStore: l}
			return disk
		},
	}))
	_, index, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	before := disk.read.Load()
	require.NotEmpty(t, entryAt(t, n, index))
	require.Equal(t, before, disk.read.Load())
}

// TestLogIsMonotonic (hashicorp/raft #697): a wrapper that hides this property makes a
// follower install the same snapshot again and again.
func TestLogIsMonotonic(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	logs, ok := n.Logs().(raft.MonotonicLogStore)
	require.True(t, ok)
	require.True(t, logs.IsMonotonic())
	require.GreaterOrEqual(t, n.Raft().ReloadableConfig().TrailingLogs, uint64(10240))
}

// TestLeadershipFlaps: raft blocks if nobody reads its NotifyCh.
func TestLeadershipFlaps(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			name := fmt.Sprint(i)
			done := uint64(0)
			defer func() {
				if v := machinetest.Find(n.View(), name).Value; v != done {
					t.Errorf("%d was answered, %d was done", done, v)
				}
			}()
			for {
				select {
				case <-stop:
					return
				default:
				}
				r, _, err := proposeRaise(t.Context(), n, name, done)
				switch {
				case errors.Is(err, cluster.ErrUnavailable):
				case err != nil || !r.OK:
					t.Errorf("%+v, %v", r, err)
					return
				default:
					done++
				}
			}
		})
	}
	for range 100 {
		err := n.Transport().TimeoutNow(raft.ServerID(n.ID()), n.Transport().LocalAddr(), &raft.TimeoutNowRequest{
			RPCHeader: raft.RPCHeader{ProtocolVersion: 3},
		}, &raft.TimeoutNowResponse{})
		require.NoError(t, err)
	}
	close(stop)
	wg.Wait()
	require.Eventually(t, func() bool { leads, _ := n.Leading(); return leads }, 10*time.Second, time.Millisecond)
	require.NoError(t, n.Ready(t.Context()))
	require.Greater(t, n.Raft().CurrentTerm(), uint64(20), "the term rose by less than one per message, since some messages fell into one election")
}

// TestDataIsPrivate: files that the libraries create can't be read by other users.
func TestDataIsPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "by", "open")
	n := open(t, config(t, dir))
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	require.NoError(t, n.Snapshot())
	files := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		} else {
			files++
		}
		require.Equal(t, want, info.Mode().Perm(), path)
		return nil
	}))
	require.GreaterOrEqual(t, files, 5, "lock, log, its metadata, snapshot, its metadata")
}

func TestNodeAloneHasNoNetwork(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	err := n.Transport().TimeoutNow("other", "192.0.2.1:1", &raft.TimeoutNowRequest{}, &raft.TimeoutNowResponse{})
	require.Error(t, err)
	shut(t, n)
	err = n.Transport().TimeoutNow(raft.ServerID(n.ID()), n.Transport().LocalAddr(), &raft.TimeoutNowRequest{}, &raft.TimeoutNowResponse{})
	require.ErrorIs(t, err, net.ErrClosed)
}
