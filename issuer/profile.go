package issuer

import (
	"context"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// EditProfile has an edit of a profile decided, and returns the user as of the decision, or
// the refusal.
func (i *Issuer) EditProfile(ctx context.Context, c *ledger.EditProfile) (*ledger.User, *ledger.Refusal, error) {
	outcome, index, err := i.Propose(ctx, c)
	if err != nil || outcome.Refusal != nil {
		return nil, outcome.Refusal, err
	}
	v, err := i.ViewAt(ctx, index)
	if err != nil {
		return nil, nil, err
	}
	return v.User(outcome.ID), nil, nil
}
