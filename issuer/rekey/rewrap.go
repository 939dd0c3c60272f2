package rekey

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/issuer/keyring"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/keys"
)

const (
	// rewrapTimeout is shorter than the timeout of an operator's command.
	rewrapTimeout = 45 * time.Second
	// ackTimeout is how long a node may take to acknowledge a key that it received.
	ackTimeout = 10 * time.Second
	// forcedAckTimeout is ackTimeout if some nodes are known to be down.
	forcedAckTimeout = 3 * time.Second
)

// A RewrapResult reports a change of the cluster key.
type RewrapResult struct {
	ID      string // public id of the key under which everything is sealed
	Resumed bool   // an earlier change was finished, and no other begun
	// Behind are the names of the nodes that have not adopted the key yet. They will do so
	// by themselves, at their next start at the latest.
	Behind []string
}

// Rewrap changes the cluster key while the cluster runs:
//
//  1. Every member is asked whether it could store another key.
//  2. A new key is stored on this node and distributed to every member.
//  3. Every voter acknowledges in the ledger that it has stored the key.
//  4. The keyring is sealed under the key in one command, which the ledger refuses without 3.
//     Then the key of the cluster's authority is sealed under it.
//  5. Each node adopts the key when it finds everything sealed under it. Rewrap waits for that
//     for a while, and names the nodes that have not.
//
// An interruption before 4 leaves a key under which nothing is sealed; the next Rewrap on
// this node continues with it. After 4 the leader continues by itself. If force is set,
// unreachable voters don't prevent the change while a majority is reachable: they fetch
// the key from the others when they are back.
//
// The error is keyring.Refused if a rule forbids the change.
func (r *Rekeyer) Rewrap(ctx context.Context, force bool) (RewrapResult, error) {
	if !r.rewrapMu.TryLock() {
		return RewrapResult{}, keyring.Refused("this node is changing the cluster key already")
	}
	defer r.rewrapMu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, rewrapTimeout)
	defer cancel()
	id, err := r.resumeRewrap(ctx)
	if err != nil {
		return RewrapResult{}, err
	}
	if id != "" {
		return RewrapResult{id, true, r.nodesBehind(ctx, id, force)}, nil
	}
	key, err := r.distributeKey(ctx, force)
	if err != nil {
		return RewrapResult{}, err
	}
	voters, err := r.waitStored(ctx, key.ID(), force)
	if err != nil {
		return RewrapResult{}, err
	}
	if err := r.rewrapKeyring(ctx, key, voters); err != nil {
		return RewrapResult{}, err
	}
	if err := r.rewrapAuthorities(ctx, key); err != nil {
		return RewrapResult{ID: key.ID()}, err
	}
	return RewrapResult{ID: key.ID(), Behind: r.nodesBehind(ctx, key.ID(), force)}, nil
}

// nodesBehind waits for a while until every node has adopted the key, and returns the
// names of those that have not. Operators who copy a node's key file need to know.
func (r *Rekeyer) nodesBehind(ctx context.Context, key string, force bool) []string {
	late, cancel := context.WithTimeout(ctx, ackTimeoutFor(force))
	defer cancel()
	for {
		changed, v := r.Ledger.Node.Changed(ledger.TableNodes), r.Ledger.View()
		var behind []string
		for _, m := range r.Ledger.Node.Members() {
			if n := v.Node(m.ID); n == nil || !slices.Equal(n.ClusterKeys, []string{key}) {
				behind = append(behind, m.ID)
			}
		}
		if len(behind) == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-late.Done():
			return r.nodeNames(behind)
		}
	}
}

// ackTimeoutFor returns how long to wait for the acknowledgement of each node.
func ackTimeoutFor(force bool) time.Duration {
	if force {
		return forcedAckTimeout
	}
	return ackTimeout
}

// resumeRewrap finishes a change whose key the keyring is already sealed under. id is ""
// if there is none.
func (r *Rekeyer) resumeRewrap(ctx context.Context) (id string, err error) {
	v, err := r.Ledger.ViewFresh(ctx)
	if err != nil {
		return "", err
	}
	under := v.SealedUnder()
	if under == "" {
		return "", nil
	}
	key, err := r.ClusterKeys.Get(under)
	if err != nil {
		return "", fmt.Errorf("finish a change of the cluster key: %w", err)
	}
	begun := r.ClusterKeys.Current().ID() != under
	if err := r.rewrapAuthorities(ctx, key); err != nil || !begun {
		return "", err
	}
	return under, nil
}

// distributeKey generates a key, or takes that of an unfinished change, and distributes it
// to every member. It changes nothing if a member can't store the key.
func (r *Rekeyer) distributeKey(ctx context.Context, force bool) (keys.ClusterKey, error) {
	if err := r.ClusterKeys.Changeable(); err != nil {
		return keys.ClusterKey{}, keyring.Refused("nothing was changed: this node: " + err.Error())
	}
	if err := checkDistributed(r.Ledger.Node.Secrets().Distribute(ctx, nil), force); err != nil {
		return keys.ClusterKey{}, err
	}
	key, err := r.keyToDistribute()
	if err != nil {
		return key, err
	}
	return key, checkDistributed(r.Ledger.Node.Secrets().Distribute(ctx, key.Text()), force)
}

func (r *Rekeyer) keyToDistribute() (keys.ClusterKey, error) {
	if next := r.ClusterKeys.PendingIDs(); len(next) > 0 {
		return r.ClusterKeys.Get(next[0])
	}
	key, err := keys.NewClusterKey(r.Rand)
	if err != nil {
		return key, err
	}
	return key, r.Receive(key.Text())
}

