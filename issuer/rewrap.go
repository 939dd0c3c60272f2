package issuer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/keys"
)

// Refused is a rule that stands against what an operator asked for, in words
// for people.
type Refused string

func (r Refused) Error() string { return string(r) }

// Refusal is the rule.
func (r Refused) Refusal() string { return string(r) }

const (
	// rewrapTimeout is less than what an operator's command waits for.
	rewrapTimeout = 45 * time.Second
	// ackTimeout is how long a node may take to say that it holds a key that it
	// was given.
	ackTimeout = 10 * time.Second
	// forcedAckTimeout is the same where some are known to be down.
	forcedAckTimeout = 3 * time.Second
)

// RewrapResult says what became of the cluster key.
type RewrapResult struct {
	ID      string // public id of the key that all is sealed under
	Resumed bool   // it is that of a change that was begun before and not finished
	// Behind are the names of the nodes that have not said that it is their own
	// now. Those that hold it do so by themselves, when they are started, too.
	Behind []string
}

// Rewrap changes the cluster key while the cluster runs:
//
//  1. every member is asked whether it could keep another key
//  2. a new key is kept here, and given to every member
//  3. every voter says in the ledger that it holds it
//  4. the keyring is sealed anew, in one command, which the ledger refuses where 3
//     does not hold; then the key of the cluster's authority
//  5. each node makes it its own when it finds all sealed under it: settle. That
//     is waited for, and who has not is named
//
// What ends it before 4 leaves a key that nothing is sealed under; the next
// Rewrap here goes on with it. After 4 the leader goes on by itself. With force
// a voter that can't be reached is no obstacle, as long as a majority is left:
// it asks the others for the key when it is back.
func (i *Issuer) Rewrap(ctx context.Context, force bool) (RewrapResult, error) {
	if !i.rewrapMu.TryLock() {
		return RewrapResult{}, Refused("this node is changing the cluster key already")
	}
	defer i.rewrapMu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, rewrapTimeout)
	defer cancel()
	if id, err := i.resumeRewrap(ctx); err != nil || id != "" {
		return RewrapResult{id, true, i.nodesBehind(ctx, id, force)}, err
	}
	key, err := i.distributeKey(ctx, force)
	if err != nil {
		return RewrapResult{}, err
	}
	voters, err := i.waitStored(ctx, key.ID(), force)
	if err != nil {
		return RewrapResult{}, err
	}
	if err := i.rewrapKeyring(ctx, key, voters); err != nil {
		return RewrapResult{}, err
	}
	if err := i.rewrapAuthorities(ctx, key); err != nil {
		return RewrapResult{ID: key.ID()}, err
	}
	return RewrapResult{ID: key.ID(), Behind: i.nodesBehind(ctx, key.ID(), force)}, nil
}

// nodesBehind waits a while until the key is every node's own, and returns the names
// of those where it is not. Whoever copies a node's file needs to know.
func (i *Issuer) nodesBehind(ctx context.Context, key string, force bool) []string {
	late, cancel := context.WithTimeout(ctx, ackTimeoutFor(force))
	defer cancel()
	for {
		changed, v := i.Node.Changed(ledger.TableNodes), i.View()
		var behind []string
		for _, m := range i.Node.Members() {
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
			return i.nodeNames(behind)
		}
	}
}

// ackTimeoutFor is how long it is waited for what each node says.
func ackTimeoutFor(force bool) time.Duration {
	if force {
		return forcedAckTimeout
	}
	return ackTimeout
}

// resumeRewrap finishes a change whose key the keyring is sealed under; id is "" where
// there is none.
func (i *Issuer) resumeRewrap(ctx context.Context) (id string, err error) {
	v, err := i.ViewFresh(ctx)
	if err != nil {
		return "", err
	}
	under := v.SealedUnder()
	if under == "" {
		return "", nil
	}
	key, err := i.ClusterKeys.Get(under)
	if err != nil {
		return "", fmt.Errorf("finish a change of the cluster key: %w", err)
	}
	begun := i.ClusterKeys.Current().ID() != under
	if err := i.rewrapAuthorities(ctx, key); err != nil || !begun {
		return "", err
	}
	return under, nil
}

// distributeKey makes a key, or takes that of a change that was not finished, and
// gives it to everybody. It changes nothing where somebody can't keep it.
func (i *Issuer) distributeKey(ctx context.Context, force bool) (keys.ClusterKey, error) {
	if err := i.ClusterKeys.Changeable(); err != nil {
		return keys.ClusterKey{}, Refused("nothing was changed: this node: " + err.Error())
	}
	if err := checkDistributed(i.Node.DistributeSecret(ctx, nil), force); err != nil {
		return keys.ClusterKey{}, err
	}
	key, err := i.keyToDistribute()
	if err != nil {
		return key, err
	}
	return key, checkDistributed(i.Node.DistributeSecret(ctx, key.Text()), force)
}

func (i *Issuer) keyToDistribute() (keys.ClusterKey, error) {
	if next := i.ClusterKeys.PendingIDs(); len(next) > 0 {
		return i.ClusterKeys.Get(next[0])
	}
	key, err := keys.NewClusterKey(i.Rand)
	if err != nil {
		return key, err
	}
	return key, i.ReceiveClusterKey(key.Text())
}

