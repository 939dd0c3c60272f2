//go:build long

package chaos

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/clustertest"
)

// moved restarts nodes at other addresses, which only the nodes themselves announce.
func moved(whom target) fault {
	was := map[*node]string{}
	return fault{
		name: "new address of " + whom.name, majority: true, planned: true, moves: 1,
		inject: func(r *round) error {
			clear(was)
			return eachOf(r.hits(whom.nodes(r)...), func(n *node) error {
				if err := n.Process().Stop(syscall.SIGTERM, 2*maxRequestTime); err != nil {
					return err
				}
				was[n], n.Raft = n.Raft, clustertest.Address(r.t)
				return n.start()
			})
		},
		hadEffect: func(r *round) bool {
			s, err := r.c.status()
			if err != nil {
				return false
			}
			known := 0
			for _, m := range s.Nodes {
				if n := r.c.node(m.Name); was[n] != "" && m.Address == n.Raft && m.State != "unreachable" {
					known++
				}
			}
			return known == len(r.victims)
		},
		heal: func(r *round) error {
			for _, n := range r.victims {
				if n.Raft == was[n] {
					return fmt.Errorf("%s has not moved", n.Name)
				}
			}
			return nil
		},
	}
}

// TestAddresses moves nodes of a cluster whose addresses are only in its own peer list.
func TestAddresses(t *testing.T) {
	c := newSingle(t, build(t), false)
	c.links = nil
	c.assemble(nodes)
	s := newSummary()
	s.run(t, c, moved(aFollower), moved(theLeader))
	s.print(t)
	require.Zero(t, s.voids, "%v", s.voidReasons)
}
