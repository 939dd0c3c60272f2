package issuer

import (
	"context"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// SweepOnce runs the sweep of the leader's duties.
func (i *Issuer) SweepOnce(ctx context.Context) error {
	var s sweeper
	return s.run(ctx, i)
}

// SweepEvents runs the sweep of an audit trail with that limit of events.
// SweepEvents is the sweep of an audit trail that may have so many events.
func (i *Issuer) SweepEvents(ctx context.Context, most int) error {
	s := sweeper{shares: ledger.Shares{Limit: most}}
	return s.sweepEvents(ctx, i)
}
