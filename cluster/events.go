package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/member"
)

// What an operator who reads one node's log should know of the cluster: each
// change in one line, on every node. Raft says the same many times, and with ids.

// noLeaderLogDelay is how long there may be no leader before that is said: an
// election takes less.
const noLeaderLogDelay = 3 * time.Second

// logLeaderChange says who leads, when that is another one than was said last. It is
// of the goroutine that watches leadership.
func (n *Node) logLeaderChange(id string) {
	if id == "" || id == n.loggedLeader {
		return
	}
	n.loggedLeader = id
	if id != string(n.id) { // else it says so when it is ready to
		n.log.Info("cluster: another node leads", "name", n.nameOf(id), "term", n.raft.CurrentTerm())
	}
}

// loggedState is what was said of this node's own place. It is the reporter's.
type loggedState struct {
	voter, noLeader bool
	noLeaderSince   time.Time // since when no leader is known; zero while one is
}

func (n *Node) newLoggedState() *loggedState {
	return &loggedState{voter: slices.Contains(n.Voters(), string(n.id))}
}

// logOwnState says that this node has become a voter, and that there has been no
// leader for a while.
func (n *Node) logOwnState(t *loggedState) {
	if voter := slices.Contains(n.Voters(), string(n.id)); voter != t.voter {
		if t.voter = voter; voter {
			n.log.Info("cluster: this node has caught up and is a voter from now on")
		}
	}
	w := n.leader.Route()
	known := w.Leading || w.Leader != ""
	switch {
	case known && t.noLeader:
		n.log.Info("cluster: there is a leader again", "name", n.Leader())
		fallthrough
	case known:
		t.noLeaderSince, t.noLeader = time.Time{}, false
	case t.noLeaderSince.IsZero():
		t.noLeaderSince = time.Now()
	case !t.noLeader && time.Since(t.noLeaderSince) > noLeaderLogDelay && n.Removed() == nil && n.Duplicate() == nil:
		t.noLeader = true
		n.log.Warn("cluster: no leader is known, so nothing can be decided; mintmark cluster status says who is missing")
	}
}

// reportExit reports to the other members why this node is about to end, so that
// their operators need not look for it in the log of a node that is gone. A
// connection that broke unnoticed while this node hung costs the first try.
func (n *Node) reportExit(err error) {
	if n.config.Network == nil || n.network == nil {
		return
	}
	n.exitReason.Store(new(err.Error()))
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	var reporting sync.WaitGroup
	for _, m := range n.folder.PeerList.Get().Members {
		if m.ID == string(n.id) {
			continue
		}
		reporting.Go(func() {
			if _, err := n.askStatus(ctx, m.ID); err != nil {
				_, _ = n.askStatus(ctx, m.ID)
			}
		})
	}
	reporting.Wait()
}

// logMemberChanges says who has come and who has gone between two lists of peers. The
// first list that there is says nothing new.
func (n *Node) logMemberChanges(old, list []member.Member) {
	if len(old) == 0 {
		return
	}
	has := func(all []member.Member, id string) bool {
		return slices.ContainsFunc(all, func(m member.Member) bool { return m.ID == id })
	}
	for i := range list {
		if m := &list[i]; !has(old, m.ID) {
			n.log.Info("cluster: a node was added", "name", m.Name, "address", m.Address)
		}
	}
	for i := range old {
		if m := &old[i]; !has(list, m.ID) && m.ID != string(n.id) { // of itself a node says more, see expel
			n.log.Info("cluster: a node was removed", "name", m.Name)
		}
	}
}