// checkDistributed returns an error that names the nodes that lack the key and are
// required for the change.
func checkDistributed(err error, force bool) error {
	var not *cluster.DistributeError
	if err == nil || !errors.As(err, &not) {
		return err
	}
	var all []string
	unreachable := false
	for _, n := range not.Failures {
		switch {
		case !n.Unreachable:
			all = append(all, "node "+n.Name+": "+n.Reason)
		case n.Voter && !force:
			all = append(all, "node "+n.Name+" can't be reached")
			unreachable = true
		}
	}
	if len(all) == 0 {
		return nil
	}
	refused := keyring.Refused("the cluster key was not changed: " + strings.Join(all, "; "))
	if unreachable {
		return fmt.Errorf("%w: %w", ErrNodeUnreachable, refused)
	}
	return refused
}

// waitStored waits until every voter has acknowledged storing a key, and returns the
// voters. If force is set, a majority is enough.
func (r *Rekeyer) waitStored(ctx context.Context, key string, force bool) ([]string, error) {
	r.wake()
	late, cancel := context.WithTimeout(ctx, ackTimeoutFor(force))
	defer cancel()
	for {
		changed := r.Ledger.Node.Changed(ledger.TableNodes)
		v, voters := r.Ledger.View(), r.Ledger.Node.Voters()
		without := slices.DeleteFunc(slices.Clone(voters), func(id string) bool {
			n := v.Node(id)
			return n != nil && slices.Contains(n.ClusterKeys, key)
		})
		if len(without) == 0 {
			return voters, nil
		}
		select {
		case <-changed:
			continue
		case <-late.Done():
		}
		switch holding := len(voters) - len(without); {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("%w: wait for nodes to store the new cluster key: %w", oauth.ErrUnavailable, ctx.Err())
		case force && holding > len(voters)/2:
			r.Log.Warn("cluster key change continued without unreachable nodes", "nodes", r.joinNodeNames(without))
			return slices.DeleteFunc(voters, func(id string) bool { return slices.Contains(without, id) }), nil
		}
		return nil, keyring.Refused("the cluster key was not changed: " + r.joinNodeNames(without) + " has not acknowledged the new one")
	}
}

func (r *Rekeyer) joinNodeNames(ids []string) string {
	return "node " + strings.Join(r.nodeNames(ids), ", node ")
}

// nodeNames returns the names of nodes, or their ids if they have no name.
func (r *Rekeyer) nodeNames(ids []string) (all []string) {
	for _, id := range ids {
		for _, m := range r.Ledger.Node.Members() {
			if m.ID == id && m.Name != "" {
				id = m.Name
			}
		}
		all = append(all, id)
	}
	return all
}

// rewrapTries bounds the attempts if the keyring changes between the view and the command.
const rewrapTries = 5

// rewrapKeyring seals the whole keyring under a key.
func (r *Rekeyer) rewrapKeyring(ctx context.Context, key keys.ClusterKey, voters []string) error {
	for try := 1; ; try++ {
		v, err := r.Ledger.ViewFresh(ctx)
		if err != nil {
			return err
		}
		sealed, err := keyring.Rewrap(v, r.ClusterKeys, key, r.Rand)
		if err != nil {
			return err
		}
		command := &ledger.Rewrap{To: key.ID(), Keys: sealed, Voters: voters}
		outcome, _, err := r.Ledger.Propose(ctx, command)
		switch refused := outcome.Refusal; {
		case err != nil:
			return fmt.Errorf("rewrap keyring: %w", err)
		case refused == nil:
			return nil
		case refused.Cause == ledger.KeyringDiffers && try < rewrapTries:
		default:
			return keyring.Refused("the cluster key was not changed: " + refused.Cause.String())
		}
	}
}

// rewrapAuthorities seals the keys of the authorities under the key of the keyring, and
// waits until this node has adopted that key.
func (r *Rekeyer) rewrapAuthorities(ctx context.Context, key keys.ClusterKey) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := r.Ledger.Node.Authorities().Rewrap(ctx, oneKey{key, r.Rand})
		if err == nil && r.ClusterKeys.Current().ID() == key.ID() && r.Ledger.Node.Authorities().CanOpen(key.Open) {
			return nil
		}
		var refused *member.RefusedError // the authorities have changed in the meantime
		if err != nil && !errors.As(err, &refused) && !errors.Is(err, cluster.ErrUnavailable) {
			return fmt.Errorf("rewrap authorities: %w", err)
		}
		r.wake()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: the keyring is sealed under the new cluster key %s, and the leader continues with the rest: %w",
				oauth.ErrOutcomeUnknown, key.ID(), ctx.Err())
		}
	}
}

// CompleteRewrap seals the authorities under the cluster key of the keyring if the node
// that began the change did not. It is a duty of the leader.
func (r *Rekeyer) CompleteRewrap(ctx context.Context) {
	key, err := r.Keyring.SealingKey()
	if err != nil || r.Ledger.Node.Authorities().CanOpen(key.Open) {
		return
	}
	if err := r.Ledger.Node.Authorities().Rewrap(ctx, oneKey{key, r.Rand}); err != nil && ctx.Err() == nil {
		r.Log.Warn("authorities not rewrapped under the cluster key of the keyring", "error", err)
	}
}

// oneKey is a member.Secrets with one cluster key.
type oneKey struct {
	key  keys.ClusterKey
	rand io.Reader
}

func (o oneKey) Seal(context string, plain []byte) ([]byte, error) {
	return o.key.Seal(o.rand, context, plain)
}

func (o oneKey) Open(context string, sealed []byte) ([]byte, error) {
	return o.key.Open(context, sealed)
}
