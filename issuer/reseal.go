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
	// resealTimeout is less than what an operator's command waits for.
	resealTimeout = 45 * time.Second
	// holdTimeout is how long a node may take to say that it holds a key that it
	// was given.
	holdTimeout = 10 * time.Second
	// forcedTimeout is the same where some are known to be down.
	forcedTimeout = 3 * time.Second
)

// Resealed says what became of the cluster key.
type Resealed struct {
	ID      string // public id of the key that all is sealed under
	Resumed bool   // it is that of a change that was begun before and not finished
	// Behind are the names of the nodes that have not said that it is their own
	// now. Those that hold it do so by themselves, when they are started, too.
	Behind []string
}

// Reseal changes the cluster key while the cluster runs:
//
//  1. every member is asked whether it could keep another key
//  2. a new key is kept here, and given to every member
//  3. every voter says in the ledger that it holds it
//  4. the ring is sealed anew, in one command, which the ledger refuses where 3
//     does not hold; then the key of the cluster's authority
//  5. each node makes it its own when it finds all sealed under it: settle. That
//     is waited for, and who has not is named
//
// What ends it before 4 leaves a key that nothing is sealed under; the next
// Reseal here goes on with it. After 4 the leader goes on by itself. With force
// a voter that can't be reached is no obstacle, as long as a majority is left:
// it asks the others for the key when it is back.
func (i *Issuer) Reseal(ctx context.Context, force bool) (Resealed, error) {
	if !i.resealing.TryLock() {
		return Resealed{}, Refused("this node is changing the cluster key already")
	}
	defer i.resealing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, resealTimeout)
	defer cancel()
	if id, err := i.resume(ctx); err != nil || id != "" {
		return Resealed{id, true, i.renewedBy(ctx, id, force)}, err
	}
	key, err := i.offerKey(ctx, force)
	if err != nil {
		return Resealed{}, err
	}
	voters, err := i.heldBy(ctx, key.ID(), force)
	if err != nil {
		return Resealed{}, err
	}
	if err := i.resealRing(ctx, key, voters); err != nil {
		return Resealed{}, err
	}
	if err := i.complete(ctx, key); err != nil {
		return Resealed{ID: key.ID()}, err
	}
	return Resealed{ID: key.ID(), Behind: i.renewedBy(ctx, key.ID(), force)}, nil
}

