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

// crashingVotes is a disk that a crash hits while a vote is written.
type crashingVotes struct {
	raft.StableStore
	inTwo bool // the vote is in two records, as raft writes it by itself
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

// TestPlantedVoteInTwoSteps plants what vote_store.go keeps out, beneath it: a node that
// crashed between the two writes says that it voted for a candidate of before, and
// so gives its vote to one that lacks what was committed (hashicorp/raft #661). The
// same crash does no harm to a vote in one record.
func TestPlantedVoteInTwoSteps(t *testing.T) {
	t.Parallel()
	for name, inTwo := range map[string]bool{"in two records": true, "in one record": false} {
		t.Run(name, func(t *testing.T) {
			var crash atomic.Bool
			tr := newCluster3(t, func(c *cluster.Config) {
				h := cluster.Hooks{Raft: func(c *raft.Config) { // nobody stands but whom the test has stand
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
			require.True(t, granted, "a candidate that has everything")

			crash.Store(true)
			granted, _ = ask(0, s.Term+2, s.Last+1, s.Term)
			require.False(t, granted, "it crashed before it answered")
			shut(t, tr.nodes[2])
			crash.Store(false)
			tr.start(2)
			require.Equal(t, s.Term+2, tr.nodes[2].Stats().Term)
			require.Eventually(t, func() bool {
				granted, err = ask(1, s.Term+2, 0, 0)
				return err == nil
			}, 20*time.Second, 10*time.Millisecond)
			require.Equal(t, inTwo, granted, "a candidate that has nothing")
		})
	}
}
