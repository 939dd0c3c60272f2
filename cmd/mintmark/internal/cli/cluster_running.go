package cli

import (
	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// aboutRunningNode is the help about removing a node that still runs.
const aboutRunningNode = `Stop a node that still runs first (SIGTERM): it refuses new requests, answers
those that it has, and ends. Requests to a node that is removed while it runs fail
with 503. Only a node that may be compromised is removed without stopping it first.`

// nodeAnswers reports whether a node, given by name or id, answers the node that serves this
// command. It is false if that is not known.
func nodeAnswers(cmd *cobra.Command, c *admin.Caller, name string) bool {
	s, err := admin.ShowCluster.Call(cmdContext(cmd), c, admin.StatusQuery{})
	if err != nil {
		return false
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Name == name || n.ID == name {
			return n.State != status.StateUnreachable
		}
	}
	return false
}
