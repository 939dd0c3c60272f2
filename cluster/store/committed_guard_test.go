package store_test

import (
	"testing"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/store"
)

// TestCommittedEntriesStay: uncommitted entries at the end of the log are truncated,
// committed ones never.
func TestCommittedEntriesStay(t *testing.T) {
	const committed = 5
	for name, c := range map[string]struct {
		from, to uint64
		stays    bool
	}{
		"after what is committed": {from: 6, to: 10},
		"what is committed":       {from: 5, to: 10, stays: true},
		"nearly all":              {from: 2, to: 10, stays: true},
		"compaction":              {from: 1, to: 4},
		"compaction of it all":    {from: 1, to: 10},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := wal.Open(t.TempDir())
			require.NoError(t, err)
			defer w.Close()
			var fatal error
			log := store.NewCommittedGuard(w, func(err error) { fatal = err }, func() uint64 { return committed })
			for i := uint64(1); i <= 10; i++ {
				require.NoError(t, log.StoreLog(&raft.Log{Index: i, Term: 1, Type: raft.LogNoop}))
			}
			err = log.DeleteRange(c.from, c.to)
			if !c.stays {
				require.NoError(t, err)
				require.NoError(t, fatal)
				return
			}
			require.ErrorIs(t, err, store.ErrCommittedTruncated)
			require.ErrorIs(t, fatal, store.ErrCommittedTruncated)
			last, err := log.LastIndex()
			require.NoError(t, err)
			require.EqualValues(t, 10, last)
		})
	}
}
