package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
)

// TestStatusTellsOfIsolation: what a node knows of its disk, and of those that hang
// up, reaches whoever judges the health of the cluster.
func TestStatusTellsOfIsolation(t *testing.T) {
	s := statusOf(cluster.Overview{
		Isolated: "the disk is full",
		Nodes:    []cluster.NodeStatus{{Name: "n1"}, {Name: "n2", HungUp: true}},
	})
	require.Equal(t, "the disk is full", s.Isolated)
	require.False(t, s.Nodes[0].HungUp)
	require.True(t, s.Nodes[1].HungUp)
}
