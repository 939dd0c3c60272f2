package cluster

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// A RefusedError is the answer to a change of membership that the rules do not
// allow.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// decide proposes a command of this package.
func (n *Node) decide(ctx context.Context, c Command) (membership, error) {
	value, _, err := n.Propose(ctx, c)
	if err != nil {
		return membership{}, err
	}
	m := value.(membership)
	if m.Refused != "" {
		return m, &RefusedError{m.Refused}
	}
	return m, nil
}

// prepareFounding makes the list of a cluster that starts with this node.
func (n *Node) prepareFounding() error {
	hash, err := keyHash(n.credentials.key)
	if err != nil {
		return err
	}
	a, err := newAuthority(n.config.Rand, n.config.Secrets, n.config.Now())
	if err != nil {
		return err
	}
	return n.roster.replace(rosterList{
		Founding: true,
		Members: []Member{{
			ID: string(n.id), Name: n.config.Name, Address: n.config.Network.Advertise, Key: hash,
			Version: n.config.Version, Level: n.core.schema.level, Issuer: a.ID,
		}},
		Authorities: []authority{a},
	})
}

// followMembers keeps the roster as new as the state, and closes connections
// with those who are no members any more.
func (n *Node) followMembers() {
	for {
		membersChanged, authoritiesChanged, levelRaised := n.Changed(membersTable), n.Changed(authoritiesTable), n.Changed(statusTable)
		var again <-chan time.Time
		if n.config.Network != nil {
			changed, later, err := n.roster.follow(n.View(), n.opensAuthority)
			if err != nil {
				n.log.Error("cluster: keep the list of peers", "error", err)
			}
			if changed {
				n.network.dropStrangers()
			}
			if later || err != nil {
				again = time.After(time.Second)
			}
		}
		select {
		case <-again:
		case <-membersChanged:
		case <-authoritiesChanged:
		case <-levelRaised:
		case <-n.stopped:
			return
		}
	}
}

const (
	tendInterval = 500 * time.Millisecond
	// caughtUp is how many entries a node that joins may be behind when it
	// becomes a voter: what is under way at any time.
	caughtUp = 512
)

