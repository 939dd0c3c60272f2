package cluster_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

// TestSnapshotHalfInstalled: a node was killed after a snapshot of the leader got its
// final name, and before the log that it replaces was deleted. The node continues from
// the snapshot. With the old log it would stop at the next entry, at each start.
func TestSnapshotHalfInstalled(t *testing.T) {
	t.Parallel()
	for name, another := range map[string]bool{"on a log that ends before it": false, "on a log that went another way": true} {
		t.Run(name, func(t *testing.T) {
			tr := newCluster3(t)
			propose := func() {
				for i := range uint64(20) {
					_, _, err := tr.nodes[0].Propose(t.Context(), &machinetest.Set{Name: "a", Value: i})
					require.NoError(t, err)
				}
			}
			propose()
			tr.requireSameState()
			shut(t, tr.nodes[2])
			require.NoError(t, tr.nodes[0].TransferLeadership(t.Context(), "n2")) // increments the term
			propose()
			require.NoError(t, tr.nodes[0].Snapshot())
			taken, err := filepath.Glob(filepath.Join(tr.confs[0].Dir, "snapshots", "*-*"))
			require.NoError(t, err)
			require.Len(t, taken, 1)
			tr.relisten(2)
			c := tr.confs[2]
			require.NoError(t, os.CopyFS(filepath.Join(c.Dir, "snapshots", filepath.Base(taken[0])), os.DirFS(taken[0])))
			var term, index uint64
			_, err = fmt.Sscanf(filepath.Base(taken[0]), "%d-%d-", &term, &index)
			require.NoError(t, err)
			writeCommitMarker(t, c.Dir, index)
			if another {
				extendLog(t, c.Dir, index+10, term-1)
			}
			// A new leader starts sending at its own last index; the previous leader
			// would resend from the last index it knew.
			require.NoError(t, tr.nodes[1].TransferLeadership(t.Context(), "n1"))
			propose()

			fatal := make(chan error, 1)
			c.Fatal = func(err error) {
				select {
				case fatal <- err:
				default:
				}
			}
			tr.nodes[2] = open(t, c)
			_, index, err = tr.nodes[0].Propose(t.Context(), &machinetest.Set{Name: "b"})
			require.NoError(t, err)
			require.Eventually(t, func() bool {
				return len(fatal) > 0 || tr.nodes[2].Applied() >= index
			}, 20*time.Second, 5*time.Millisecond)
			require.Empty(t, fatal)
			tr.requireSameState()

			shut(t, tr.nodes[2])
			tr.relisten(2)
			c.Network = tr.confs[2].Network
			tr.nodes[2] = open(t, c)
			tr.settle(3)
			tr.requireSameState()
		})
	}
}

// extendLog appends entries of a term to the log of a folder, up to an index.
func extendLog(t *testing.T, dir string, upTo, term uint64) {
	s := openStore(t, dir)
	defer s.Close()
	last, err := s.Logs.LastIndex()
	require.NoError(t, err)
	for i := last + 1; i <= upTo; i++ {
		require.NoError(t, s.Logs.StoreLog(&raft.Log{Index: i, Term: term, Type: raft.LogCommand, Data: machine.CheckpointEntry()}))
	}
}

// TestSnapshotThatCannotBeRestored: such a snapshot does not replace the log. Raft
// restores an older snapshot, and the commands since then are in the log only.
func TestSnapshotThatCannotBeRestored(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string][]byte{
		"to this program": nil,
		"to any":          []byte("something else"),
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t, "")
			n := open(t, c)
			require.NoError(t, n.Snapshot())
			_, index, err := n.Propose(t.Context(), &machinetest.Set{Name: "a", Value: 7})
			require.NoError(t, err)
			servers := n.Raft().GetConfiguration().Configuration()
			shut(t, n)

			store, err := raft.NewFileSnapshotStore(c.Dir, 2, io.Discard)
			require.NoError(t, err)
			sink, err := store.Create(raft.SnapshotVersionMax, index+100, n.Raft().CurrentTerm(), servers, 1, n.Transport())
			require.NoError(t, err)
			_, err = sink.Write([]byte("of a later format"))
			require.NoError(t, err)
			require.NoError(t, sink.Close())
			if damage != nil {
				require.NoError(t, os.WriteFile(filepath.Join(c.Dir, "snapshots", sink.ID(), "state.bin"), damage, 0o600))
			}
			n = open(t, c)
			require.Equal(t, uint64(7), machinetest.Find(n.View(), "a").Value)
		})
	}
}
