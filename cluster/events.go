package cluster

import (
	"log/slog"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/member"
)

// Every node logs each change of the cluster in one line, for an operator who reads the
// log of one node. raft logs the same many times, and with ids.

// noLeaderLogDelay is how long there may be no leader before that is logged: an
// election takes less.
const noLeaderLogDelay = 3 * time.Second

// loggedState is what was logged of this node's own role. It is used by reportSelf only.
type loggedState struct {
	voter, noLeader bool
	noLeaderSince   time.Time // since when no leader is known; zero while one is
}

// logOwnState logs that this node has become a voter, and that there has been no leader
// for a while.
func (n *Node) logOwnState(t *loggedState) {
	if voter := slices.Contains(n.Voters(), string(n.id)); voter != t.voter {
		if t.voter = voter; voter {
			n.log.Info("node caught up and became a voter")
		}
	}
	w := n.leader.Route()
	known := w.Leading || w.Leader != ""
	switch {
	case known && t.noLeader:
		n.log.Info("leader known again", "name", n.Leader())
		fallthrough
	case known:
		t.noLeaderSince, t.noLeader = time.Time{}, false
	case t.noLeaderSince.IsZero():
		t.noLeaderSince = time.Now()
	case !t.noLeader && time.Since(t.noLeaderSince) > noLeaderLogDelay && n.checks.excluded() == nil:
		t.noLeader = true
		n.log.Warn("no leader known, deciding nothing")
	}
}

// logMemberChanges logs the members that were added and removed between two peer lists. It
// logs nothing for the first list.
func logMemberChanges(log *slog.Logger, self string, old, list []member.Member) {
	if len(old) == 0 {
		return
	}
	has := func(all []member.Member, id string) bool {
		return slices.ContainsFunc(all, func(m member.Member) bool { return m.ID == id })
	}
	for i := range list {
		if m := &list[i]; !has(old, m.ID) {
			log.Info("node added", "name", m.Name, "address", m.Address)
		}
	}
	for i := range old {
		if m := &old[i]; !has(list, m.ID) && m.ID != self { // Removed.Mark logs its own removal
			log.Info("node removed", "name", m.Name)
		}
	}
}
