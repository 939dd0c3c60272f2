package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/status"
)

// reportSelf keeps this node's row in the state up to date, and checks whether the node
// is still a member.
func (n *Node) reportSelf() {
	if n.config.Network == nil {
		return
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var asked time.Time
	told := loggedState{voter: slices.Contains(n.Voters(), string(n.id))}
	for {
		changed := n.Changed(member.MembersTable)
		n.logOwnState(&told)
		n.checks.removed.Retry()
		silent := n.findLeader()
		if time.Since(asked) >= n.config.hooks.MembershipCheckInterval {
			if silent = append(silent, n.statuses.silent(silent)...); len(silent) > 0 {
				n.membership.check(silent)
				asked = time.Now()
			}
		}
		if err := n.report(); err != nil && !n.isClosing() {
			n.log.Debug("address and version not reported", "error", err)
		}
		select {
		case <-changed:
		case <-ticker.C:
		case <-n.closing:
			return
		}
	}
}

// findLeader asks the other members which node leads, while raft has no contact to a
// leader: the leader may not know this node's new address yet. A leader that was found is
// asked again until raft has contact, and dropped if it no longer leads or does not answer.
// findLeader returns the members that did not answer.
func (n *Node) findLeader() (silent []string) {
	guess, unheard := n.leader.LeaderUnknown()
	if !unheard || n.isClosing() || n.checks.excluded() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	var mu sync.Mutex // of silent
	var asking sync.WaitGroup
	for _, m := range n.folder.PeerList.Get().Members {
		if m.ID == string(n.id) {
			continue
		}
		asking.Go(func() {
			s, err := n.statuses.ask(ctx, m.ID)
			switch {
			case err == nil && s.State == status.StateLeader:
				n.leader.GuessLeader(m.ID)
			case m.ID == guess:
				n.leader.DropGuess(guess)
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				silent = append(silent, m.ID)
			}
		})
	}
	asking.Wait()
	return silent
}

func (n *Node) report() error {
	m, ok := n.folder.PeerList.Member(string(n.id))
	if !ok || n.folder.PeerList.Get().Seq == 0 {
		return nil // the state is not there yet, or this node was removed
	}
	_, issuer := n.net.credentials.Expiry()
	want := member.Update{
		ID: m.ID, Address: n.config.Network.Advertise, Version: n.config.Version, Level: n.core.Supports(),
		Issuer: issuer, TrustedIssuer: n.folder.PeerList.Announced(),
	}
	if want == (member.Update{ID: m.ID, Address: m.Address, Version: m.Version, Level: m.Level, Issuer: m.Issuer, TrustedIssuer: m.TrustedIssuer}) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), n.config.ProposeTimeout)
	defer cancel()
	_, err := n.decide(ctx, &want)
	return err
}
