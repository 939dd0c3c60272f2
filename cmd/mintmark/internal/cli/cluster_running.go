package cli

import (
	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// aboutRunningNode is for whoever takes out a node that runs.
const aboutRunningNode = `Stop a node that still runs first (SIGTERM): it says no to new requests, answers
those that it has, and ends. What is sent to a node that is removed while it runs
fails with 503. Only one that may be in wrong hands is not waited for.`

// nodeAnswers says whether a node, named by name or id, answers the one that is
// asked. Where that can't be told there is nothing to warn of.
func nodeAnswers(cmd *cobra.Command, c *admin.Caller, name string) bool {
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
