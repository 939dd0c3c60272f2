package rekey

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/keyring"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/keys"
)

// Config configures a Rekeyer.
type Config struct {
	Ledger      *replica.Ledger
	Keyring     *keyring.Keyring
	ClusterKeys *keys.ClusterKeys
	Version     string // of the program, for the table of nodes
	Log         *slog.Logger
	Rand        io.Reader // safe for concurrent use
}

// A Rekeyer manages the cluster keys of one node, and changes the cluster key or replaces
// a leaked key. Its methods are safe for concurrent use.
type Rekeyer struct {
	Config

	rewrapMu     sync.Mutex    // held while this node changes the cluster key
	clusterKeyMu sync.Mutex    // held while ClusterKeys change or are acknowledged
	wakeCh       chan struct{} // has an element if Follow should not wait
}

// New returns the rekeyer of a node.
func New(c Config) *Rekeyer { return &Rekeyer{Config: c, wakeCh: make(chan struct{}, 1)} }

// A node stores the cluster keys that open the state, now and at its next start. A key
// that it acknowledges in the ledger is on its disk, and it withdraws the acknowledgement
// before it deletes a key: so Rewrap locks out no node that acknowledged the new key.

// Receive is the cluster.Config.ReceiveSecret: it stores a cluster key that another node
// generated. Without a text it reports whether this node could store one.
func (r *Rekeyer) Receive(text []byte) error {
	if len(text) == 0 {
		return r.ClusterKeys.Changeable()
	}
	r.clusterKeyMu.Lock()
	defer r.clusterKeyMu.Unlock()
	if err := r.ClusterKeys.AddPending(text); err != nil {
		return err
	}
	r.wake()
	return nil
}

// wake makes Follow check at once.
func (r *Rekeyer) wake() {
	select {
	case r.wakeCh <- struct{}{}:
	default:
	}
}

