package issuer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
)

// Every node keeps its cluster keys so that it can open what the state is
// sealed under, now and at its next start. What it tells the ledger that it
// holds it has on disk, and it says that it holds a key no more before it lets
// go of it: so Rewrap never locks out a node that it was told of.

// ReceiveClusterKey is for cluster.Config.Receive: it keeps a key that another
// node made. Without a text it says whether it could.
func (i *Issuer) ReceiveClusterKey(text []byte) error {
	if len(text) == 0 {
		return i.ClusterKeys.Changeable()
	}
	i.clusterKeyMu.Lock()
	defer i.clusterKeyMu.Unlock()
	if err := i.ClusterKeys.AddPending(text); err != nil {
		return err
	}
	i.wake()
	return nil
}

// wake has followKeys look at once.
func (i *Issuer) wake() {
	select {
	case i.wakeCh <- struct{}{}:
	default:
	}
}

// acknowledgeKeys tells the cluster which keys this node has opened and holds.
func (i *Issuer) acknowledgeKeys(ctx context.Context) error {
	i.clusterKeyMu.Lock()
	defer i.clusterKeyMu.Unlock()
	return i.acknowledgeLocked(ctx, i.ClusterKeys.StoredIDs())
}

// acknowledgeLocked is called with holding held.
func (i *Issuer) acknowledgeLocked(ctx context.Context, holds []string) error {
	_, _, err := i.Propose(ctx, &ledger.AcknowledgeKeys{
		Node: i.Node.ID(), Opened: i.keyring.Load().opened, Version: i.Version, ClusterKeys: holds,
	})
	return err
}

// adoptClusterKey acknowledges the keys. When all that the cluster key seals is under
// one that may follow this node's, it becomes this node's. done is false where
// it can't tell when it should look again.
func (i *Issuer) adoptClusterKey(ctx context.Context) (done bool, err error) {
	i.clusterKeyMu.Lock()
	defer i.clusterKeyMu.Unlock()
	held := i.ClusterKeys
	under := i.View().SealedUnder()
	key, err := held.Get(under)
	if under == "" || err != nil || !i.Node.CanOpenAuthorities(key.Open) {
		return under == "", i.acknowledgeLocked(ctx, held.StoredIDs())
	}
	next := held.PendingIDs()
	if at := slices.Index(next, under); at >= 0 {
		if err := held.Activate(under); err != nil {
			return false, err
		}
		i.Log.Info("the cluster key has changed", "id", under)
		// Those that came before it are of changes that were given up; one that
		// came later is of the next change.
		holds := append([]string{under}, next[at+1:]...)
		if err := i.acknowledgeLocked(ctx, holds); err != nil {
			return false, err
		}
		return true, held.Drop(next[:at])
	}
	if err := held.Drop(nil); err != nil {
		return false, err
	}
	return true, i.acknowledgeLocked(ctx, held.StoredIDs())
}

// fetchClusterKey asks the other nodes for the key that the state is sealed
// under: it was changed while this node was down. cause is why the keyring could
// not be opened.
func (i *Issuer) fetchClusterKey(ctx context.Context, cause error) error {
	under := i.View().SealedUnder()
	if _, err := i.ClusterKeys.Get(under); under == "" || err == nil {
		return cause // another key would not help
	}
	text, err := i.Node.FetchSecret(ctx, under)
	if err != nil {
		return fmt.Errorf("the data is sealed under cluster key %s and this node has %s: put the right one back: %w; %w",
			under, i.ClusterKeys.Current().ID(), cause, err)
	}
	key, err := keys.ParseClusterKey(text)
	if err != nil || key.ID() != under {
		return fmt.Errorf("%w; cluster key %s: another node gave a different one", cause, under)
	}
	i.clusterKeyMu.Lock()
	err = i.ClusterKeys.AddPending(text)
	i.clusterKeyMu.Unlock()
	if err != nil {
		return fmt.Errorf("the cluster key was changed to %s while this node was down: %w", under, err)
	}
	i.Log.Warn("the cluster key was changed while this node was down; another node gave it the new one", "id", under)
	return i.reopen()
}

// catchUpPause is between two tries to reach somebody who has the cluster key.
const catchUpPause = 200 * time.Millisecond

// catchUp opens the keyring of a node that starts, where err says that it could not
// be opened. What the node has of the state may be older than its cluster key,
// or newer.
func (i *Issuer) catchUp(ctx context.Context, err error) error {
	for errors.Is(err, keys.ErrUnsealable) {
		if _, fresh := i.ViewFresh(ctx); fresh == nil {
			if err = i.reopen(); errors.Is(err, keys.ErrUnsealable) {
				err = i.fetchClusterKey(ctx, err)
			}
			if !errors.Is(err, cluster.ErrUnavailable) {
				return err
			}
		}
		select {
		case <-time.After(catchUpPause):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", err, ctx.Err())
		}
	}
	return err
}

// stateClusterKey is the cluster key to seal a new row with: that of the others.
func (i *Issuer) stateClusterKey() (keys.ClusterKey, error) {
	under := i.View().SealedUnder()
	if under == "" {
		return i.ClusterKeys.Current(), nil
	}
	return i.ClusterKeys.Get(under)
}

// changeOverdue is for how long a change of the cluster key may be under way
// before operators are told.
const changeOverdue = time.Hour

// ClusterKeyProblems is what operators should know of the cluster key, in words
// for people.
func (i *Issuer) ClusterKeyProblems() []string {
	v := i.View()
	under := v.SealedUnder()
	var all []string
	for _, m := range i.Node.Members() {
		n := v.Node(m.ID)
		switch {
		case under == "" || n == nil || len(n.ClusterKeys) == 0: // it has said nothing yet
		case !slices.Contains(n.ClusterKeys, under):
			all = append(all, fmt.Sprintf("node %s does not hold cluster key %s, which the state is sealed under", m.Name, under))
		case len(n.ClusterKeys) > 1 && i.Now() >= n.Seen.Add(changeOverdue):
			all = append(all, fmt.Sprintf("node %s holds %d cluster keys: a change was begun and not finished; mintmark keys rewrap on the node that began it goes on with it", m.Name, len(n.ClusterKeys)))
		}
	}
	return all
}
