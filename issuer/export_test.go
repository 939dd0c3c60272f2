package issuer

import (
	"context"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// Command returns the command that a request to the token endpoint becomes.
func (i *Issuer) Command(r oauth.TokenRequest) (command.Command, error) { return i.command(r) }

// SweepOnce runs the sweep of the leader's duties.
func (i *Issuer) SweepOnce(ctx context.Context) error {
	var s sweeper
	return s.run(ctx, i)
}

// SweepEvents runs the sweep of an audit trail with that limit of events.
func (i *Issuer) SweepEvents(ctx context.Context, most int) error {
	s := sweeper{shares: ledger.Shares{Limit: most}}
	return s.sweepEvents(ctx, i)
}
