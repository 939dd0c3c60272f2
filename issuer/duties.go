package issuer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/keys"
)

// tick is how often a leader looks for something to do; nothing it does is
// urgent.
const tick = 5 * time.Second

// followKeys keeps the keyring of this node as new as its state, tells the cluster
// which keys this node has opened, and follows a change of the cluster key. It
// runs on every node.
func (i *Issuer) followKeys(ctx context.Context) {
	logged := false
	for {
		keysChanged, authorities := i.Node.Changed(ledger.TableKeys), i.Node.AuthoritiesChanged()
		pause := time.Minute
		settled, err := i.followOnce(ctx)
		switch fault := err != nil && !errors.Is(err, oauth.ErrUnavailable); { // of a leader that is missed the cluster speaks
		case fault && !logged && ctx.Err() == nil:
			i.Log.Error("follow the keys", "error", err)
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
		case <-i.wakeCh:
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

func (i *Issuer) followOnce(ctx context.Context) (settled bool, err error) {
	err = i.reopen()
	if errors.Is(err, keys.ErrUnsealable) {
		err = i.fetchClusterKey(ctx, err)
	}
	if err != nil {
		return false, fmt.Errorf("open the keys: %w", err)
	}
	if settled, err = i.adoptClusterKey(ctx); err != nil {
		return false, fmt.Errorf("acknowledge the keys: %w", err)
	}
	return settled, nil
}

// leaderLoop does the leader's duties while this node leads.
func (i *Issuer) leaderLoop(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	var sweep sweeper
	for {
		i.stepKeys(ctx)
		i.rotateKeys(ctx)
		i.forgetNodes(ctx)
		i.completeRewrap(ctx)
		i.sumFailures(ctx)
		if err := sweep.run(ctx, i); err != nil && ctx.Err() == nil {
			i.Log.Warn("sweep", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (i *Issuer) hasKeys() bool {
	v := i.View()
	return v.ActiveKey(ledger.ForSigning) != nil && v.ActiveKey(ledger.ForCredentials) != nil
}

// AddKey makes a key, seals it and announces it. The first of its purpose is
// active at once; another becomes so by the leader's duties, when every voter
// has opened it and verifiers have had the time to learn it. A rule that stands
// against it is Refused.
func (i *Issuer) AddKey(ctx context.Context, p ledger.Purpose) (id string, err error) {
	under, err := i.stateClusterKey()
	if err != nil {
		return "", fmt.Errorf("make a key: %w", err)
	}
	row := ledger.Key{Purpose: p, SealedUnder: under.ID()}
	var plain []byte
	switch p {
	case ledger.ForSigning:
		s, err := keys.GenerateSigner(keys.Algorithm(i.View().Settings().Algorithm))
		if err != nil {
			return "", fmt.Errorf("make a signing key: %w", err)
		}
		if plain, err = s.PKCS8(); err != nil {
			return "", fmt.Errorf("make a signing key: %w", err)
		}
		row.ID, row.Algorithm, row.Public = s.KeyID(), s.Alg(), s.Public().JWK()
	case ledger.ForCredentials:
		s, err := keys.GenerateSecret(i.Rand)
		if err != nil {
			return "", fmt.Errorf("make a credential key: %w", err)
		}
		plain = s.Bytes()
		for k := range i.View().Keys() {
			row.Number = max(row.Number, k.Number, k.HighestNumber)
		}
		row.Number++
		row.ID = credentialKeyID(row.Number)
	}
	if row.Sealed, err = under.Seal(i.Rand, sealContext(p, row.ID), plain); err != nil {
		return "", fmt.Errorf("seal key %s: %w", row.ID, err)
	}
	outcome, _, err := i.Propose(ctx, &ledger.AddKey{Key: row})
	switch {
	case err != nil:
		return "", fmt.Errorf("add key %s: %w", row.ID, err)
	case outcome.Refusal != nil:
		return "", Refused(fmt.Sprintf("key %s was not added: %s", row.ID, outcome.Refusal.Cause))
	}
	return row.ID, nil
}

func credentialKeyID(number uint32) string { return fmt.Sprintf("c%d", number) }

// purposeOf tells by the id what a key is for that is gone.
func purposeOf(id string) ledger.Purpose {
	if credentialKeyNumber(id) > 0 {
		return ledger.ForCredentials
	}
	return ledger.ForSigning
}

// credentialKeyNumber is the reverse of credentialKeyID, 0 for another id.
func credentialKeyNumber(id string) (number uint32) {
	if _, err := fmt.Sscanf(id, "c%d", &number); err != nil || credentialKeyID(number) != id {
		return 0
	}
	return number
}

// stepKeys proposes each step that may be due; the ledger decides whether it
// is. A refusal is no event: it is asked again at the next tick.
func (i *Issuer) stepKeys(ctx context.Context) {
	for k := range i.View().Keys() {
		var step ledger.Command
		switch k.State {
		case ledger.KeyAnnounced:
			step = &ledger.ActivateKey{ID: k.ID, Voters: i.Node.Voters()}
		case ledger.KeyRetiring:
			step = &ledger.DropKey{ID: k.ID}
		default:
			continue
		}
		outcome, _, err := i.Propose(ctx, step)
		switch {
		case err != nil:
			i.Log.Warn("step a key", "key", k.ID, "error", err)
		case outcome.Refusal == nil:
			i.Log.Info("key stepped", "key", k.ID, "from", string(k.State))
		}
	}
}

// rotateKeys announces the successor of a key that has been used for long
// enough.
func (i *Issuer) rotateKeys(ctx context.Context) {
	v := i.View()
	for _, p := range []ledger.Purpose{ledger.ForCredentials, ledger.ForSigning} {
		if !v.RotationDue(p, i.Now()) {
			continue
		}
		id, err := i.AddKey(ctx, p)
		if err != nil {
			i.Log.Warn("rotate a key", "purpose", p, "error", err)
			continue
		}
		i.Log.Info("key announced on schedule", "key", id, "purpose", p)
	}
}

// forgetNodes drops what the state has of nodes that are members no more.
func (i *Issuer) forgetNodes(ctx context.Context) {
	members := i.Node.Members()
	if len(members) == 0 {
		return // a node alone has no list
	}
	for n := range i.View().Nodes() {
		if slices.ContainsFunc(members, func(m cluster.Member) bool { return m.ID == n.ID }) {
			continue
		}
		if _, _, err := i.Propose(ctx, &ledger.ForgetNode{Node: n.ID}); err != nil {
			i.Log.Warn("forget a node", "node", n.ID, "error", err)
		}
	}
}
