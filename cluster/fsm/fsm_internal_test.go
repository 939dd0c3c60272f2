package fsm

import (
	"bytes"
	"io"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// replayed returns an FSM whose local replay applied the log up to an index.
func replayed(t *testing.T, through uint64, fatal func(error)) *FSM {
	m, err := member.Extend(machinetest.Toy())
	require.NoError(t, err)
	core, err := machine.New(m, nil)
	require.NoError(t, err)
	f := New(core, fatal, new(store.Snapshots), new(integrity.CommitMarker))
	f.SkipReplay()
	f.replay.through = through
	return f
}

// TestInstalledSnapshotTakesAReplayBack: a snapshot from the leader replaces the replayed
// state. Entries that were replayed and are not in the snapshot are applied again when
// raft delivers them.
func TestInstalledSnapshotTakesAReplayBack(t *testing.T) {
	var state bytes.Buffer
	require.NoError(t, machine.NewMemory(machinetest.Toy(), machinetest.FixedNow).Save(&state))
	f := replayed(t, 10, nil)
	f.Started()
	c := &machinetest.Set{Name: "a"}
	entry := &raft.Log{
		Index: 10, Term: 1, Type: raft.LogCommand,
		Data: machinetest.Entry(machine.Encoded{Kind: c.Kind(), At: 5, Body: machinetest.Encode(c)}),
	}
	require.Nil(t, f.Apply(entry), "the local replay has applied the entry already")
	require.NoError(t, f.Restore(io.NopCloser(&state)))
	require.NotNil(t, f.Apply(entry))
}

// TestSnapshotGoesAsFarAsRaftSays: no snapshot is taken while the replayed state is ahead
// of the last index that raft has delivered, since raft would store it under that index.
func TestSnapshotGoesAsFarAsRaftSays(t *testing.T) {
	f := replayed(t, 10, nil)
	f.Started()
	give := func(index uint64) {
		f.Apply(&raft.Log{Index: index, Term: 1, Type: raft.LogCommand, Data: machine.CheckpointEntry()})
	}
	give(9)
	_, err := f.Snapshot()
	require.ErrorIs(t, err, raft.ErrNothingNewToSnapshot)
	give(10)
	_, err = f.Snapshot()
	require.NoError(t, err)
}

// TestSnapshotsWithoutProgress: a node that installs snapshots one after the other
// without applying entries stops with ErrLivelock, so that it is restarted. Snapshots
// restored during the start don't count.
func TestSnapshotsWithoutProgress(t *testing.T) {
	var state bytes.Buffer
	require.NoError(t, machine.NewMemory(machinetest.Toy(), machinetest.FixedNow).Save(&state))
	install := func(f raft.FSM) error { return f.Restore(io.NopCloser(bytes.NewReader(state.Bytes()))) }
	var fatal error
	starting := replayed(t, 0, func(err error) { fatal = err })
	for range 10 {
		require.NoError(t, install(starting))
	}
	require.NoError(t, fatal)
	starting.Started()
	require.NoError(t, install(starting))
	require.NoError(t, install(starting))
	require.NoError(t, fatal)
	require.NoError(t, install(starting))
	require.ErrorIs(t, fatal, ErrLivelock)
}
