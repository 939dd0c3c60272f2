package issuer

import (
	"context"
	"fmt"
	"io"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
)

// RestoredKeyring opens and seals the keyring of a state that comes out of a backup. The
// state, and what a journal adds to it, may be under other cluster keys than the
// node's own.
type RestoredKeyring struct {
	Node *cluster.Node
	// Keys are the node's own, and those that the files are sealed under.
	Keys    *keys.ClusterKeys
	Version string
	Rand    io.Reader
}

// CheckOpenable returns an error that names a key which none of the cluster keys
// opens.
func CheckOpenable(keyring []*ledger.Key, k *keys.ClusterKeys) error {
	for _, row := range keyring {
		if _, err := k.Open(sealContext(row.Purpose, row.ID), row.Sealed); err != nil {
			under := "another cluster key than those at hand"
			if row.SealedUnder != "" {
				under = "cluster key " + row.SealedUnder
			}
			return fmt.Errorf("%s key %s is sealed under %s: %w", row.Purpose, row.ID, under, err)
		}
	}
	return nil
}

// Rewrap has the whole keyring sealed under the node's own cluster key, before any
// other node is there: those that join are given that key, and no other.
func (r RestoredKeyring) Rewrap(ctx context.Context) error {
	v, key := ledger.At(r.Node.View()), r.Keys.Current()
	under := true
	for row := range v.Keys() {
		_, err := key.Open(sealContext(row.Purpose, row.ID), row.Sealed)
		under = under && err == nil
	}
	if under {
		return nil
	}
	sealed, err := rewrapKeys(v, r.Keys, key, r.Rand)
	if err != nil {
		return err
	}
	id := r.Node.ID()
	for _, c := range []ledger.Command{
		&ledger.AcknowledgeKeys{Node: id, Version: r.Version, ClusterKeys: []string{key.ID()}},
		&ledger.Rewrap{To: key.ID(), Keys: sealed, Voters: []string{id}},
	} {
		value, _, err := r.Node.Propose(ctx, &Entry{c})
		if err != nil {
			return fmt.Errorf("rewrap keyring under cluster key %s: %w", key.ID(), err)
		}
		if refused := value.(ledger.Outcome).Refusal; refused != nil {
			return fmt.Errorf("rewrap keyring under cluster key %s: refused: %s", key.ID(), refused.Cause)
		}
	}
	return nil
}
