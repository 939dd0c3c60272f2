package main

import (
	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// aboutLiving is for whoever takes out a node that runs.
const aboutLiving = `Stop a node that still runs first (SIGTERM): it says no to new requests, answers
those that it has, and ends. What is sent to a node that is removed while it runs
fails with 503. Only one that may be in wrong hands is not waited for.`

// answers says whether a node, named by name or id, answers the one that is
// asked. Where that can't be told there is nothing to warn of.
func answers(cmd *cobra.Command, c *admin.Caller, name string) bool {
	s, err := admin.ShowCluster.Call(cmdContext(cmd), c, admin.StatusQuery{})
	if err != nil {
		return false
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Name == name || n.ID == name {
			return n.State != admin.StateUnreachable
		}
	}
	return false
}