// tendMembers is the leader's duty: raft's configuration follows the members.
// There is no autopilot: nothing here removes a member because it is silent.
func (n *Node) tendMembers(ctx context.Context) {
	if n.config.Network == nil {
		return
	}
	ticker := time.NewTicker(tendInterval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		changed := n.Changed(membersTable)
		if err := n.tend(ctx); err != nil && ctx.Err() == nil {
			n.log.Warn("cluster: tend the members", "error", err)
		}
		select {
		case <-changed:
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// tend takes one round of steps. Each is safe to repeat.
func (n *Node) tend(ctx context.Context) error {
	view := n.View()
	all := members(view)
	if len(all) == 0 {
		return n.foundCluster(ctx)
	}
	if err := n.tendServers(ctx); err != nil {
		return err
	}
	now := n.config.Now().UnixMilli()
	for _, i := range list[invite](view, invitesTable) {
		if now >= i.Expires {
			if _, err := n.decide(ctx, &expireInvites{}); err != nil {
				return err
			}
			break
		}
	}
	if err := n.tendAuthorities(ctx, view, all); err != nil {
		return err
	}
	return n.tendLevel(ctx, all)
}

// foundCluster writes the first members into the state.
func (n *Node) foundCluster(ctx context.Context) error {
	n.founding.Lock()
	defer n.founding.Unlock()
	if n.config.Network == nil || len(members(n.View())) > 0 {
		return nil
	}
	if n.roster.empty() {
		// The folder was made by a node that ran alone.
		if err := n.prepareFounding(); err != nil {
			return err
		}
	}
	list := n.roster.get()
	_, err := n.decide(ctx, &found{Members: list.Members, Authorities: list.Authorities})
	return err
}

// tendServers makes one change of raft's configuration, if one is due, and
// unless somebody else is making one: a member that is being removed must not be
// taken in again meanwhile.
func (n *Node) tendServers(ctx context.Context) error {
	if !n.configuring.try() {
		return nil
	}
	defer n.configuring.end()
	member, suffrage := n.membersAndServers() // as the change before left them
	for id := range suffrage {
		if member[id] != nil {
			continue
		}
		if id == n.id {
			// This node was removed: another one must lead the change.
			return n.handOver(ctx, "")
		}
		n.log.Info("cluster: a node leaves the configuration", "id", id)
		return await(n.raft.RemoveServer(id, 0, n.config.ProposeTimeout), n.stopped)
	}
	for id, m := range member {
		role, known := suffrage[id]
		switch {
		case !known:
			n.log.Info("cluster: a node joins and catches up", "name", m.Name, "id", id)
			return await(n.raft.AddNonvoter(id, raft.ServerAddress(id), 0, n.config.ProposeTimeout), n.stopped)
		case role == raft.Voter && member[raft.ServerID(m.Replaces)] != nil:
			if gone, err := n.takeReplaced(ctx, m); gone || err != nil {
				return err
			}
		case role != raft.Voter:
			committed := n.raft.CommitIndex()
			s, err := n.askStatus(ctx, string(id))
			if err != nil || s.Applied+caughtUp < committed {
				continue
			}
			n.log.Info("cluster: a node has caught up and becomes a voter", "name", m.Name, "id", id)
			return await(n.raft.AddVoter(id, raft.ServerAddress(id), 0, n.config.ProposeTimeout), n.stopped)
		}
	}
	return nil
}

// membersAndServers are those of the state, and those of raft's configuration.
func (n *Node) membersAndServers() (map[raft.ServerID]*Member, map[raft.ServerID]raft.ServerSuffrage) {
	member := make(map[raft.ServerID]*Member)
	for _, m := range members(n.View()) {
		member[raft.ServerID(m.ID)] = m
	}
	suffrage := make(map[raft.ServerID]raft.ServerSuffrage)
	for _, s := range n.raft.GetConfiguration().Configuration().Servers {
		suffrage[s.ID] = s.Suffrage
	}
	return member, suffrage
}

// tendLevel raises the feature level when every member's program has it.
func (n *Node) tendLevel(ctx context.Context, all []*Member) error {
	lowest := n.core.schema.level
	for _, m := range all {
		lowest = min(lowest, m.Level)
	}
	if lowest <= n.core.level.Load() {
		return nil
	}
	n.log.Info("cluster: every node has a higher feature level", "level", lowest)
	_, err := n.decide(ctx, &raiseLevel{Level: lowest})
	return err
}

// reportMyself tells the cluster what this node's row should say.
func (n *Node) reportMyself() {
	if n.config.Network == nil {
		return
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var asked time.Time
	for {
		changed := n.Changed(membersTable)
		if silent := n.findLeader(); len(silent) > 0 && time.Since(asked) >= expelledPause {
			n.askWhetherExpelled(silent)
			asked = time.Now()
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
	guess, unheard := n.leader.unheard()
	if !unheard || n.isClosing() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	var mu sync.Mutex // of silent
	var asking sync.WaitGroup
	for _, m := range n.roster.get().Members {
		if m.ID == string(n.id) {
			continue
		}
		asking.Go(func() {
			s, err := n.askStatus(ctx, m.ID)
			switch {
			case err == nil && s.State == StateLeader:
				n.leader.hearInstead(m.ID)
			case m.ID == guess:
				n.leader.forget(guess)
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
	m, ok := n.roster.member(string(n.id))
	if !ok || n.roster.get().Seq == 0 {
		return nil // the state is not there yet, or this node was removed
	}
	_, issuer := n.credentials.expiry()
	want := updateMember{
		ID: m.ID, Address: n.config.Network.Advertise, Version: n.config.Version, Level: n.core.schema.level,
		Issuer: issuer, Knows: n.roster.announced(),
	}
	if want == (updateMember{m.ID, m.Address, m.Version, m.Level, m.Issuer, m.Knows}) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), n.config.ProposeTimeout)
	defer cancel()
	_, err := n.decide(ctx, &want)
	return err
}

// Voters returns the ids of the nodes that vote, as this node knows them.
func (n *Node) Voters() []string {
	var ids []string
	for _, s := range n.raft.GetConfiguration().Configuration().Servers {
		if s.Suffrage == raft.Voter {
			ids = append(ids, string(s.ID))
		}
	}
	return ids
}

// Members returns the members as this node knows them.
func (n *Node) Members() []Member { return n.roster.get().Members }

// Invite makes a join token for a node that will have the given name. With
// replaces, a member's name, that member goes when the new one has become a
// voter. The error is a *RefusedError where a rule stands against it.
func (n *Node) Invite(ctx context.Context, name, replaces string, lifetime time.Duration) (token string, expires time.Time, err error) {
	a := n.roster.authority()
	if a == nil {
		return "", time.Time{}, &RefusedError{"this node has no network for others to join: run it with mintmark serve"}
	}
	if replaces != "" {
		old := memberNamed(n.View(), replaces)
		if old == nil {
			return "", time.Time{}, &RefusedError{"the cluster has no node " + replaces}
		}
		replaces = old.ID
	}
	var secret [tokenSecret]byte
	if _, err := io.ReadFull(rand.Reader, secret[:]); err != nil {
		return "", time.Time{}, fmt.Errorf("make a join token: %w", err)
	}
	if _, err := n.decide(ctx, &addInvite{
		ID: inviteID(secret[:]), Name: name, Lifetime: lifetime.Milliseconds(), Replaces: replaces,
	}); err != nil {
		return "", time.Time{}, err
	}
	print, err := hex.DecodeString(a.ID)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("read the authority's fingerprint: %w", err)
	}
	raw := append([]byte{tokenVersion}, print...)
	raw = append(raw, secret[:]...)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(raw), n.config.Now().Add(lifetime), nil
}

func inviteID(secret []byte) string {
	sum := sha256.Sum256(append([]byte("mintmark join "), secret...))
	return hex.EncodeToString(sum[:])
}

// waitFor polls a condition that nothing announces.
func (n *Node) waitFor(ctx context.Context, met func() bool) error {
	for !met() {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		case <-n.stopped:
			return errClosed
		}
	}
	return nil
}

// TransferLeadership hands leadership to a member, or with "" to the voter that
// is furthest. It returns when the leader has heard that it was taken.
func (n *Node) TransferLeadership(ctx context.Context, name string) error {
	to := ""
	if name != "" {
		m := memberNamed(n.View(), name)
		if m == nil {
			return &RefusedError{"the cluster has no node " + name}
		}
		to = m.ID
	}
	patience := time.Now().Add(n.config.LeaderTimeout)
	for {
		w := n.leader.route()
		err := n.handOverBy(ctx, w, to)
		if !errors.Is(err, errNotLeading) || n.pause(ctx, w, patience) != nil {
			return err
		}
	}
}

func (n *Node) handOverBy(ctx context.Context, w way, to string) error {
	switch {
	case w.leading:
		err := n.handOver(ctx, to)
		if err != nil && !errors.Is(err, errNotLeading) {
			return &RefusedError{err.Error()} // raft says of whom it is not true
		}
		return err
	case !n.elsewhere(w):
		return fmt.Errorf("%w: %w", ErrUnavailable, errNotLeading)
	}
	answer, err := n.ask(ctx, w.leader, nil, opTransfer, []byte(to), n.config.ProposeTimeout)
	switch {
	case err != nil:
		return fmt.Errorf("%w: ask the leader: %w", ErrUnavailable, err)
	case answer.status == replyFailed:
		return &RefusedError{string(answer.body)}
	case answer.status != replyOK:
		return answer.err()
	}
	return nil
}

// handOver transfers the leadership of this node, with "" to the node that is
// best off, as far as this one knows, or to the one that raft finds. It tries twice, since raft may
// find only then that a connection it had kept is broken: the other node may
// have been started again.
func (n *Node) handOver(ctx context.Context, to string) error {
	switch to {
	case string(n.id):
		return nil
	case "":
		to = n.successor()
	}
	err := n.transfer(ctx, to)
	if err != nil && ctx.Err() == nil && !errors.Is(err, raft.ErrNotLeader) {
		err = n.transfer(ctx, to)
	}
	switch {
	case errors.Is(err, raft.ErrNotLeader):
		return fmt.Errorf("%w: %w", ErrUnavailable, errNotLeading)
	case err != nil:
		return fmt.Errorf("hand over leadership: %w", err)
	}
	return nil
}

func (n *Node) transfer(ctx context.Context, to string) error {
	var f raft.Future
	if to == "" {
		f = n.raft.LeadershipTransfer()
	} else {
		f = n.raft.LeadershipTransferToServer(raft.ServerID(to), raft.ServerAddress(to))
	}
	done := make(chan error, 1)
	go func() { done <- await(f, n.stopped) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// StepDown hands leadership over before the node stops, if somebody else can
// take it. Until then the node goes on answering, by way of the new leader.
func (n *Node) StepDown(ctx context.Context) {
	if leading, _ := n.Leading(); !leading || n.soleVoter() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := n.handOver(ctx, ""); err != nil && !errors.Is(err, errNotLeading) && !n.stayed.Swap(true) {
		n.log.Warn("cluster: the node stops as a leader; the others elect another one when they miss it", "error", err)
	}
}
