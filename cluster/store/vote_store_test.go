package store_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/store"
)

// crashingStable fails the write that a crash would have prevented.
type crashingStable struct {
	*raft.InmemStore
	writes int // number of writes that still succeed
}

func (c *crashingStable) Set(key, val []byte) error {
	if c.writes--; c.writes < 0 {
		return errors.New("crash")
	}
	return c.InmemStore.Set(key, val)
}

func (c *crashingStable) SetUint64(key []byte, val uint64) error {
	if c.writes--; c.writes < 0 {
		return errors.New("crash")
	}
	return c.InmemStore.SetUint64(key, val)
}

// TestVoteIsOneRecord (hashicorp/raft #661): the term and the candidate of a vote are
// written as one record, so a crash between two writes can't combine a new term with an
// old candidate.
func TestVoteIsOneRecord(t *testing.T) {
	for writes := range 3 {
		disk := &crashingStable{InmemStore: raft.NewInmemStore(), writes: 10}
		vote := func(s raft.StableStore, term uint64, candidate string) error {
			if err := s.SetUint64([]byte("LastVoteTerm"), term); err != nil {
				return err
			}
			return s.Set([]byte("LastVoteCand"), []byte(candidate))
		}
		require.NoError(t, vote(store.NewVoteStore(disk), 7, "a"))
		disk.writes = writes
		_ = vote(store.NewVoteStore(disk), 8, "b") // may fail as in a crash

		after := store.NewVoteStore(disk)
		term, err := after.GetUint64([]byte("LastVoteTerm"))
		require.NoError(t, err)
		candidate, err := after.Get([]byte("LastVoteCand"))
		require.NoError(t, err)
		require.Contains(t, []string{"7a", "8b"}, string(rune('0'+term))+string(candidate), "term and candidate are of the same vote")
	}
}

// TestVoteRecord: tests that write votes use the format on disk.
func TestVoteRecord(t *testing.T) {
	disk := raft.NewInmemStore()
	v := store.NewVoteStore(disk)
	require.NoError(t, v.SetUint64([]byte("LastVoteTerm"), 7))
	require.NoError(t, v.Set([]byte("LastVoteCand"), []byte("a")))
	record, err := disk.Get([]byte("Vote"))
	require.NoError(t, err)
	require.Equal(t, uint64(7), binary.BigEndian.Uint64(record))
	require.Equal(t, "a", string(record[8:]))
}
