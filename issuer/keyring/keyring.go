package keyring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/keys"
)

// Config configures a Keyring.
type Config struct {
	Ledger      *replica.Ledger
	ClusterKeys *keys.ClusterKeys
	Log         *slog.Logger
	Rand        io.Reader // safe for concurrent use
	// FreshWait is how long AwaitFresh waits; 0 means 3 seconds. It is short because the
	// keys must be served during every outage.
	FreshWait time.Duration
}

// A Keyring is the keys of one node, which follow its state. Its methods are safe for
// concurrent use.
type Keyring struct {
	Config

	ring   atomic.Pointer[Ring]
	openMu sync.Mutex // held while a new ring is opened

	reloads reloads

	fresh chan struct{} // closed once the ring is not older than the start
}

// New returns a keyring without keys; call Reopen first.
func New(c Config) *Keyring {
	if c.FreshWait == 0 {
		c.FreshWait = 3 * time.Second
	}
	return &Keyring{Config: c, reloads: newReloads(), fresh: make(chan struct{})}
}

// Ring returns the keys that this node has opened, or nil before the first Reopen.
func (k *Keyring) Ring() *Ring { return k.ring.Load() }

// Reopen opens the keys of the node's current state. Errors are those of Open.
func (k *Keyring) Reopen() error {
	k.openMu.Lock()
	defer k.openMu.Unlock()
	r, err := Open(k.Ledger.View(), k.ClusterKeys)
	if err != nil {
		return err
	}
	k.ring.Store(r)
	return nil
}

// Signer returns the signing key that the outcome of the command at index names.
func (k *Keyring) Signer(ctx context.Context, id string, index uint64) (*keys.Signer, error) {
	s, err := find(ctx, k, index, func(r *Ring) *keys.Signer { return r.Signer(id) })
	if err != nil {
		return nil, fmt.Errorf("find signing key %s: %w", id, err)
	}
	return s, nil
}

// Credential returns the credential key that the outcome of the command at index names.
func (k *Keyring) Credential(ctx context.Context, number uint32, index uint64) (*CredentialKey, error) {
	c, err := find(ctx, k, index, func(r *Ring) *CredentialKey { return r.Credential(number) })
	if err != nil {
		return nil, fmt.Errorf("find credential key %d: %w", number, err)
	}
	return c, nil
}

var errNotOpened = errors.New("not opened on this node")

// find looks up a key that the command at index named. The ring may lag behind this node's
// state, and that behind the leader's, so a missing key is looked up again once this node
// has applied the command.
func find[K any](ctx context.Context, k *Keyring, index uint64, in func(*Ring) *K) (*K, error) {
	if key := in(k.Ring()); key != nil {
		return key, nil
	}
	if _, err := k.Ledger.ViewAt(ctx, index); err != nil {
		return nil, err
	}
	if err := k.Reopen(); err != nil {
		return nil, err
	}
	if key := in(k.Ring()); key != nil {
		return key, nil
	}
	return nil, errNotOpened
}

// Complete reports whether the state has an active key of each purpose.
func (k *Keyring) Complete() bool {
	v := k.Ledger.View()
	return v.ActiveKey(ledger.ForSigning) != nil && v.ActiveKey(ledger.ForCredentials) != nil
}
