package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// withdrawnTimeout is for how long a node that stops does not campaign: for
// longer than any stop takes.
const withdrawnTimeout = time.Hour

// StepDown transfers leadership before the node stops, if somebody else can
// take it. Until then the node goes on answering, by way of the new leader.
//
// From then on it votes, and does not campaign itself: it would lead for
// a moment only, and writes would wait for two elections instead of none.
func (n *Node) StepDown(ctx context.Context) {
	if leading, _ := n.Leading(); !leading || n.soleVoter() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	switch err := n.transferLeadership(ctx, ""); {
	case err == nil:
		n.withdrawCandidacy()
		n.ensureNewLeader(ctx)
	case !errors.Is(err, errNotLeading) && !n.transferFailureLogged.Swap(true):
		n.log.Warn("cluster: the node stops as a leader; the others elect another one when they miss it", "error", err)
	}
}

// withdrawCandidacy has this node wait longer for a leader than it will live.
func (n *Node) withdrawCandidacy() {
	n.withdrawn.Store(true)
	c := n.raft.ReloadableConfig()
	c.HeartbeatTimeout, c.ElectionTimeout = withdrawnTimeout, withdrawnTimeout
	if err := n.raft.ReloadConfig(c); err != nil {
		n.log.Warn("cluster: the node may stand for election while it stops", "error", err)
	}
}

// ensureNewLeader waits until another node leads. raft calls a transfer
// complete when leadership is given up. The target may hang in its disk before it has
// counted its votes, and the others would wait for it as long as for a leader that
// died; so they are asked, one after the other, to campaign instead.
func (n *Node) ensureNewLeader(ctx context.Context) {
	for _, id := range slices.Sorted(slices.Values(n.Voters())) {
		if id == string(n.id) {
			continue
		}
		if n.newLeaderWithin(ctx, string(n.id), n.config.hooks.campaignInterval) || ctx.Err() != nil {
			return
		}
		n.log.Info("cluster: nobody has taken over yet, another node is asked to", "name", n.nameOf(id))
		_, _ = n.peers.Ask(ctx, id, nil, transport.OpCampaign, nil, statusTimeout)
	}
	n.newLeaderWithin(ctx, string(n.id), n.config.hooks.campaignInterval)
}
