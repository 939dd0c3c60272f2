package keyring

import (
	"fmt"
	"io"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
)

// sealContext binds the sealed form of a key to its row.
func sealContext(p ledger.Purpose, id string) string { return "mintmark/" + string(p) + "/" + id }

// SealingKey returns the cluster key to seal a new row under: that of the other rows.
// During a change of the cluster key it may differ from the node's current one.
func (k *Keyring) SealingKey() (keys.ClusterKey, error) {
	under := k.Ledger.View().SealedUnder()
	if under == "" {
		return k.ClusterKeys.Current(), nil
	}
	return k.ClusterKeys.Get(under)
}

// Rewrap returns all keys of a view sealed under another cluster key. held must open them.
func Rewrap(v ledger.View, held *keys.ClusterKeys, under keys.ClusterKey, random io.Reader) ([]ledger.SealedKey, error) {
	var all []ledger.SealedKey
	for row := range v.Keys() {
		context := sealContext(row.Purpose, row.ID)
		plain, err := held.Open(context, row.Sealed)
		if err != nil {
			return nil, fmt.Errorf("open key %s: %w", row.ID, err)
		}
		sealed, err := under.Seal(random, context, plain)
		if err != nil {
			return nil, fmt.Errorf("seal key %s: %w", row.ID, err)
		}
		all = append(all, ledger.SealedKey{ID: row.ID, Sealed: sealed})
	}
	return all, nil
}

// SealedUnder reports whether a cluster key opens all keys of a view.
func SealedUnder(v ledger.View, key keys.ClusterKey) bool {
	for row := range v.Keys() {
		if _, err := key.Open(sealContext(row.Purpose, row.ID), row.Sealed); err != nil {
			return false
		}
	}
	return true
}

// CheckOpenable returns an error that names a key which none of the cluster keys opens.
func CheckOpenable(rows []*ledger.Key, held *keys.ClusterKeys) error {
	for _, row := range rows {
		if _, err := held.Open(sealContext(row.Purpose, row.ID), row.Sealed); err != nil {
			under := "an unknown cluster key"
			if row.SealedUnder != "" {
				under = "cluster key " + row.SealedUnder
			}
			return fmt.Errorf("%s key %s is sealed under %s: %w", row.Purpose, row.ID, under, err)
		}
	}
	return nil
}