// checkDistributed are those of the nodes without a key that a change can't do without.
func checkDistributed(err error, force bool) error {
	var not *cluster.DistributeError
	if err == nil || !errors.As(err, &not) {
		return err
	}
	var all []string
	for _, n := range not.Failures {
		switch {
		case !n.Unreachable:
			all = append(all, "node "+n.Name+": "+n.Reason)
		case n.Voter && !force:
			all = append(all, "node "+n.Name+" can't be reached: start it, or take it out (mintmark cluster remove); "+
				"with --force the change goes on without it, and it asks the others for the key when it is back")
		}
	}
	if len(all) == 0 {
		return nil
	}
	return Refused("the cluster key stays what it is: " + strings.Join(all, "; "))
}

// waitStored waits until every voter has said that it holds a key.
func (i *Issuer) waitStored(ctx context.Context, key string, force bool) ([]string, error) {
	i.wake()
	late, cancel := context.WithTimeout(ctx, ackTimeoutFor(force))
	defer cancel()
	for {
		changed := i.Node.Changed(ledger.TableNodes)
		v, voters := i.View(), i.Node.Voters()
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
			return nil, fmt.Errorf("%w: wait for the nodes to hold the new cluster key: %w", oauth.ErrUnavailable, ctx.Err())
		case force && holding > len(voters)/2:
			i.Log.Warn("the cluster key changes while nodes are down; they ask the others for it when they are back", "nodes", i.joinNodeNames(without))
			return slices.DeleteFunc(voters, func(id string) bool { return slices.Contains(without, id) }), nil
		}
		return nil, Refused("the cluster key stays what it is: " + i.joinNodeNames(without) + " has not said that it holds the new one")
	}
}

func (i *Issuer) joinNodeNames(ids []string) string {
	return "node " + strings.Join(i.nodeNames(ids), ", node ")
}

// nodeNames are the names of nodes, or the id of one that has none.
func (i *Issuer) nodeNames(ids []string) (all []string) {
	for _, id := range ids {
		for _, m := range i.Node.Members() {
			if m.ID == id && m.Name != "" {
				id = m.Name
			}
		}
		all = append(all, id)
	}
	return all
}

// rewrapTries is how often the keyring may change between the moment it is read
// and the moment it is replaced.
const rewrapTries = 5

// rewrapKeyring seals the whole keyring under a key.
func (i *Issuer) rewrapKeyring(ctx context.Context, key keys.ClusterKey, voters []string) error {
	for try := 1; ; try++ {
		v, err := i.ViewFresh(ctx)
		if err != nil {
			return err
		}
		sealed, err := rewrapKeys(v, i.ClusterKeys, key, i.Rand)
		if err != nil {
			return err
		}
		command := &ledger.Rewrap{To: key.ID(), Keys: sealed, Voters: voters}
		outcome, _, err := i.Propose(ctx, command)
		switch r := outcome.Refusal; {
		case err != nil:
			return fmt.Errorf("rewrap keyring: %w", err)
		case r == nil:
			return nil
		case r.Cause == ledger.KeyringDiffers && try < rewrapTries:
		default:
			return Refused("the cluster key stays what it is: " + r.Cause.String())
		}
	}
}

// rewrapKeys is the whole keyring, sealed under a key.
func rewrapKeys(v ledger.View, held *keys.ClusterKeys, key keys.ClusterKey, random io.Reader) ([]ledger.SealedKey, error) {
	var all []ledger.SealedKey
	for row := range v.Keys() {
		context := sealContext(row.Purpose, row.ID)
		plain, err := held.Open(context, row.Sealed)
		if err != nil {
			return nil, fmt.Errorf("open key %s: %w", row.ID, err)
		}
		sealed, err := key.Seal(random, context, plain)
		if err != nil {
			return nil, fmt.Errorf("seal key %s: %w", row.ID, err)
		}
		all = append(all, ledger.SealedKey{ID: row.ID, Sealed: sealed})
	}
	return all, nil
}

// rewrapAuthorities seals the rest under the key of the keyring, and waits until it is this
// node's own.
func (i *Issuer) rewrapAuthorities(ctx context.Context, key keys.ClusterKey) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := i.Node.RewrapAuthorities(ctx, oneKey{key, i.Rand})
		if err == nil && i.ClusterKeys.Current().ID() == key.ID() && i.Node.CanOpenAuthorities(key.Open) {
			return nil
		}
		var refused *cluster.RefusedError // they have changed meanwhile
		if err != nil && !errors.As(err, &refused) && !errors.Is(err, cluster.ErrUnavailable) {
			return fmt.Errorf("seal the authority: %w", err)
		}
		i.wake()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: the keyring is sealed under the new cluster key %s, and the leader continues with the rest: %w",
				oauth.ErrOutcomeUnknown, key.ID(), ctx.Err())
		}
	}
}

// completeRewrap is the leader's duty where whoever began did not get so far.
func (i *Issuer) completeRewrap(ctx context.Context) {
	key, err := i.stateClusterKey()
	if err != nil || i.Node.CanOpenAuthorities(key.Open) {
		return
	}
	if err := i.Node.RewrapAuthorities(ctx, oneKey{key, i.Rand}); err != nil && ctx.Err() == nil {
		i.Log.Warn("seal the authority under the cluster key of the keyring", "error", err)
	}
}

// oneKey is a cluster.Secrets of one cluster key.
type oneKey struct {
	key  keys.ClusterKey
	rand io.Reader
}

func (u oneKey) Seal(context string, plain []byte) ([]byte, error) {
	return u.key.Seal(u.rand, context, plain)
}

func (u oneKey) Open(context string, sealed []byte) ([]byte, error) {
	return u.key.Open(context, sealed)
}
