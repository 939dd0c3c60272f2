package cluster

import (
	"context"
	"sync"
	"time"
)

// reportSelf tells the cluster what this node's row should say.
func (n *Node) reportSelf() {
	if n.config.Network == nil {
		return
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var asked time.Time
	told := n.newLoggedState()
	for {
		changed := n.Changed(membersTable)
		n.logOwnState(told)
		n.retryWriteRemoval()
		silent := n.findLeader()
		if time.Since(asked) >= n.config.hooks.membershipCheckInterval {
			if silent = append(silent, n.silentMembers(silent)...); len(silent) > 0 {
				n.checkMembership(silent)
				asked = time.Now()
			}
		}
		if err := n.report(); err != nil && !n.isClosing() {
			n.log.Debug("cluster: report this node's address and version", "error", err)
		}
		select {
		case <-changed:
		case <-ticker.C:
		case <-n.closing:
			return
		}
	}
}

// findLeader asks the others who leads when raft has not heard from a leader:
// it may not know yet where this node listens now. Who was found is asked again,
// until raft knows better, and forgotten when it leads no more or says nothing.
// It returns those who did not answer.
func (n *Node) findLeader() (silent []string) {
	guess, unheard := n.leader.leaderUnknown()
	if !unheard || n.isClosing() || n.Removed() != nil || n.Duplicate() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	var mu sync.Mutex // of silent
	var asking sync.WaitGroup
	for _, m := range n.peerList.get().Members {
		if m.ID == string(n.id) {
			continue
		}
		asking.Go(func() {
			s, err := n.askStatus(ctx, m.ID)
			switch {
			case err == nil && s.State == StateLeader:
				n.leader.guessLeader(m.ID)
			case m.ID == guess:
				n.leader.dropGuess(guess)
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
	m, ok := n.peerList.member(string(n.id))
	if !ok || n.peerList.get().Seq == 0 {
		return nil // the state is not there yet, or this node was removed
	}
	_, issuer := n.credentials.expiry()
	want := updateMember{
		ID: m.ID, Address: n.config.Network.Advertise, Version: n.config.Version, Level: n.core.schema.level,
		Issuer: issuer, TrustedIssuer: n.peerList.announced(),
	}
	if want == (updateMember{m.ID, m.Address, m.Version, m.Level, m.Issuer, m.TrustedIssuer}) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), n.config.ProposeTimeout)
	defer cancel()
	_, err := n.decide(ctx, &want)
	return err
}
