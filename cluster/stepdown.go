package cluster

import (
	"context"
	"errors"
	"slices"
	"time"
)

// abstention is for how long a node that stops does not stand for election: for
// longer than any stop takes.
const abstention = time.Hour

// StepDown hands leadership over before the node stops, if somebody else can
// take it. Until then the node goes on answering, by way of the new leader.
//
// From then on it votes, and does not stand for election itself: it would lead for
// a moment only, and writes would wait for two elections instead of none.
func (n *Node) StepDown(ctx context.Context) {
	if leading, _ := n.Leading(); !leading || n.soleVoter() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	switch err := n.handOver(ctx, ""); {
	case err == nil:
		n.abstain()
		n.seeSuccessor(ctx)
	case !errors.Is(err, errNotLeading) && !n.stayed.Swap(true):
		n.log.Warn("cluster: the node stops as a leader; the others elect another one when they miss it", "error", err)
	}
}

// abstain has this node wait longer for a leader than it will live.
func (n *Node) abstain() {
	n.abstains.Store(true)
	c := n.raft.ReloadableConfig()
	c.HeartbeatTimeout, c.ElectionTimeout = abstention, abstention
	if err := n.raft.ReloadConfig(c); err != nil {
		n.log.Warn("cluster: the node may stand for election while it stops", "error", err)
	}
}

// seeSuccessor waits until another node leads. raft calls leadership handed over
// when it is given up. Whoever was to take it may hang in its disk before it has
// counted its votes, which the others would wait for as long as for a leader that
// died; so they are asked, one after the other, to stand instead.
func (n *Node) seeSuccessor(ctx context.Context) {
	for _, id := range slices.Sorted(slices.Values(n.Voters())) {
		if id == string(n.id) {
			continue
		}
		if n.isLedAnew(ctx, string(n.id), n.config.hooks.step) || ctx.Err() != nil {
			return
		}
		n.log.Info("cluster: nobody has taken over yet, another node is asked to", "name", n.nameOf(id))
		_, _ = n.ask(ctx, id, nil, opStand, nil, statusTimeout)
	}
	n.isLedAnew(ctx, string(n.id), n.config.hooks.step)
}
