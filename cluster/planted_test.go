package cluster_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
)

// crashingVotes is a disk on which a crash can interrupt the write of a vote.
type crashingVotes struct {
	raft.StableStore
	inTwo bool // the vote is written as two records, as raft does by default
	crash *atomic.Bool
}

var errCrash = errors.New("crash")

func (c *crashingVotes) Set(key, val []byte) error {
	switch {
	case string(key) != "Vote":
		return c.StableStore.Set(key, val)
	case !c.inTwo:
		if c.crash.Load() {
			return errCrash
		}
		return c.StableStore.Set(key, val)
	}
	if err := c.StableStore.Set([]byte("term of the vote"), val[:8]); err != nil {
		return err
	}
	if c.crash.Load() {
		return errCrash
	}
	return c.StableStore.Set([]byte("candidate of the vote"), val[8:])
}

func (c *crashingVotes) Get(key []byte) ([]byte, error) {
	if string(key) != "Vote" || !c.inTwo {
		return c.StableStore.Get(key)
	}
	term, err := c.StableStore.Get([]byte("term of the vote"))
	if err != nil || len(term) == 0 {
		return nil, err
	}
	candidate, err := c.StableStore.Get([]byte("candidate of the vote"))
	return append(term[:8:8], candidate...), err
}

// TestPlantedVoteInTwoSteps replaces the wrapper of vote_store.go by raft's way of
// writing a vote as two records. A node that crashed between the two writes combines the
// new term with the earlier candidate, and so grants its vote to a candidate that lacks
// committed entries (hashicorp/raft #661). The same crash is harmless when the vote is
// one record.
func TestPlantedVoteInTwoSteps(t *testing.T) {
	t.Parallel()
	for name, inTwo := range map[string]bool{"in two records": true, "in one record": false} {
		t.Run(name, func(t *testing.T) {
			var crash atomic.Bool
			tr := newCluster3(t, func(c *cluster.Config) {
				h := cluster.Hooks{Raft: func(c *raft.Config) { // no node campaigns except through the test
					c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = time.Hour, time.Hour, time.Minute
				}}
				if c.Name == "n3" {
					h.Stable = func(s raft.StableStore) raft.StableStore {
						return &crashingVotes{StableStore: s, inTwo: inTwo, crash: &crash}
					}
				}
				*c = cluster.WithHooks(*c, h)
			})
			requireWrite(t, tr.nodes[0])
			tr.requireSameState()
			voter := raft.ServerID(tr.nodes[2].ID())
			ask := func(from int, term, lastIndex, lastTerm uint64) (granted bool, err error) {
				n := tr.nodes[from]
				self := n.Transport().EncodePeer(raft.ServerID(n.ID()), n.Transport().LocalAddr())
				var answer raft.RequestVoteResponse
				err = n.Transport().RequestVote(voter, raft.ServerAddress(voter), &raft.RequestVoteRequest{
					RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(n.ID()), Addr: self},
					Term:      term, LastLogIndex: lastIndex, LastLogTerm: lastTerm, LeadershipTransfer: true,
				}, &answer)
				return answer.Granted, err
			}
			s := tr.nodes[0].Stats()
			granted, err := ask(1, s.Term+1, s.Last+1, s.Term)
			require.NoError(t, err)
			require.True(t, granted, "a candidate with a complete log gets the vote")

			crash.Store(true)
			granted, _ = ask(0, s.Term+2, s.Last+1, s.Term)
			require.False(t, granted, "the voter crashed before it answered")
			shut(t, tr.nodes[2])
			crash.Store(false)
			tr.start(2)
			require.Equal(t, s.Term+2, tr.nodes[2].Stats().Term)
			require.Eventually(t, func() bool {
				granted, err = ask(1, s.Term+2, 0, 0)
				return err == nil
			}, 20*time.Second, 10*time.Millisecond)
			require.Equal(t, inTwo, granted, "a candidate with an empty log")
		})
	}
}