// renewedBy waits a while until the key is every node's own, and returns the names
// of those where it is not. Whoever copies a node's file needs to know.
func (i *Issuer) renewedBy(ctx context.Context, key string, force bool) []string {
	late, cancel := context.WithTimeout(ctx, patience(force))
	defer cancel()
	for {
		changed, v := i.Node.Changed(ledger.TableNodes), i.View()
		var behind []string
		for _, m := range i.Node.Members() {
			if n := v.Node(m.ID); n == nil || !slices.Equal(n.Holds, []string{key}) {
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

// patience is how long it is waited for what each node says.
func patience(force bool) time.Duration {
	if force {
		return forcedTimeout
	}
	return holdTimeout
}

// resume finishes a change whose key the ring is sealed under; id is "" where
// there is none.
func (i *Issuer) resume(ctx context.Context) (id string, err error) {
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
	if err := i.complete(ctx, key); err != nil || !begun {
		return "", err
	}
	return under, nil
}

// offerKey makes a key, or takes that of a change that was not finished, and
// gives it to everybody. It changes nothing where somebody can't keep it.
func (i *Issuer) offerKey(ctx context.Context, force bool) (keys.ClusterKey, error) {
	if err := i.ClusterKeys.Changeable(); err != nil {
		return keys.ClusterKey{}, Refused("nothing was changed: this node: " + err.Error())
	}
	if err := obstacles(i.Node.Give(ctx, nil), force); err != nil {
		return keys.ClusterKey{}, err
	}
	key, err := i.keyToOffer()
	if err != nil {
		return key, err
	}
	return key, obstacles(i.Node.Give(ctx, key.Text()), force)
}

func (i *Issuer) keyToOffer() (keys.ClusterKey, error) {
	if next := i.ClusterKeys.Next(); len(next) > 0 {
		return i.ClusterKeys.Get(next[0])
	}
	key, err := keys.NewClusterKey(i.Rand)
	if err != nil {
		return key, err
	}
	return key, i.ReceiveClusterKey(key.Text())
}

// obstacles are those of the nodes without a key that a change can't do without.
func obstacles(err error, force bool) error {
	var not *cluster.NotTakenError
	if err == nil || !errors.As(err, &not) {
		return err
	}
	var all []string
	for _, n := range not.By {
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

// heldBy waits until every voter has said that it holds a key.
func (i *Issuer) heldBy(ctx context.Context, key string, force bool) ([]string, error) {
	i.nudge()
	late, cancel := context.WithTimeout(ctx, patience(force))
	defer cancel()
	for {
		changed := i.Node.Changed(ledger.TableNodes)
		v, voters := i.View(), i.Node.Voters()
		without := slices.DeleteFunc(slices.Clone(voters), func(id string) bool {
			n := v.Node(id)
			return n != nil && slices.Contains(n.Holds, key)
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
			i.Log.Warn("the cluster key changes while nodes are down; they ask the others for it when they are back", "nodes", i.names(without))
			return slices.DeleteFunc(voters, func(id string) bool { return slices.Contains(without, id) }), nil
		}
		return nil, Refused("the cluster key stays what it is: " + i.names(without) + " has not said that it holds the new one")
	}
}

func (i *Issuer) names(ids []string) string {
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

// resealTries is how often the ring may change between the moment it is read
// and the moment it is replaced.
const resealTries = 5

// resealRing seals the whole ring under a key.
func (i *Issuer) resealRing(ctx context.Context, key keys.ClusterKey, voters []string) error {
	for try := 1; ; try++ {
		v, err := i.ViewFresh(ctx)
		if err != nil {
			return err
		}
		sealed, err := resealed(v, i.ClusterKeys, key, i.Rand)
		if err != nil {
			return err
		}
		command := &ledger.Reseal{To: key.ID(), Keys: sealed, Voters: voters}
		outcome, _, err := i.Propose(ctx, command)
		switch r := outcome.Refusal; {
		case err != nil:
			return fmt.Errorf("seal the ring: %w", err)
		case r == nil:
			return nil
		case r.Cause == ledger.RingDiffers && try < resealTries:
		default:
			return Refused("the cluster key stays what it is: " + r.Cause.String())
		}
	}
}

// resealed is the whole ring, sealed under a key.
func resealed(v ledger.View, held *keys.ClusterKeys, key keys.ClusterKey, random io.Reader) ([]ledger.SealedKey, error) {
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

// complete seals the rest under the key of the ring, and waits until it is this
// node's own.
func (i *Issuer) complete(ctx context.Context, key keys.ClusterKey) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := i.Node.ResealAuthorities(ctx, oneKey{key, i.Rand})
		if err == nil && i.ClusterKeys.Current().ID() == key.ID() && i.Node.AuthoritiesOpen(key.Open) {
			return nil
		}
		var refused *cluster.RefusedError // they have changed meanwhile
		if err != nil && !errors.As(err, &refused) && !errors.Is(err, cluster.ErrUnavailable) {
			return fmt.Errorf("seal the authority: %w", err)
		}
		i.nudge()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: the ring is sealed under the new cluster key %s, and the leader goes on with the rest: %w",
				oauth.ErrOutcomeUnknown, key.ID(), ctx.Err())
		}
	}
}

// completeReseal is the leader's duty where whoever began did not get so far.
func (i *Issuer) completeReseal(ctx context.Context) {
	key, err := i.keyOfState()
	if err != nil || i.Node.AuthoritiesOpen(key.Open) {
		return
	}
	if err := i.Node.ResealAuthorities(ctx, oneKey{key, i.Rand}); err != nil && ctx.Err() == nil {
		i.Log.Warn("seal the authority under the cluster key of the ring", "error", err)
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
