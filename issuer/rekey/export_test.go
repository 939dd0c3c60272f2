package rekey

import (
	"context"

	"github.com/mintmark-auth/mintmark/keys"
)

// RewrapSteps returns the steps of Rewrap.
func (r *Rekeyer) RewrapSteps(ctx context.Context) []func() error {
	var key keys.ClusterKey
	var voters []string
	return []func() error{
		func() (err error) { key, err = r.keyToDistribute(); return err },
		func() (err error) { key, err = r.distributeKey(ctx, false); return err },
		func() (err error) { voters, err = r.waitStored(ctx, key.ID(), false); return err },
		func() error { return r.rewrapKeyring(ctx, key, voters) },
		func() error { return r.Ledger.Node.Authorities().Rewrap(ctx, oneKey{key, r.Rand}) },
	}
}
