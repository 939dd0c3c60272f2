package cluster

import (
	"context"

	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// Backup takes the state with everything that was acknowledged before the call.
// Commands go on meanwhile.
func (n *Node) Backup(ctx context.Context) (*machine.Backup, error) {
	if err := n.waitBarrier(ctx, &n.barriers.all); err != nil {
		return nil, err
	}
	return n.core.Backup(n.stopped)
}