// Follow updates the keyring of this node with its state, acknowledges the keys that this
// node has opened and the cluster keys that it has stored, and follows a change of the
// cluster key. It runs on every node until ctx ends.
func (r *Rekeyer) Follow(ctx context.Context) {
	logged := false
	for {
		keysChanged, authorities := r.Ledger.Node.Changed(ledger.TableKeys), r.Ledger.Node.Authorities().Changed()
		pause := time.Minute
		settled, err := r.followOnce(ctx)
		switch fault := err != nil && !errors.Is(err, oauth.ErrUnavailable); { // the cluster logs a missing leader
		case fault && !logged && ctx.Err() == nil:
			r.Log.Error("key update failed", "error", err)
			logged = true
		case err == nil:
			logged = false
		}
		switch {
		case err != nil:
			pause = time.Second
		case !settled:
			pause = 200 * time.Millisecond
		}
		select {
		case <-keysChanged:
		case <-authorities:
		case <-r.wakeCh:
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

func (r *Rekeyer) followOnce(ctx context.Context) (settled bool, err error) {
	err = r.Keyring.Reopen()
	if errors.Is(err, keys.ErrUnsealable) {
		err = r.fetch(ctx, err)
	}
	if err != nil {
		return false, fmt.Errorf("open keyring: %w", err)
	}
	if settled, err = r.adopt(ctx); err != nil {
		return false, fmt.Errorf("acknowledge keys: %w", err)
	}
	return settled, nil
}

// acknowledge records in the ledger which keys this node has opened and stored.
func (r *Rekeyer) acknowledge(ctx context.Context) error {
	r.clusterKeyMu.Lock()
	defer r.clusterKeyMu.Unlock()
	return r.acknowledgeLocked(ctx, r.ClusterKeys.StoredIDs())
}

// acknowledgeLocked is acknowledge with clusterKeyMu held.
func (r *Rekeyer) acknowledgeLocked(ctx context.Context, stored []string) error {
	_, _, err := r.Ledger.Propose(ctx, &ledger.AcknowledgeKeys{
		Node: r.Ledger.Node.ID(), Opened: r.Keyring.Ring().Opened(), Version: r.Version, ClusterKeys: stored,
	})
	return err
}

// adopt acknowledges the keys. If everything is sealed under a pending cluster key, that
// becomes the node's current one. done is false if no later change of the state will
// trigger another attempt.
func (r *Rekeyer) adopt(ctx context.Context) (done bool, err error) {
	r.clusterKeyMu.Lock()
	defer r.clusterKeyMu.Unlock()
	held := r.ClusterKeys
	under := r.Ledger.View().SealedUnder()
	key, err := held.Get(under)
	if under == "" || err != nil || !r.Ledger.Node.Authorities().CanOpen(key.Open) {
		return under == "", r.acknowledgeLocked(ctx, held.StoredIDs())
	}
	next := held.PendingIDs()
	if at := slices.Index(next, under); at >= 0 {
		if err := held.Activate(under); err != nil {
			return false, err
		}
		r.Log.Info("cluster key changed", "id", under)
		// Earlier pending keys are of abandoned changes, later ones of the next change.
		stored := append([]string{under}, next[at+1:]...)
		if err := r.acknowledgeLocked(ctx, stored); err != nil {
			return false, err
		}
		return true, held.Drop(next[:at])
	}
	if err := held.Drop(nil); err != nil {
		return false, err
	}
	return true, r.acknowledgeLocked(ctx, held.StoredIDs())
}

// fetch requests the cluster key that the state is sealed under from the other nodes; it
// was changed while this node was down. cause is why the keyring could not be opened.
func (r *Rekeyer) fetch(ctx context.Context, cause error) error {
	under := r.Ledger.View().SealedUnder()
	if _, err := r.ClusterKeys.Get(under); under == "" || err == nil {
		return cause // another key would not help
	}
	text, err := r.Ledger.Node.Secrets().Fetch(ctx, under)
	if err != nil {
		return fmt.Errorf("the data is sealed under cluster key %s and this node has %s: put the right one back: %w; %w",
			under, r.ClusterKeys.Current().ID(), cause, err)
	}
	key, err := keys.ParseClusterKey(text)
	if err != nil || key.ID() != under {
		return fmt.Errorf("%w; cluster key %s: another node sent a different key", cause, under)
	}
	r.clusterKeyMu.Lock()
	err = r.ClusterKeys.AddPending(text)
	r.clusterKeyMu.Unlock()
	if err != nil {
		return fmt.Errorf("the cluster key was changed to %s while this node was down: %w", under, err)
	}
	r.Log.Warn("cluster key fetched from another node: it was changed while this node was down", "id", under)
	return r.Keyring.Reopen()
}

// openPause is the time between two attempts to reach a node that has the cluster key.
const openPause = 200 * time.Millisecond

// Open opens the keyring of a node that starts. Its state may be older or newer than its
// cluster key, so Open waits for a leader if the keys can't be opened.
func (r *Rekeyer) Open(ctx context.Context) error {
	err := r.Keyring.Reopen()
	for errors.Is(err, keys.ErrUnsealable) {
		if _, fresh := r.Ledger.ViewFresh(ctx); fresh == nil {
			if err = r.Keyring.Reopen(); errors.Is(err, keys.ErrUnsealable) {
				err = r.fetch(ctx, err)
			}
			if !errors.Is(err, cluster.ErrUnavailable) {
				return err
			}
		}
		select {
		case <-time.After(openPause):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", err, ctx.Err())
		}
	}
	return err
}

// changeOverdue is how long a change of the cluster key may take before it is reported to
// operators.
const changeOverdue = time.Hour

// Problems returns problems with the cluster keys, in words for operators.
func (r *Rekeyer) Problems() []string {
	v := r.Ledger.View()
	under := v.SealedUnder()
	var all []string
	for _, m := range r.Ledger.Node.Members() {
		n := v.Node(m.ID)
		switch {
		case under == "" || n == nil || len(n.ClusterKeys) == 0: // the node has not acknowledged anything yet
		case !slices.Contains(n.ClusterKeys, under):
			all = append(all, fmt.Sprintf("node %s lacks cluster key %s, which the state is sealed under", m.Name, under))
		case len(n.ClusterKeys) > 1 && r.Ledger.Now() >= n.Seen.Add(changeOverdue):
			all = append(all, fmt.Sprintf("node %s has %d cluster keys: %v", m.Name, len(n.ClusterKeys), ErrUnfinished))
		}
	}
	return all
}
