package store_test

import (
	"testing"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/store"
)

// A failed write of the log ends the process: a node that kept running would refuse
// everything while its process looks alive.
func TestFailedAppendStopsTheNode(t *testing.T) {
	w, err := wal.Open(t.TempDir())
	require.NoError(t, err)
	var fatal error
	store := store.NewFailStopStore(w, func(err error) { fatal = err })
	require.NoError(t, store.StoreLogs([]*raft.Log{{Index: 1, Term: 1}}))
	require.NoError(t, fatal)
	require.NoError(t, w.Close())
	require.Error(t, store.StoreLogs([]*raft.Log{{Index: 2, Term: 1}}))
	require.ErrorContains(t, fatal, "write log")
	fatal = nil
	require.Error(t, store.StoreLog(&raft.Log{Index: 2, Term: 1}))
	require.Error(t, fatal)
}
