package issuer

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Rotate announces a new key of a purpose; the leader's duties take it and the
// key before it through their steps.
func (i *Issuer) Rotate(ctx context.Context, p ledger.Purpose) (id string, err error) {
	v, err := i.ViewFresh(ctx)
	if err != nil {
		return "", err
	}
	if k := announcedKey(v, p); k != nil {
		return "", Refused("key " + k.ID + " is announced already, and becomes active by itself")
	}
	return i.AddKey(ctx, p)
}

// announcedKey is the announced key of a purpose, nil where there is none.
func announcedKey(v ledger.View, p ledger.Purpose) *ledger.Key {
	for k := range v.Keys() {
		if k.Purpose == p && k.State == ledger.KeyAnnounced {
			return k
		}
	}
	return nil
}

// emergencyWait is how long an emergency waits for nodes that may be down.
const emergencyWait = 5 * time.Second

// waitOpened waits until every voter has opened a key. A leaked key must go even
// while a node is down, so after a while those that have opened it will do:
// the node finds the key in the state when it is back.
func (i *Issuer) waitOpened(ctx context.Context, key string) ([]string, error) {
	late, cancel := context.WithTimeout(ctx, emergencyWait)
	defer cancel()
	for {
		changed := i.Node.Changed(ledger.TableNodes)
		seen, without := i.openedBy(key)
		if len(without) == 0 {
			return seen, nil
		}
		select {
		case <-changed:
			continue
		case <-late.Done():
		}
		if ctx.Err() != nil {
			return nil, unavailable(ctx.Err())
		}
		i.Log.Warn("a key becomes active before every node has opened it", "key", key, "without", i.nodeNames(without))
		return seen, nil
	}
}

// openedBy are the voters that have said that they opened a key, and those
// that have not.
func (i *Issuer) openedBy(key string) (seen, without []string) {
	v := i.View()
	for _, id := range i.Node.Voters() {
		if n := v.Node(id); n != nil && n.HasOpened(key) {
			seen = append(seen, id)
		} else {
			without = append(without, id)
		}
	}
	return seen, without
}
