package election

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/transport"
)

const (
	// stepDownTimeout bounds a transfer that no operator asked for.
	stepDownTimeout = 2 * time.Second
	// withdrawnTimeout is how long a node that stops does not campaign: longer than any
	// stop takes.
	withdrawnTimeout = time.Hour
)

// StepDown transfers leadership before the node stops, if another voter can take it.
// Until then the node goes on answering, by way of the new leader.
//
// From then on it votes, and does not campaign itself: it would lead for
// a moment only, and writes would wait for two elections instead of none.
func (e *Elector) StepDown(ctx context.Context) {
	if leading, _ := e.Get(); !leading || e.SoleVoter() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, stepDownTimeout)
	defer cancel()
	switch err := e.Transfer(ctx, ""); {
	case err == nil:
		e.withdraw()
		e.ensureNewLeader(ctx)
	case !errors.Is(err, ErrNotLeading) && !e.transferFailureLogged.Swap(true):
		e.Log.Warn("leadership not transferred before the stop", "error", err)
	}
}

// withdraw raises the election timeout above the time of any stop, so that this node does
// not campaign any more.
func (e *Elector) withdraw() {
	e.withdrawn.Store(true)
	c := e.raft.ReloadableConfig()
	c.HeartbeatTimeout, c.ElectionTimeout = withdrawnTimeout, withdrawnTimeout
	if err := e.raft.ReloadConfig(c); err != nil {
		e.Log.Warn("candidacy not withdrawn before the stop", "error", err)
	}
}

// ensureNewLeader waits until another node leads. raft calls a transfer
// complete when leadership is given up. The target may hang in its disk before it has
// counted its votes, and the others would wait for it as long as for a leader that
// died; so they are asked, one after the other, to campaign instead.
func (e *Elector) ensureNewLeader(ctx context.Context) {
	for _, id := range slices.Sorted(slices.Values(e.Voters())) {
		if id == string(e.ID) {
			continue
		}
		if e.newLeaderWithin(ctx, string(e.ID), e.CampaignInterval) || ctx.Err() != nil {
			return
		}
		e.Log.Info("leadership transfer timed out, trying another voter", "name", e.NameOf(id))
		_, _ = e.Peers.Ask(ctx, id, nil, transport.OpCampaign, nil, e.CallTimeout)
	}
	e.newLeaderWithin(ctx, string(e.ID), e.CampaignInterval)
}

// AskToCampaign has another voter take over from a leader whose own raft may hang in
// the disk and can't transfer leadership.
func (e *Elector) AskToCampaign() {
	ctx, cancel := context.WithTimeout(context.Background(), e.CallTimeout)
	defer cancel()
	for _, id := range append([]string{e.FallbackTarget()}, e.Voters()...) {
		if id == "" || id == string(e.ID) {
			continue
		}
		if _, err := e.Peers.Ask(ctx, id, nil, transport.OpCampaign, nil, e.CallTimeout); err == nil {
			return
		}
	}
}
